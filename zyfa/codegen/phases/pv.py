"""O^T += V^T P^T: dimension tiles of 32, operands of 64 keys each.

The scale byte of each 64-key half divides its power of two out again, at no cost.
"""

from __future__ import annotations

from functools import partial

from zyfa.codegen import lds
from zyfa.codegen.instruction import Line, op
from zyfa.codegen.machine import Machine
from zyfa.codegen.products import UNIT_AND_P, scaled
from zyfa.codegen.registers import Reg
from zyfa.codegen.steps import Step
from zyfa.shape import SIDE


def reads(k: Machine, tile: int, part: int, to: Reg) -> list[Line]:
    """Four transpose reads of 8 keys x 16 dimensions a lane group, in the key order of P.

    `part` 0 holds key tiles 0 and 2, part 1 tiles 1 and 3.
    """
    plane, inside = divmod(tile, lds.TILES)
    base = k.layout.v[plane].base - k.layout.v[0].base
    rows = [SIDE * (part + 2 * (i // 2)) + 16 * (i % 2) for i in range(4)]
    offsets = [base + row * lds.ROW for row in rows]
    return [
        op(
            "ds_read_b64_tr_b8",
            to[2 * i : 2 * i + 2],
            k.v_read[inside],
            mods=f"offset:{offset}" if offset else "",
        )
        for i, offset in enumerate(offsets)
    ]


def product(k: Machine, tile: int, part: int, operand: Reg) -> Line:
    o = k.o[tile]
    return scaled(o, operand, k.p[part], o, (k.unit_scales, k.scale, UNIT_AND_P))


def steps(k: Machine) -> list[Step]:
    return [
        Step(partial(reads, k, tile, part), partial(product, k, tile, part))
        for part in range(k.shape.pv_steps)
        for tile in range(k.shape.value_tiles)
    ]
