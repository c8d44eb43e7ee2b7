"""One query tile: prologue, the block loop, the two diagonal blocks, epilogue.

Block i of a wave is a softmax phase X(i) and a matrix phase M(i) = PV(i) with QK(i + 1). Under
ping-pong the two waves of a SIMD are half a block apart: the upper four waves of the workgroup pass
extra barriers first, the lower four pass them last, so every barrier joins one wave's X with the
other's M.
"""

from __future__ import annotations

from itertools import islice

from zyfa.codegen.instruction import Align, Comment, Label, Line, control, op, scalar, wait
from zyfa.codegen.machine import Machine
from zyfa.codegen.matrix import prefetch, stream
from zyfa.codegen.numbers import LOWEST
from zyfa.codegen.phases import epilogue, load, pv, qk, rescale, setup, softmax
from zyfa.codegen.registers import Reg
from zyfa.codegen.steps import Ready, Step


def barrier() -> Line:
    return control("s_barrier")


def clear(registers: list[Reg]) -> list[Line]:
    return [op("v_mov_b32", one, 0) for r in registers for one in r.each()]


def sums(k: Machine) -> list[Ready]:
    """The row sum's matrix instructions, one an operand of P."""
    return [Ready(k.rowsum.product(k, part)) for part in range(k.shape.pv_steps)]


def matrix_steps(k: Machine, with_qk: bool) -> list[Step | Ready]:
    """The matrix phase in the schedule's order."""
    return k.schedule.matrix(pv.steps(k), sums(k), qk.steps(k) if with_qk else [])


def riders(k: Machine, count: int, with_qk: bool, counting: bool) -> list[list[Line]]:
    """What goes after each of `count` matrix instructions: from the second on, after every other,
    a direct load; near the end the buffers' turn and the block count; the barriers of a gap."""
    after: list[list[Line]] = [[] for _ in range(count)]
    if with_qk:
        loads = load.load_block(k, "v", k.lds[2]) + load.load_block(k, "k", k.lds[0])
        for i, rider in enumerate(loads):
            after[2 * i + 1] = rider
        after[-3] = load.rotate(k)
    if counting:
        after[-2] = [
            scalar("s_sub_u32", k.steps, k.steps, 1),
            scalar("s_cmp_lg_u32", k.steps, 0),
        ]
    if k.schedule.gap:
        parts = k.shape.pv_steps
        at = k.schedule.gap(parts * k.shape.value_tiles, parts) - 1
        after[at] = [*after[at], barrier(), barrier()]
    return after


def matrix_phase(k: Machine, with_qk: bool, count: bool = False) -> list[Line]:
    """M(i): up to the barrier (with a gap: two barriers on the way).

    `count`: leave in SCC whether the block loop goes on, and the barrier to where it goes, so that
    the branch is not between the barrier and the next softmax phase.
    """
    steps = matrix_steps(k, with_qk)
    between = riders(k, len(steps), with_qk, count)
    lines = stream(k, steps, between, len(k.schedule.read_places))
    if k.options.on("setprio"):
        lines = [control("s_setprio", 1), *lines, control("s_setprio", 0)]
    return [*k.markers.around("matrix", lines), *([] if count else [barrier()])]


def softmax_phase(k: Machine, rare: list[Line], mask: str = "", with_qk: bool = True) -> list[Line]:
    """X(i): scores to P, the next operands on their way, then the barrier.

    `rare` collects the out-of-line path with a rescale, which has elements of its own.
    `mask`: "", "first" or "last" diagonal block.
    """
    enter, back = k.label("rescale"), k.label("scaled")
    hot, cooled = k.label("hot"), k.label("cooled")
    moves = iter(load.move_reads(k))
    late = list(islice(moves, int(k.schedule.gap is not None)))
    lines: list[Line] = [
        *k.markers.enter("softmax"),
        *(softmax.mask_diagonal(k, mask == "last") if mask else []),
        *islice(moves, 1),
        *softmax.maxima(k),
        *(k.rowsum.collect(k) or islice(moves, 2)),
        *softmax.peaks(k, list(islice(moves, 1))),
        *softmax.exponents(k, list(islice(moves, 2))),
        *moves,
        softmax.lazy_branch(enter),
        *probabilities(k, with_qk, late),
        Label(back),
        wait(vmcnt=0, lgkmcnt=0),
        *k.markers.leave(),
        barrier(),
    ]
    rare += [
        Align(8),
        Label(enter),
        *k.markers.around("rescale", rescale.scalars(k, hot, cooled)),
        *probabilities(k, with_qk, late),
        *k.markers.around("rescale", rescale.outputs(k)),
        control("s_branch", back),
        Label(hot),
        *rescale.cool(k),
        control("s_branch", cooled),
    ]
    return lines


def probabilities(k: Machine, with_qk: bool, late: list[Line]) -> list[Line]:
    """The elements of X, and the first operands of M read among them; `late` ends a gap."""
    lines: list[Line] = []
    places = k.schedule.read_places
    operands = prefetch(k, matrix_steps(k, with_qk), len(places))
    reads = dict(zip(places, operands, strict=True))
    if k.schedule.gap:
        lines += [barrier(), *softmax.all_multiply_adds(k), barrier(), *late]
    for place, (tile, group) in enumerate(softmax.groups(k)):
        lines += reads.pop(place, [])
        if not k.schedule.gap:
            lines += softmax.multiply_add(k, tile, group)
        lines += softmax.convert(k, tile, group)
    return lines


def stagger(k: Machine, upper: bool) -> list[Line]:
    """The extra barriers of one wave group: the upper one first, the lower one last."""
    count = k.schedule.stagger
    if not count:
        return []
    skip = k.label("in_step")
    compare = "s_cmp_lt_u32" if upper else "s_cmp_ge_u32"
    return [
        scalar(compare, k.wave, k.shape.waves // 2),
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
        *k.markers.enter("load"),
        *load.descriptors(k),
        *load.load_q(k),
        *load.addresses(k),
        *load.counters(k),
    ]
    lines += [op("s_mov_b32", k.lds[i], b * k.layout.stride) for i, b in enumerate(lds_order)]
    for which, buffer in (("k", 1), ("v", 1), ("k", 2), ("v", 2), ("k", 0)):
        for rider in load.load_block(k, which, k.lds[buffer]):
            lines += rider
    lines += [op("v_add_u32", r, 2 * k.layout.stride, r) for r in k.v_read]
    lines += [*clear([*k.o, k.sum, k.l, k.scale]), *setup.scales(k)]
    lines += [
        op("v_mov_b32", k.m, LOWEST),
        wait(vmcnt=0),
        *k.markers.leave(),
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
        scalar("s_sub_u32", k.steps, k.field("blocks"), k.shape.rows // k.shape.keys),
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
        *k.markers.around("epilogue", epilogue.write(k, rare)),
        control("s_branch", done),
        Comment("rescale paths, out of line"),
        *rare,
        Label(done),
    ]
    return lines
