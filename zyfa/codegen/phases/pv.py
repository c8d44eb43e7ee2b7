"""O^T += V^T P^T: four dimension tiles of 32, two operands of 64 keys each.

The scale byte of each 64-key half divides its power of two out again, at no cost.
"""

from __future__ import annotations

from zyfa.codegen import lds
from zyfa.codegen.instruction import Line, mfma, op
from zyfa.codegen.machine import TILES, Machine
from zyfa.codegen.matrix import Step
from zyfa.codegen.phases.qk import SCALED
from zyfa.codegen.registers import Reg

SCALES = "op_sel:[1,0,0] op_sel_hi:[0,0,0]"
"""A: byte 1 of unit_scales (2^0); B: byte 0 of the lane's scale."""


def reads(k: Machine, to: Reg, tile: int, part: int) -> list[Line]:
    """Four transpose reads of 8 keys x 16 dimensions a lane group, in the key order of P.

    `part` 0 holds key tiles 0 and 2, part 1 tiles 1 and 3.
    """
    rows = [32 * (part + 2 * (i // 2)) + 16 * (i % 2) for i in range(4)]
    return [
        op(
            "ds_read_b64_tr_b8",
            to[2 * i : 2 * i + 2],
            k.v_read[tile],
            mods=f"offset:{row * lds.ROW}" if row else "",
        )
        for i, row in enumerate(rows)
    ]


def product(k: Machine, tile: int, part: int, operand: Reg) -> Line:
    o = k.o[tile]
    return mfma(SCALED, o, operand, k.p[part], o, k.unit_scales, k.scale, mods=SCALES)


def steps(k: Machine) -> list[Step]:
    return [
        Step(
            lambda to, t=tile, p=part: reads(k, to, t, p),
            lambda operand, t=tile, p=part: product(k, t, p, operand),
        )
        for part in range(2)
        for tile in range(TILES)
    ]
