"""S^T = K Q^T: key tiles of 32, steps of 64 dimensions each."""

from __future__ import annotations

from functools import partial

from zyfa.codegen import lds
from zyfa.codegen.instruction import Line, op
from zyfa.codegen.machine import Machine
from zyfa.codegen.products import K_AND_UNIT, plain, scaled
from zyfa.codegen.registers import Reg
from zyfa.codegen.steps import Step
from zyfa.shape import SIDE


def reads(k: Machine, tile: int, step: int, to: Reg) -> list[Line]:
    """Two 16-byte reads: keys 32 tile + l % 32, 64 dimensions between the two lane halves."""
    plane, inside = divmod(step, lds.STEPS)
    offset = k.layout.k[plane].base - k.layout.k[0].base + tile * SIDE * lds.ROW
    mods = f"offset:{offset}" if offset else ""
    return [
        op("ds_read_b128", to[4 * i : 4 * i + 4], k.k_read[2 * inside + i], mods=mods)
        for i in range(2)
    ]


def product(k: Machine, tile: int, step: int, operand: Reg) -> Line:
    """Scaled only where the softmax wants its scores so; a scaled one costs a vector-port tick."""
    d = k.s[tile]
    c = d if step else 0
    if k.softmax.qk_exponent:
        return scaled(d, operand, k.q[step], c, (k.unit_scales, k.unit_scales, K_AND_UNIT))
    return plain(d, operand, k.q[step], c)


def steps(k: Machine) -> list[Step]:
    return [
        Step(partial(reads, k, tile, step), partial(product, k, tile, step))
        for tile in range(k.shape.key_tiles)
        for step in range(k.shape.qk_steps)
    ]
