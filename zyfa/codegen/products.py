"""The matrix instructions of the kernels, and which byte of which register scales them."""

from __future__ import annotations

from zyfa.codegen.instruction import Instruction, op
from zyfa.codegen.registers import Reg

PLAIN = "v_mfma_f32_32x32x64_f8f6f4"
SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"
FLAT = "v_mfma_f32_16x16x128_f8f6f4"
K_AND_UNIT = "op_sel:[0,1,0] op_sel_hi:[0,0,0]"
"""A: byte 0 of unit_scales (the scale of K); B: byte 1 (2^0)."""
UNIT_AND_P = "op_sel:[1,0,0] op_sel_hi:[0,0,0]"
"""A: byte 1 of unit_scales (2^0); B: byte 0 of the lane's scale."""


def scaled(d: Reg, a: Reg, b: Reg, c: Reg | int, scales: tuple[Reg, Reg, str]) -> Instruction:
    """32 x 32 x 64 with E8M0 scales of A and B; `scales`: their registers and the byte choice."""
    of_a, of_b, choice = scales
    return op(SCALED, d, a, b, c, of_a, of_b, mods=choice)


def plain(d: Reg, a: Reg, b: Reg, c: Reg | int) -> Instruction:
    """32 x 32 x 64."""
    return op(PLAIN, d, a, b, c)


def flat(d: Reg, a: Reg, b: Reg, c: Reg | int) -> Instruction:
    """16 x 16 x 128."""
    return op(FLAT, d, a, b, c)
