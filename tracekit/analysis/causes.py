"""Why the matrix pipe is idle: exactly one cause for every idle cycle.

The wave that is closest to its next MFMA decides, for the pipe stays idle until some wave
gets there: work that runs counts before refusals, refusals before waits, short waits before
long ones, and a barrier last, since whoever waits there waits for another wave.  Waves that
are before or after their loop count only when no other is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.activity import Activity, Codes, Doing, activity, codes, losing
from tracekit.analysis.model.intervals import Intervals, intersect, subtract, union
from tracekit.analysis.model.loops import Loops
from tracekit.analysis.model.simds import MatrixUse, Simd, each_simd, matrix_use
from tracekit.analysis.model.window import DEFAULT, Window, Windows
from tracekit.isa.blocking import blocking
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]

#: The closed list, in order of precedence: a cycle has the first cause that holds.
CAUSES = (
    "data_lost", "no_wave", "prologue_epilogue", "mfma_dependency", "valu_not_overlapped",
    "packed_f32_blocked", "valu_blocked_by_matrix", "lds_backpressure", "vmem_backpressure",
    "scalar_or_branch", "fetch_or_arbitration", "nop_hazard", "lgkmcnt_wait", "vmcnt_wait",
    "barrier",
)  # fmt: skip
#: What each cause says, for help and documents.
MEANINGS = {
    "data_lost": "tokens are missing there, so a wave's state is unknown",
    "no_wave": "no traced wave is resident on the SIMD",
    "prologue_epilogue": "every resident wave is before or after its loop",
    "mfma_dependency": "an MFMA is ready and refused though the pipe is free: its operands are not",
    "valu_not_overlapped": "vector work runs and no wave has an MFMA to run beside it",
    "packed_f32_blocked": "a packed F32 or DOT is refused because an MFMA just ended",
    "valu_blocked_by_matrix": "a vector instruction is refused because of an MFMA's operands",
    "lds_backpressure": "an LDS instruction is refused, or takes its issue cycles",
    "vmem_backpressure": "a vector memory instruction is refused, or takes its issue cycles",
    "scalar_or_branch": "scalar work, a branch, or the gap around them",
    "fetch_or_arbitration": "no attempt, or a refusal that the rules do not explain",
    "nop_hazard": "s_nop: wait states that the compiler put against a hazard",
    "lgkmcnt_wait": "s_waitcnt for LDS or scalar memory",
    "vmcnt_wait": "s_waitcnt for vector memory",
    "barrier": "every wave waits at s_barrier",
}
_NUMBER = {name: number for number, name in enumerate(CAUSES)}


@dataclass(frozen=True)
class SimdCauses:
    """One SIMD: ``start``, ``end``, ``cause`` (index into CAUSES) of pieces of idle time,
    disjoint and in order; together they are the matrix-idle cycles of the window."""

    simd: Simd
    window: Window
    matrix: MatrixUse
    doing: Activity
    start: Array
    end: Array
    cause: NDArray[np.uint8]

    @property
    def idle(self) -> Intervals:
        """Matrix-idle cycles of the window."""
        return union(self.start, self.end)

    def totals(self) -> Array:
        """Cycles per cause."""
        sums = np.bincount(self.cause, self.end - self.start, minlength=len(CAUSES))
        return sums.astype(np.int64)


@dataclass
class Causes:
    """Causes on every SIMD of a timeline; ``notes`` say what could not be told."""

    simds: list[SimdCauses]
    loops: Loops
    notes: list[str] = field(default_factory=list)


def causes(timeline: Timeline, window: str = DEFAULT) -> Causes:
    """The cause of every matrix-idle cycle in ``window``.

    SIMDs on which an MFMA of unknown cost ran have no entry (their idle time is unknown).
    """
    return causes_in(Windows(timeline, window))


def causes_in(windows: Windows) -> Causes:
    """``causes`` of the timeline and in the window of ``windows``."""
    timeline = windows.timeline
    result = Causes([], windows.loops)
    table = codes(timeline.listing, timeline.costs)
    blocks = _Blocks(timeline)
    ran = bool((timeline.costs.pipe == Pipe.MATRIX).any())
    executed = False
    for simd in each_simd(timeline):
        executed |= bool((simd.pipe == Pipe.MATRIX).any())
        chosen = windows.of(simd)
        if chosen.note and chosen.note not in result.notes:
            result.notes.append(chosen.note)
        matrix = matrix_use(simd)
        lost = _lost(timeline, simd)
        if lost:
            result.notes.append(
                f"SE {simd.se} SIMD {simd.simd}: {lost} MFMAs may follow lost tokens and have no "
                "program counter; they count as data_lost, not as busy"
            )
        if matrix.unknown > lost or (not ran and not len(timeline.listing)):
            note = "the cost of an MFMA is unknown: no causes for its SIMD"
            if note not in result.notes:
                result.notes.append(note)
            continue
        result.simds.append(
            _Painter(timeline, simd, chosen, matrix, table, blocks, result.loops).paint()
        )
    if result.simds and not executed:
        result.notes.append(
            "no MFMA was executed by the traced waves: what they did says nothing about the "
            "matrix pipe, and nothing can be concluded about the kernel"
        )
    return result


def _lost(timeline: Timeline, simd: Simd) -> int:
    """Possible MFMAs without a program counter in waves that lost tokens."""
    key, wave = np.unique(simd.wave_key, return_inverse=True)
    unknown = (simd.pipe == Pipe.MATRIX) & (simd.row < 0)
    return int((unknown & losing(timeline, simd)[wave]).sum()) if len(key) else 0


class _Blocks:
    """Cycles that each listing row, as an MFMA, keeps VALU and packed F32 out."""

    def __init__(self, timeline: Timeline) -> None:
        listing, costs = timeline.listing, timeline.costs
        self.valu, self.packed, self.before = (np.zeros(len(listing) + 1, np.int64) for _ in "vpb")
        for row in np.flatnonzero((costs.pipe == Pipe.MATRIX) & (costs.cycles > 0)).tolist():
            rule = blocking(timeline.arch.name, listing.text[row], int(costs.cycles[row]))
            self.valu[row], self.packed[row], self.before[row] = rule


@dataclass
class _Painter:
    """Gives each idle cycle of one SIMD its cause."""

    timeline: Timeline
    simd: Simd
    window: Window
    matrix: MatrixUse
    table: Codes
    blocks: _Blocks
    loops: Loops

    def paint(self) -> SimdCauses:
        left = subtract(self.window.intervals, self.matrix.busy)
        starts: list[Array] = []
        ends: list[Array] = []
        names: list[str] = []
        for name, layer in self._layers():
            if not len(left):
                break
            got = intersect(left, layer)
            left = subtract(left, layer)
            starts.append(got.start)
            ends.append(got.end)
            names += [name] * len(got)
        starts.append(left.start)
        ends.append(left.end)
        names += ["fetch_or_arbitration"] * len(left)
        start, end = np.concatenate(starts), np.concatenate(ends)
        order = np.argsort(start, kind="stable")
        cause = np.array([_NUMBER[name] for name in names], np.uint8)[order]
        start, end = start[order], end[order]
        # Neighbours with one cause become one piece.
        fresh = np.ones(len(start), bool)
        fresh[1:] = (start[1:] != end[:-1]) | (cause[1:] != cause[:-1])
        return SimdCauses(
            self.simd, self.window, self.matrix, self.doing,
            start[fresh], end[np.append(fresh[1:], True)[: len(end)]], cause[fresh],
        )  # fmt: skip

    @cached_property
    def doing(self) -> Activity:
        return activity(self.timeline, self.simd, self.table)

    def _layers(self) -> Iterator[tuple[str, Intervals]]:
        """(cause, cycles in which it holds), in order of precedence."""
        edges = np.iinfo(np.int64)
        always = Intervals(np.array([edges.min]), np.array([edges.max]))
        yield "data_lost", self.doing.of(Doing.LOST)
        yield "no_wave", subtract(always, union(self.doing.born, self.doing.died))
        first, last = self._main()
        yield "prologue_epilogue", subtract(always, union(first, last))
        main = self.doing.clipped(first, last)
        ready = main.of(Doing.MFMA_REFUSED)
        valu, held = self._vector(first, last)
        yield "valu_not_overlapped", intersect(ready, held)
        yield "mfma_dependency", ready
        yield "valu_not_overlapped", valu
        start = self.matrix.start
        row = self.simd.row[self.matrix.order]
        yield (
            "packed_f32_blocked",
            main.of(Doing.PACKED_REFUSED, within=union(start, start + self.blocks.packed[row])),
        )
        blocked = union(start - self.blocks.before[row], start + self.blocks.valu[row])
        yield (
            "valu_blocked_by_matrix",
            main.of(Doing.PACKED_REFUSED, Doing.VALU_REFUSED, within=blocked),
        )
        yield "lds_backpressure", main.of(Doing.LDS)
        yield "vmem_backpressure", main.of(Doing.VMEM)
        yield "scalar_or_branch", main.of(Doing.SCALAR)
        yield (
            "fetch_or_arbitration",
            main.of(Doing.GAP, Doing.VALU_REFUSED, Doing.PACKED_REFUSED, Doing.MFMA),
        )
        yield "nop_hazard", main.of(Doing.NOP)
        yield "lgkmcnt_wait", main.of(Doing.LGKM_WAIT)
        yield "vmcnt_wait", main.of(Doing.VM_WAIT)
        yield "barrier", main.of(Doing.BARRIER)

    def _main(self) -> tuple[Array, Array]:
        """Main part of each wave: its iterations of the dominant loop; without any, from its
        first to its last MFMA; where no wave of the kernel has either, its whole life."""
        simd, doing = self.simd, self.doing
        first, last = doing.died.copy(), doing.died.copy()
        table = self.loops.of_dominant(simd.dispatch)
        looped = np.zeros(len(doing.key), bool)
        if len(table):
            own = ((table["se"] == simd.se) & (table["simd"] == simd.simd)).to_numpy()
            key = table["slot"].to_numpy()[own].astype(np.int64) << 32
            key |= table["wave"].to_numpy()[own]
            at = np.searchsorted(doing.key, key)
            np.minimum.at(first, at, table["begin"].to_numpy()[own])
            looped[at] = True
            last[at] = 0
            np.maximum.at(last, at, table["end"].to_numpy()[own])
        wave = np.searchsorted(doing.key, simd.wave_key)
        mfma = simd.pipe == Pipe.MATRIX
        others = np.flatnonzero(mfma & ~looped[wave])
        if len(others):
            at = wave[others]
            last[np.unique(at)] = 0
            np.minimum.at(first, at, simd.time[others])
            np.maximum.at(last, at, simd.issue[others] + np.maximum(simd.cycles[others], 0))
        if not len(self.loops.dominant) and not mfma.any():
            return doing.born, doing.died
        return first, last

    def _vector(self, first: Array, last: Array) -> tuple[Intervals, Intervals]:
        """Cycles in which main waves' vector work runs, and those in which it holds the port
        beyond its first tick (8- and 16-cycle instructions)."""
        simd = self.simd
        wave = np.searchsorted(self.doing.key, simd.wave_key)
        rows = np.flatnonzero((simd.pipe == Pipe.VECTOR) & (simd.cycles > 0))
        rows = rows[(simd.issue[rows] >= first[wave[rows]]) & (simd.issue[rows] < last[wave[rows]])]
        start, end = simd.issue[rows], simd.issue[rows] + simd.cycles[rows]
        return union(start, end), union(start + 4, end)
