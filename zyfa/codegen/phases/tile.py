"""One query tile: prologue, the block loop, the two diagonal blocks, epilogue.

Block i of a wave is a softmax phase X(i) and a matrix phase M(i) = PV(i) with QK(i + 1). Under
ping-pong the two waves of a SIMD are half a block apart: the upper four waves of the workgroup pass
extra barriers first, the lower four pass them last, so every barrier joins one wave's X with the
other's M.
"""

from __future__ import annotations

from itertools import islice

from zyfa.codegen import lds, markers
from zyfa.codegen.instruction import Align, Comment, Label, Line, control, op, scalar, wait
from zyfa.codegen.machine import Machine
from zyfa.codegen.matrix import interleave, prefetch, stream
from zyfa.codegen.phases import epilogue, load, pv, qk, rescale, rowsum, softmax
from zyfa.codegen.phases.setup import LOWEST
from zyfa.codegen.registers import Reg

READ_PLACES = {
    "pingpong": (10, 13),
    "gap": (0, 4, 8, 12),
    "early_gap": (13,),
    "serial": (10, 13),
}
"""Before which group of four elements each of the first operands of M is read.

A read among conversions costs the softmax about 11 vector ticks, so a phase that the vector port
bounds reads few; M catches up. With fewer than two M itself waits (simulated, lean_ashr: 97.8 %).
"""
STAGGER = {"pingpong": 1, "gap": 3, "early_gap": 3, "serial": 0}
"""Barriers between the two wave groups: half of those in a block."""
GAP_AFTER = {"gap": 10, "early_gap": 2}
"""Matrix instructions of M before the gap: PV with its row sums, or few, so that most of the other
wave's conversions come beside the rest (simulated, exact: 75, 76, 76, 74 % after 1 to 4)."""


def barrier() -> Line:
    return control("s_barrier")


def clear(registers: list[Reg]) -> list[Line]:
    return [op("v_mov_b32", r[i], 0) for r in registers for i in range(len(r))]


def matrix_steps(k: Machine, with_qk: bool):
    """Order of the matrix phase: PV and QK alternate to spread the LDS reads, except where the gap
    lies between them."""
    sums, values = rowsum.steps(k), pv.steps(k)
    if not with_qk:
        return [*values, *sums]
    if k.options.schedule == "gap":
        return [*values, *sums, *qk.steps(k)]
    mixed = interleave(values, qk.steps(k))
    return [*mixed[:6], sums[0], *mixed[6:10], sums[1], *mixed[10:]]


def matrix_phase(k: Machine, with_qk: bool, count: bool = False) -> list[Line]:
    """M(i): up to the barrier (with a gap: two barriers on the way).

    `count`: leave in SCC whether the block loop goes on, and the barrier to where it goes, so that
    the branch is not between the barrier and the next softmax phase.
    """
    steps = matrix_steps(k, with_qk)
    riders: list[list[Line]] = [[] for _ in steps]
    if with_qk:
        loads = load.load_block(k, "v", k.lds[2]) + load.load_block(k, "k", k.lds[0])
        for i, rider in enumerate(loads):
            riders[2 * i + 1] = rider
        riders[-3] = load.rotate(k)
    if count:
        riders[-2] = [
            scalar("s_sub_u32", k.steps, k.steps, 1),
            scalar("s_cmp_lg_u32", k.steps, 0),
        ]
    if k.options.schedule in GAP_AFTER:
        at = GAP_AFTER[k.options.schedule] - 1
        riders[at] = [*riders[at], barrier(), barrier()]
    priority = k.options.setprio == "on"
    return [
        *markers.enter("matrix", k.options.markers == "on"),
        *([control("s_setprio", 1)] if priority else []),
        *stream(k, steps, riders, len(READ_PLACES[k.options.schedule])),
        *([control("s_setprio", 0)] if priority else []),
        *markers.leave(k.options.markers == "on"),
        *([] if count else [barrier()]),
    ]


def softmax_phase(k: Machine, rare: list[Line], mask: str = "", with_qk: bool = True) -> list[Line]:
    """X(i): scores to P, the next operands on their way, then the barrier.

    `rare` collects the out-of-line path with a rescale, which has elements of its own.
    `mask`: "", "first" or "last" diagonal block.
    """
    marked = k.options.markers == "on"
    enter, back = k.label("rescale"), k.label("scaled")
    moves = iter(load.move_reads(k))
    late = list(islice(moves, int(k.options.schedule in GAP_AFTER)))
    lines: list[Line] = [
        *markers.enter("softmax", marked),
        *(softmax.mask_diagonal(k, mask == "last") if mask else []),
        *islice(moves, 1),
        *softmax.maxima(k),
        *(rowsum.collect(k) or islice(moves, 2)),
        *softmax.peaks(k, list(islice(moves, 1))),
        *softmax.exponents(k, list(islice(moves, 2))),
        *moves,
        softmax.lazy_branch(enter),
        *probabilities(k, with_qk, late),
        Label(back),
        wait(vmcnt=0, lgkmcnt=0),
        *markers.leave(marked),
        barrier(),
    ]
    rare += [
        Align(8),
        Label(enter),
        *markers.enter("rescale", marked),
        *rescale.scalars(k),
        *markers.leave(marked),
        *probabilities(k, with_qk, late),
        *markers.enter("rescale", marked),
        *rescale.outputs(k),
        *markers.leave(marked),
        control("s_branch", back),
    ]
    return lines


