"""What an instruction leaves behind for the hazard check, and what it must wait for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tracekit.isa.pipes import cost
from zyfa.sim.isa.syntax import Operand, Syntax, parse
from zyfa.sim.rules.usage import registers, usage
from zyfa.sim.rules.waitstates import Kind, Role
from zyfa.sim.state.registers import EXEC, HWREG, M0, SGPR, VCC

TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_")
LANE_SELECT = re.compile(r"v_(readlane|writelane)")
READ_LANE = re.compile(r"v_read(first)?lane")
SWAP = re.compile(r"v_permlane\d+_swap")
DOT = re.compile(r"v_dot\d")
FMA64 = re.compile(r"v_fmac?_f64")
MATRIX = re.compile(r"v_(s?mfma|mfma_scale|smfmac)_")
MEMORY = re.compile(r"(ds|global|flat|scratch|buffer|tbuffer)_")
STORE = re.compile(r"(global|flat|scratch|buffer|tbuffer)_(store|atomic)")
BYTE_SELECT = re.compile(r"v_cvt_(scalef32_)?(sr_)?(pk_)?(fp8|bf8|fp4)_")
"""Conversions whose op_sel[2:3] select the byte that they write."""
ALWAYS_PACKED = re.compile(r"v_cvt_scalef32_sr_pk_fp4_")
NEEDS_M0 = re.compile(
    r"s_(sendmsg|sendmsghalt|ttracedata|movrel)|ds_(read|write)_addtid_b32|ds_gws"
)

HWREGS = (
    "HW_REG_MODE", "HW_REG_STATUS", "HW_REG_TRAPSTS", "HW_REG_HW_ID", "HW_REG_GPR_ALLOC",
    "HW_REG_LDS_ALLOC", "HW_REG_IB_STS", "HW_REG_SH_MEM_BASES", "HW_REG_XCC_ID", "another HW_REG",
)  # fmt: skip
"""The hardware registers that s_getreg and s_setreg of gfx9 name; any other is the last."""
UNIT = HWREG + len(HWREGS)
"""The f64 matrix unit, which v_fma_f64 waits for whatever the registers."""


@dataclass(frozen=True)
class Effects:
    """Kinds by register file, and the registers where they are not simply what is written.

    `held`: kind of `held_registers`, which are read and may not be overwritten at once.
    `accumulator`: SrcC of an MFMA, in order.
    """

    vector: Kind = Kind.SAFE
    scalar: Kind = Kind.SAFE
    scalar_writes: tuple[int, ...] = ()
    held: Kind = Kind.SAFE
    held_registers: tuple[int, ...] = ()
    accumulator: tuple[int, ...] = ()


def passes(text: str, arch: str = "gfx950") -> int:
    """Passes (4 cycles each) of an MFMA or SMFMAC; 0 for another instruction or an unknown one."""
    if not MATRIX.match(text):
        return 0
    return (cost(arch, text).cycles or 0) // 4


def matrix_kind(text: str, arch: str) -> Kind:
    """Kind of the result of an MFMA or SMFMAC; the longest when its passes are not known."""
    stem = parse(text).stem
    if stem.endswith("f64"):
        return Kind.DGEMM_16X16 if "_16x16x4" in stem else Kind.DGEMM_4X4
    family = "SGEMM" if arch != "gfx90a" and _is_sgemm(stem) else "XDL"
    return Kind[f"{family}{passes(text, arch) or 16}"]


def _is_sgemm(stem: str) -> bool:
    return stem.startswith("v_mfma_f32_") and stem.endswith("f32") and not stem.endswith("xf32")


def opcode(text: str, arch: str) -> str:
    """What two MFMAs must share to forward an accumulator; f8f6f4 formats change the passes."""
    stem = parse(text).stem
    return f"{stem}/{passes(text, arch)}" if MATRIX.match(stem) else stem


def effects(text: str, arch: str) -> Effects:
    """What the instruction `text` leaves behind."""
    syntax, use = parse(text), usage(text)
    stem = syntax.stem
    if MATRIX.match(stem):
        kind = matrix_kind(text, arch)
        accumulator = tuple(registers(_accumulator(syntax)))
        apart = kind.name.startswith("XDL") and accumulator != use.writes
        held = Kind[f"{kind.name}_SRC_C"] if apart else Kind.SAFE
        return Effects(kind, held=held, held_registers=accumulator, accumulator=accumulator)
    # EXEC has one cell: v_readfirstlane may write the high half alone.
    scalar = tuple(dict.fromkeys(EXEC if r == EXEC + 1 else r for r in use.writes if r >= SGPR))
    if stem.startswith("v_"):
        return Effects(_vector_kind(syntax), Kind.VALU_SCALAR, scalar)
    if stem.startswith("s_setreg"):
        return Effects(scalar=Kind.SETREG, scalar_writes=(_hwreg(syntax.operands[0]),))
    if stem.startswith("s_"):
        return Effects(scalar=Kind.SALU_M0, scalar_writes=(M0,) if M0 in scalar else ())
    if MEMORY.match(stem):
        data = _store_data(syntax)
        return Effects(Kind.LOAD, held=Kind.STORE_DATA if data else Kind.SAFE, held_registers=data)
    return Effects()


def _accumulator(syntax: Syntax) -> Operand:
    return syntax.operands[0 if syntax.stem.startswith("v_smfmac") else 3]


def _vector_kind(syntax: Syntax) -> Kind:
    stem = syntax.stem
    if DOT.match(stem):
        return Kind.DOT
    if _moves_within_register(syntax):
        return Kind.HALF
    return Kind.TRANS if TRANSCENDENTAL.match(stem) else Kind.VALU


def _moves_within_register(syntax: Syntax) -> bool:
    stem = syntax.stem
    if syntax.modifiers.get("dst_sel", "DWORD") != "DWORD" or ALWAYS_PACKED.match(stem):
        return True
    picks = syntax.modifiers.get("op_sel")
    if not isinstance(picks, list):
        return False
    sources = len(syntax.operands) - 1
    first = min(2, sources) if BYTE_SELECT.match(stem) else sources
    return any(picks[first:])


def _store_data(syntax: Syntax) -> tuple[int, ...]:
    """Registers of more than 64 bits of store data that the VALU may overwrite too early.

    A buffer store with a register as soffset reads its data in time (GCNHazardRecognizer,
    createsVALUHazard).
    """
    if not STORE.match(syntax.stem) or "lds" in syntax.modifiers:
        return ()
    buffer = "buffer_" in syntax.stem
    if buffer and len(syntax.operands) > 3 and syntax.operands[3].base >= SGPR:
        return ()
    vectors = [item for item in syntax.operands if item.vector]
    if "atomic" in syntax.stem and "sc0" in syntax.modifiers and not buffer:
        vectors = vectors[1:]  # the returned value
    elif not buffer and len(vectors) > 1:
        vectors = vectors[1:]  # the address
    data = vectors[0] if buffer and vectors else vectors[-1] if vectors else None
    return tuple(registers(data)) if data is not None and data.count > 2 else ()


def _hwreg(item: Operand) -> int:
    name = item.text[item.text.find("(") + 1 :].split(",")[0].rstrip(")").strip()
    return HWREG + HWREGS.index(name if name in HWREGS else HWREGS[-1])


def checks(text: str, arch: str) -> list[tuple[int, Role]]:
    """(register, Role) pairs to test before the instruction may issue."""
    syntax, use = parse(text), usage(text)
    stem = syntax.stem
    if MATRIX.match(stem):
        return _matrix_checks(text, arch)
    memory = bool(MEMORY.match(stem))
    base = _read_role(syntax, memory)
    out = [*_source_checks(syntax, base, memory), *_unnamed_checks(syntax, memory)]
    out += _exec_checks(syntax, memory)
    write = Role.VALU_WRITE if stem.startswith("v_") else Role.MEMORY_WRITE
    out += [(r, write if r < SGPR else Role.OTHER) for r in use.writes]
    if base == Role.DPP:  # lanes that are off keep the old value: the destination is read
        out += [(r, Role.DPP) for r in use.writes if r < SGPR]
    return out


def _source_checks(syntax: Syntax, base: Role, memory: bool) -> Iterator[tuple[int, Role]]:
    """The sources by operand; M0 of a scalar or memory instruction is in `_unnamed_checks`."""
    stem, sources = syntax.stem, usage(syntax.text).sources
    vector = stem.startswith("v_")
    scalar = Role.SCALAR_MEMORY if memory else Role.SCALAR_VALU if vector else Role.OTHER
    for number, item in enumerate(sources):
        last = DOT.match(stem) and number == len(sources) - 1
        select = LANE_SELECT.match(stem) and number == 1
        for r in registers(item):
            if r < SGPR:
                yield r, Role.DOT_C if last else base
            elif r != M0 or vector:
                yield r, Role.LANE_SELECT if select else scalar


def _unnamed_checks(syntax: Syntax, memory: bool) -> list[tuple[int, Role]]:
    """VCC, M0, hardware registers and the f64 unit, which the opcode uses beside its sources."""
    stem, reads = syntax.stem, usage(syntax.text).reads
    out: list[tuple[int, Role]] = []
    if stem.startswith(("v_div_fmas", "s_cbranch_vcc")):
        role = Role.DIV_FMAS if stem.startswith("v_") else Role.OTHER
        out += [(VCC, role), (VCC + 1, role)]
    if NEEDS_M0.match(stem) or "gds" in syntax.modifiers or (memory and M0 in reads):
        out.append((M0, Role.M0))
    elif M0 in reads:
        out.append((M0, Role.OTHER))
    if stem.startswith(("s_getreg", "s_setreg")):
        place = 1 if stem.startswith("s_getreg") else 0
        out.append((_hwreg(syntax.operands[place]), Role.SETREG))
    if stem.startswith("s_rfe"):
        out.append((HWREG + HWREGS.index("HW_REG_TRAPSTS"), Role.RFE))
    if FMA64.match(stem):
        out.append((UNIT, Role.FMA64))
    return out


def _matrix_checks(text: str, arch: str) -> list[tuple[int, Role]]:
    syntax, use = parse(text), usage(text)
    family = matrix_kind(text, arch).name
    accumulator = Role[f"{'DGEMM' if family.startswith('D') else family.rstrip('0123456789')}_C"]
    third = _accumulator(syntax)
    out: list[tuple[int, Role]] = []
    for item in use.sources:
        role = accumulator if item is third else Role.MATRIX_AB
        out += [(r, role) for r in registers(item)]
    out.append((EXEC, Role.EXEC_MATRIX))
    return out + [(r, Role.MATRIX_WRITE) for r in use.writes]


def _read_role(syntax: Syntax, memory: bool) -> Role:
    stem = syntax.stem
    if "_dpp" in syntax.mnemonic:
        return Role.DPP
    if SWAP.match(stem):
        return Role.SWAP
    if READ_LANE.match(stem):
        return Role.READ_LANE
    if TRANSCENDENTAL.match(stem):
        return Role.TRANS
    return Role.MEMORY if memory else Role.VALU


def _exec_checks(syntax: Syntax, memory: bool) -> list[tuple[int, Role]]:
    """EXEC as the lane mask, where a VALU instruction may just have written it."""
    stem = syntax.stem
    out = [(EXEC, Role.EXEC_DPP)] if "_dpp" in syntax.mnemonic else []
    if SWAP.match(stem):
        out.append((EXEC, Role.EXEC_SWAP))
    if READ_LANE.match(stem) or LANE_SELECT.match(stem):
        out.append((EXEC, Role.EXEC_LANE))
    if memory and not stem.startswith("ds_"):
        out.append((EXEC, Role.EXEC_MEMORY))
    return out
