"""S^T = K Q^T: four key tiles of 32, two steps of 64 dimensions each."""

from __future__ import annotations

from zyfa.codegen import lds
from zyfa.codegen.instruction import Line, mfma, op
from zyfa.codegen.machine import TILES, Machine
from zyfa.codegen.matrix import Step
from zyfa.codegen.registers import Reg

PLAIN = "v_mfma_f32_32x32x64_f8f6f4"
SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"


def reads(k: Machine, to: Reg, tile: int, step: int) -> list[Line]:
    """Two 16-byte reads: keys 32 tile + l % 32, 64 dimensions between the two lane halves."""
    mods = f"offset:{tile * 32 * lds.ROW}" if tile else ""
    return [
        op("ds_read_b128", to[4 * i : 4 * i + 4], k.k_read[2 * step + i], mods=mods)
        for i in range(2)
    ]


def product(k: Machine, tile: int, step: int, operand: Reg) -> Line:
    """Scaled only where the softmax wants S * 2^-60; a scaled one costs a vector-port tick."""
    d = k.s[tile]
    c = d if step else 0
    if k.lean_shift:
        scales, mods = (k.unit_scales, k.unit_scales), "op_sel:[0,1,0] op_sel_hi:[0,0,0]"
        return mfma(SCALED, d, operand, k.q[step], c, *scales, mods=mods)
    return mfma(PLAIN, d, operand, k.q[step], c)


def steps(k: Machine) -> list[Step]:
    return [
        Step(
            lambda to, t=tile, s=step: reads(k, to, t, s),
            lambda operand, t=tile, s=step: product(k, t, s, operand),
        )
        for tile in range(TILES)
        for step in range(2)
    ]
