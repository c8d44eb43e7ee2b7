"""DPP and SDWA: lane permutations and sub-dword selection around an ordinary operand.

Patterns: AMD "CDNA3 ISA", sections on DPP and SDWA.
"""

from __future__ import annotations

import numpy as np

from zyfa.sim.errors import UnknownInstruction
from zyfa.sim.isa.access import DTYPES, Getter, Putter, modified, source_getter
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.syntax import Operand
from zyfa.sim.state.wave import Wave, lane_mask, mask_bits

LANE = np.arange(64)
SELECT = {
    "BYTE_0": (0, 0xFF), "BYTE_1": (8, 0xFF), "BYTE_2": (16, 0xFF), "BYTE_3": (24, 0xFF),
    "WORD_0": (0, 0xFFFF), "WORD_1": (16, 0xFFFF), "DWORD": (0, 0xFFFFFFFF),
}  # fmt: skip


def dpp_pattern(  # noqa: C901 - a branch a control
    inst: Instruction,
) -> tuple[np.ndarray, np.ndarray]:
    """Source lane of each lane and whether it exists: (int[64], bool[64])."""
    modifiers = inst.syntax.modifiers
    row, column = LANE & ~15, LANE & 15
    every = np.ones(64, bool)
    if "quad_perm" in modifiers:
        return (LANE & ~3) + np.array(modifiers["quad_perm"])[LANE & 3], every
    if "row_shl" in modifiers:
        moved = column + modifiers["row_shl"]
        return row + (moved & 15), moved < 16
    if "row_shr" in modifiers:
        moved = column - modifiers["row_shr"]
        return row + (moved & 15), moved >= 0
    if "row_ror" in modifiers:
        return row + (column - modifiers["row_ror"] & 15), every
    if "row_newbcast" in modifiers:
        return row + modifiers["row_newbcast"], every
    if "row_bcast" in modifiers:
        width = modifiers["row_bcast"] + 1
        return np.maximum(LANE // width * width - 1, 0), width <= LANE
    if "row_mirror" in modifiers:
        return row + 15 - column, every
    if "row_half_mirror" in modifiers:
        return (LANE & ~7) + 7 - (LANE & 7), every
    for name, step in (("wave_shl", 1), ("wave_shr", -1)):
        if name in modifiers:
            moved = LANE + step
            return moved & 63, (moved >= 0) & (moved < 64)
    for name, step in (("wave_rol", 1), ("wave_ror", -1)):
        if name in modifiers:
            return (LANE + step) & 63, every
    raise UnknownInstruction(f"DPP control not simulated: {inst.where}")


def dpp_source(inst: Instruction, item: Operand, kind: str) -> Getter:
    """src0 of a DPP instruction; lanes without a source read 0 (bound_ctrl)."""
    lanes, exists = dpp_pattern(inst)
    plain = source_getter(Operand(item.text, item.base, item.count), kind)
    zero = np.zeros((), DTYPES[kind])

    def get(w: Wave) -> np.ndarray:
        valid = exists if w.dpp_exec is None else exists & w.dpp_exec[lanes]
        return np.where(valid, plain(w)[lanes], zero)

    return modified(get, item.neg, item.absolute)


def dpp_writes(inst: Instruction, execute: Execute) -> Execute:
    """Restrict the written lanes by row_mask, bank_mask and, without bound_ctrl, the source."""
    lanes, exists = dpp_pattern(inst)
    rows, banks = inst.modifier("row_mask", 15), inst.modifier("bank_mask", 15)
    enabled = ((rows >> (LANE // 16)) & 1 & (banks >> (LANE // 4 % 4))).astype(bool)
    bound = bool(inst.modifier("bound_ctrl", 0))

    def run(w: Wave) -> None:
        kept = w.exec
        active = lane_mask(kept)
        w.dpp_exec = None if w.mask is None else active
        written = enabled & active
        if not bound:
            written = written & exists & active[lanes]
        w.set_exec(mask_bits(written))
        execute(w)
        w.set_exec(kept)

    return run


def sdwa_source(inst: Instruction, item: Operand, kind: str, number: int) -> Getter:
    """A source with src0_sel or src1_sel and sext applied."""
    select = inst.modifier(f"src{number}_sel", "DWORD")
    shift, mask = SELECT[select]
    base, sext = item.base, item.sext
    shift_by, keep = np.array(shift, np.uint32), np.array(mask, np.uint32)
    dtype = DTYPES[kind]
    narrow = np.uint16 if kind in "hHS" else np.uint32
    sign = np.array((mask + 1) >> 1, np.int64)

    def get(w: Wave) -> np.ndarray:
        bits = (w.u[base] >> shift_by) & keep
        if sext:
            bits = ((bits.astype(np.int64) ^ sign) - sign).astype(np.uint32)
        return bits.astype(narrow).view(dtype)

    return modified(get, item.neg, item.absolute)


def sdwa_putter(inst: Instruction, item: Operand, kind: str) -> Putter:
    """The destination with dst_sel and dst_unused."""
    shift, mask = SELECT[inst.modifier("dst_sel", "DWORD")]
    unused = inst.modifier("dst_unused", "UNUSED_PAD")
    base, dtype = item.base, DTYPES[kind]
    narrow = np.uint16 if kind in "hHS" else np.uint32
    keep = np.array(~(mask << shift) & 0xFFFFFFFF, np.uint32)
    sign = np.array((mask + 1) >> 1, np.int64)

    def put(w: Wave, value: np.ndarray) -> None:
        bits = np.asarray(value).astype(dtype).view(narrow).astype(np.uint32) & np.uint32(mask)
        if unused == "UNUSED_SEXT":
            bits = ((bits.astype(np.int64) ^ sign) - sign).astype(np.uint32)
        bits = bits << np.uint32(shift)
        if unused == "UNUSED_PRESERVE":
            bits = bits | (w.u[base] & keep)
        np.copyto(w.u[base], bits, where=w.lanes)

    return put
