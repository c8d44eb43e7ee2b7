"""Data movement between lanes: readlane, writelane, permlane swaps."""

from __future__ import annotations

import numpy as np

from zyfa.sim.isa.access import scalar_getter, scalar_putter
from zyfa.sim.isa.builders import Builder, handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave


@handles("v_readfirstlane_b32")
def _readfirstlane(inst: Instruction) -> Execute:
    put, item = scalar_putter(inst.operands[0]), inst.operands[1]
    if not item.vector:
        get = scalar_getter(item)
        return lambda w: put(w, get(w))
    base = item.base

    def run(w: Wave) -> None:
        lane = (w.exec & -w.exec).bit_length() - 1 if w.exec else 0
        put(w, int(w.u[base][lane]))

    return run


@handles("v_readlane_b32")
def _readlane(inst: Instruction) -> Execute:
    put, base = scalar_putter(inst.operands[0]), inst.operands[1].base
    lane = scalar_getter(inst.operands[2])
    return lambda w: put(w, int(w.u[base][lane(w) & 63]))


@handles("v_writelane_b32")
def _writelane(inst: Instruction) -> Execute:
    base = inst.operands[0].base
    value, lane = scalar_getter(inst.operands[1]), scalar_getter(inst.operands[2])

    def run(w: Wave) -> None:
        w.u[base][lane(w) & 63] = value(w)

    return run


def _swap(width: int) -> Builder:
    """Odd groups of `width` lanes of the first register trade with even groups of the second."""
    even = np.concatenate([np.arange(n, n + width) for n in range(0, 64, 2 * width)])
    odd = even + width

    def build(inst: Instruction) -> Execute:
        a, b = (item.base for item in inst.operands[:2])

        def run(w: Wave) -> None:
            first, second = w.u[a], w.u[b]
            if w.mask is None:
                moved = first[odd]
                first[odd] = second[even]
                second[even] = moved
                return
            active = w.lanes[odd] & w.lanes[even]
            moved = first[odd]
            first[odd] = np.where(active, second[even], moved)
            second[even] = np.where(active, moved, second[even])

        return run

    return build


handles("v_permlane32_swap_b32")(_swap(32))
handles("v_permlane16_swap_b32")(_swap(16))