def probabilities(k: Machine, with_qk: bool, late: list[Line]) -> list[Line]:
    """The elements of X, and the first operands of M read among them; `late` ends a gap."""
    gap = [barrier()] if k.options.schedule in GAP_AFTER else []
    lines: list[Line] = []
    places = READ_PLACES[k.options.schedule]
    operands = prefetch(k, matrix_steps(k, with_qk), len(places))
    reads = dict(zip(places, operands, strict=True))
    if gap:
        lines += [*gap, *softmax.all_multiply_adds(k), *gap, *late]
    for place, (tile, group) in enumerate(softmax.groups()):
        lines += reads.pop(place, [])
        if not gap:
            lines += softmax.multiply_add(k, tile, group)
        lines += softmax.convert(k, tile, group)
    return lines


def stagger(k: Machine, upper: bool) -> list[Line]:
    """The extra barriers of one wave group: the upper one first, the lower one last."""
    count = STAGGER[k.options.schedule]
    if not count:
        return []
    skip = k.label("in_step")
    compare = "s_cmp_lt_u32" if upper else "s_cmp_ge_u32"
    return [
        scalar(compare, k.wave, 4),
        control("s_cbranch_scc1", skip, reads=("scc",)),
        *(barrier() for _ in range(count)),
        Label(skip),
    ]


def prologue(k: Machine) -> list[Line]:
    """Q, the first blocks of K and V, cleared state, S(0).

    The state is that after a block -1: V's reads in buffer 2, K's in buffer 0, so that every X
    moves them on alike.
    """
    lds_order = (2, 0, 1)
    lines: list[Line] = [
        Comment("tile prologue"),
        *markers.enter("load", k.options.markers == "on"),
        *load.descriptors(k),
        *load.load_q(k),
        *load.addresses(k),
        *load.counters(k),
    ]
    lines += [op("s_mov_b32", k.lds[i], b * lds.BLOCK) for i, b in enumerate(lds_order)]
    for which, buffer in (("k", 1), ("v", 1), ("k", 2), ("v", 2), ("k", 0)):
        for rider in load.load_block(k, which, k.lds[buffer]):
            lines += rider
    lines += [op("v_add_u32", r, 2 * lds.BLOCK, r) for r in k.v_read]
    lines += clear([*k.o, k.sum, k.l, k.scale])
    lines += [
        op("v_mov_b32", k.m, LOWEST),
        wait(vmcnt=0),
        *markers.leave(k.options.markers == "on"),
        barrier(),
    ]
    steps = qk.steps(k)
    first = [x for reads in prefetch(k, steps) for x in reads]
    return [*lines, *first, wait(lgkmcnt=0), *stream(k, steps), *load.rotate(k)]


def body(k: Machine) -> list[Line]:
    """The whole tile; the item's words are in k.item."""
    rare: list[Line] = []
    loop, entry = k.label("block"), k.label("first_block")
    diagonal, done = k.label("diagonal"), k.label("tile_done")
    lines: list[Line] = [
        *prologue(k),
        *stagger(k, upper=True),
        scalar("s_sub_u32", k.steps, k.item[load.ITEM_BLOCKS], 2),
        scalar("s_cmp_eq_u32", k.steps, 0),
        control("s_cbranch_scc1", diagonal, reads=("scc",)),
        control("s_branch", entry),
        Align(32),
        Label(loop),
        barrier(),
        Label(entry),
        Comment("unmasked block: softmax phase"),
        *softmax_phase(k, rare),
        Comment("unmasked block: matrix phase"),
        *matrix_phase(k, with_qk=True, count=True),
        control("s_cbranch_scc1", loop, reads=("scc",)),
        barrier(),
        Label(diagonal),
        Comment("first diagonal block"),
        *softmax_phase(k, rare, "first"),
        *matrix_phase(k, with_qk=True),
        Comment("last diagonal block"),
        *softmax_phase(k, rare, "last", with_qk=False),
        *matrix_phase(k, with_qk=False),
        *stagger(k, upper=False),
        Comment("epilogue"),
        *markers.enter("epilogue", k.options.markers == "on"),
        *epilogue.write(k),
        *markers.leave(k.options.markers == "on"),
        control("s_branch", done),
        Comment("rescale paths, out of line"),
        *rare,
        Label(done),
    ]
    return lines
