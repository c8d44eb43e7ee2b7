"""A static instruction: decoded once, executed many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zyfa.sim.errors import UnknownInstruction
from zyfa.sim.isa.access import Getter, Putter, source_getter, vector_putter
from zyfa.sim.isa.lanes import dpp_source, dpp_writes, sdwa_putter, sdwa_source
from zyfa.sim.isa.syntax import Operand, Syntax, parse
from zyfa.sim.state.wave import Wave

if TYPE_CHECKING:
    from zyfa.sim.state.loader import Kernel

Execute = Callable[[Wave], None]
Builder = Callable[["Instruction"], Execute]

HANDLERS: dict[str, Builder] = {}
"""Mnemonic stem -> function that builds the execute closure."""


def handles(*names: str) -> Callable[[Builder], Builder]:
    """Register a builder for these mnemonic stems."""

    def register(builder: Builder) -> Builder:
        for name in names:
            if name in HANDLERS:
                raise AssertionError(f"{name} has two builders")
            HANDLERS[name] = builder
        return builder

    return register


@dataclass
class Instruction:
    """One instruction of a program.

    `index`: row in the program; `execute` changes the wave and, for branches, `wave.next`.
    `indexed`: the M0-relative operand, such as " gpr_idx(SRC0)", inside s_set_gpr_idx_on ... off.
    """

    index: int
    address: int
    size: int
    text: str
    kernel: Kernel | None = None
    program: object = None
    indexed: str = ""
    syntax: Syntax = field(init=False)
    execute: Execute | None = field(default=None, init=False)
    board: object = field(default=None, init=False)
    cost: object = field(default=None, init=False)
    cost_parameters: object = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.syntax = parse(self.text)

    @property
    def where(self) -> str:
        """Text, PC and source line, for messages."""
        source = self.program.source_of(self.address) if self.program is not None else ""
        line = f" ({source})" if source else ""
        return f"{self.text} at PC 0x{self.address:x}{line}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.syntax.operands

    def modifier(self, name: str, default: object = 0) -> object:
        return self.syntax.modifiers.get(name, default)

    def bits(self, name: str, count: int, default: int = 0) -> list[int]:
        """A list modifier such as op_sel, padded to `count`."""
        found = list(self.syntax.modifiers.get(name, [default] * count))
        return found + [default] * (count - len(found))

    @property
    def flush(self) -> bool:
        """Whether f32 denormals are flushed (FP_DENORM of the kernel descriptor)."""
        return self.kernel is not None and self.kernel.denorm_f32 != 3

    def build(self) -> None:
        """Make `execute`. Raises UnknownInstruction."""
        builder = HANDLERS.get(self.syntax.stem + self.indexed)
        if builder is None:
            raise UnknownInstruction(f"not simulated: {self.where}")
        try:
            execute = builder(self)
            self.execute = dpp_writes(self, execute) if "_dpp" in self.syntax.mnemonic else execute
        except (IndexError, KeyError, TypeError, AttributeError) as error:
            raise UnknownInstruction(f"not simulated: {self.where}: {error!r}") from error


def source(inst: Instruction, position: int, kind: str, half: int = 0) -> Getter:
    """Reader of source operand `position` (0 = first operand of the text), DPP/SDWA applied."""
    item = inst.operands[position]
    mnemonic = inst.syntax.mnemonic
    number = position - inst_first_source(inst)
    if mnemonic.endswith("_sdwa") and item.vector:
        return sdwa_source(inst, item, kind, number)
    get = source_getter(item, kind, half)
    if mnemonic.endswith("_dpp") and number == 0:
        return dpp_source(inst, item, kind)
    return get


def inst_first_source(inst: Instruction) -> int:
    """Position of src0 in the operand list: after one destination, or two for carries."""
    stem = inst.syntax.stem
    return 2 if stem.startswith(("v_add_co", "v_sub_co", "v_subrev_co", "v_addc", "v_subb")) else 1


def destination(inst: Instruction, kind: str, position: int = 0) -> Putter:
    """Writer of the vector destination, with omod, clamp, SDWA and op_sel applied."""
    item = inst.operands[position]
    if inst.syntax.mnemonic.endswith("_sdwa") and "dst_sel" in inst.syntax.modifiers:
        return sdwa_putter(inst, item, kind)
    put = vector_putter(item.base, kind)
    return adjusted(inst, kind, put)


def adjusted(inst: Instruction, kind: str, put: Putter) -> Putter:
    """Apply omod, then clamp, then the denormal mode, to float results."""
    modifiers = inst.syntax.modifiers
    factor = {2: 2.0, 4: 4.0}.get(modifiers.get("mul", 0), 1.0)
    if modifiers.get("div") == 2:
        factor = 0.5
    clamp = "clamp" in modifiers
    if kind not in "fdh" or (factor == 1.0 and not clamp):
        return put
    zero, one = (np.array(x, np.float32) for x in (0, 1))
    nan_to_zero = inst.kernel is None or inst.kernel.dx10_clamp

    def put_adjusted(w: Wave, value: np.ndarray) -> None:
        if factor != 1.0:
            value = value * value.dtype.type(factor)
        if clamp:
            if nan_to_zero:
                value = np.where(np.isnan(value), value.dtype.type(0), value)
            value = np.clip(value, zero.astype(value.dtype), one.astype(value.dtype))
        put(w, value)

    return put_adjusted
