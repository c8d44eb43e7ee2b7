"""Instructions, labels and comments as objects; text only at the end.

An instruction knows which registers it reads and writes, so the hazard pass and the tests need no
parser. Builders below cover the few irregular shapes; everything else is `op`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from zyfa.codegen.registers import EXEC, M0, VCC, Reg

Operand = Reg | int | float | str
SPECIAL = {VCC, M0, EXEC, "scc"}


def units(operands: Iterable[Operand]) -> Iterator[str]:
    """Register units named by operands; numbers and modifiers name none."""
    for operand in operands:
        if isinstance(operand, Reg):
            yield from operand.units()
        elif operand in SPECIAL:
            yield str(operand)


@dataclass(frozen=True, slots=True)
class Instruction:
    mnemonic: str
    operands: tuple[Operand, ...] = ()
    modifiers: str = ""
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    note: str = ""

    def __str__(self) -> str:
        operands = ", ".join(_literal(x) for x in self.operands)
        text = " ".join(part for part in (self.mnemonic, operands, self.modifiers) if part)
        return f"  {text:<70} ; {self.note}" if self.note else f"  {text}"

    def noted(self, note: str) -> Instruction:
        return replace(self, note=note)

    @property
    def is_mfma(self) -> bool:
        return self.mnemonic.startswith("v_mfma")

    @property
    def is_vector(self) -> bool:
        """Takes the vector port without being a matrix instruction."""
        return self.mnemonic.startswith("v_") and not self.is_mfma

    @property
    def is_branch(self) -> bool:
        return self.mnemonic.startswith(("s_branch", "s_cbranch"))

    @property
    def slots(self) -> int:
        """Wait states by LLVM's counting: 1, or N + 1 for s_nop N."""
        if self.mnemonic != "s_nop":
            return 1
        count = self.operands[0]
        assert isinstance(count, int)
        return count + 1


@dataclass(frozen=True, slots=True)
class Label:
    name: str

    def __str__(self) -> str:
        return f"{self.name}:"


@dataclass(frozen=True, slots=True)
class Comment:
    text: str

    def __str__(self) -> str:
        return f"  ; {self.text}"


@dataclass(frozen=True, slots=True)
class Align:
    """Start the next instruction on a multiple of `size` bytes (the assembler pads with s_nop)."""

    size: int = 32

    def __str__(self) -> str:
        return f"  .p2align {self.size.bit_length() - 1}"


Line = Instruction | Label | Comment | Align


def _literal(operand: Operand) -> str:
    if isinstance(operand, float):
        return repr(operand)
    if isinstance(operand, int) and not -16 <= operand <= 64:
        return hex(operand & 0xFFFFFFFF)
    return str(operand)


def op(mnemonic: str, *operands: Operand, mods: str = "", writes: int = 1) -> Instruction:
    """The regular shape: the first `writes` operands are written, the others read."""
    return Instruction(
        mnemonic,
        operands,
        mods,
        frozenset(units(operands[:writes])),
        frozenset(units(operands[writes:])),
    )


def merge(mnemonic: str, *operands: Operand, mods: str = "") -> Instruction:
    """As `op`, but the destination keeps the bytes that the instruction does not write."""
    base = op(mnemonic, *operands, mods=mods)
    return replace(base, reads=base.reads | base.writes)


def swap(first: Reg, second: Reg) -> Instruction:
    """Exchange lanes 32..63 of `first` with lanes 0..31 of `second`."""
    both = frozenset(units((first, second)))
    return Instruction("v_permlane32_swap_b32", (first, second), "", both, both)


def store(mnemonic: str, *operands: Operand, mods: str = "") -> Instruction:
    return Instruction(mnemonic, operands, mods, frozenset(), frozenset(units(operands)))


def lds_load(offset: Reg, descriptor: Reg, soffset: Reg) -> Instruction:
    """16 bytes a lane from global memory straight to LDS[M0 + 16 * lane]."""
    operands = (offset, descriptor, soffset)
    reads = frozenset(units(operands)) | {M0}
    return Instruction("buffer_load_dwordx4", operands, "offen lds", frozenset(), reads)


def control(mnemonic: str, *operands: Operand, reads: tuple[str, ...] = ()) -> Instruction:
    """Branches, waits, barriers: nothing is written."""
    return Instruction(mnemonic, operands, "", frozenset(), frozenset(reads))


def nop(count: int) -> list[Instruction]:
    """s_nop instructions for `count` wait states (at most 16 each)."""
    out = []
    while count > 0:
        step = min(count, 16)
        out.append(control("s_nop", step - 1))
        count -= step
    return out


def wait(vmcnt: int | None = None, lgkmcnt: int | None = None) -> Instruction:
    parts = [f"{k}({v})" for k, v in (("vmcnt", vmcnt), ("lgkmcnt", lgkmcnt)) if v is not None]
    return control("s_waitcnt", " ".join(parts))


def compare(mnemonic: str, mask: Reg | str, a: Operand, b: Operand) -> Instruction:
    """v_cmp: `mask` is VCC or a pair of scalar registers."""
    return op(mnemonic, mask, a, b)


def compare_magnitude(mnemonic: str, mask: Reg | str, a: Operand, b: Reg) -> Instruction:
    """v_cmp of `a` with |b|, in the long form that has the modifier."""
    base = op(f"{mnemonic}_e64", mask, a, b)
    return replace(base, operands=(mask, a, f"|{b}|"))


def scalar(mnemonic: str, *operands: Operand) -> Instruction:
    """SALU operation that also writes SCC when its kind does."""
    base = op(mnemonic, *operands)
    if mnemonic.startswith("s_cmp"):
        return replace(base, writes=frozenset({"scc"}), reads=frozenset(units(operands)))
    if mnemonic.startswith(("s_cselect", "s_addc", "s_subb")):
        return replace(base, reads=base.reads | {"scc"})
    return base
