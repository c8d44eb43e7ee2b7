"""The instructions of one SIMD, with what each costs on which pipe.

Execution is not in the trace: on gfx9 a token shows the issue, and the listing's cost
table says how long the pipe is held from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals, union
from tracekit.gfx9 import TICK, Category, Inst
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Pipe
from tracekit.tables.described import issues
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]

#: AMD's records of scaled MFMAs may lie this much early (docs/timing.md).
AMD_SHIFT = TICK
#: Cycles of a VALU instruction of unknown opcode: every class takes at least that.
VALU_CYCLES = 4


@dataclass(frozen=True)
class Simd:
    """Instructions of all traced waves of one SIMD (of one dispatch), ordered by wave.

    ``rows`` index the timeline's instruction table; the other arrays go with them.
    ``cycles`` is -1 where the cost is unknown.
    """

    se: int
    cu: int
    simd: int
    dispatch: int
    rows: NDArray[np.intp]
    row: NDArray[np.int32]  # of the listing, -1 unstitched
    time: Array  # first attempt to issue
    end: Array  # end of the issue cost
    issue: Array
    issue_cost: Array
    pipe: NDArray[np.uint8]
    cycles: Array
    scaled: NDArray[np.bool_]
    wave_key: Array  # slot << 32 | wave
    tolerant: bool  # times are AMD's: scaled MFMAs may lie 4 cycles early

    @property
    def span(self) -> tuple[int, int]:
        """First instruction's issue to the last one's issue + 4."""
        return int(self.issue.min()), int(self.issue.max()) + 4


@dataclass(frozen=True)
class MatrixUse:
    """Busy intervals of the matrix pipe: ``start``/``end`` per MFMA in issue order."""

    start: Array
    end: Array
    order: NDArray[np.intp]  # index into the Simd of each MFMA
    violations: NDArray[np.bool_]  # closer to the MFMA before it than that one's cycles
    unknown: int  # MFMAs without a known cost (not in start/end)

    @property
    def busy(self) -> Intervals:
        return union(self.start, self.end)


def each_simd(timeline: Timeline) -> Iterator[Simd]:
    """Every SIMD with instructions, by se, dispatch, simd."""
    table = timeline.executed
    if not len(table):
        return
    se, simd = table["se"].to_numpy(), table["simd"].to_numpy()
    dispatch = table["dispatch"].to_numpy()
    edge = np.flatnonzero((np.diff(se) != 0) | (np.diff(simd) != 0) | (np.diff(dispatch) != 0))
    starts, ends = np.append(0, edge + 1), np.append(edge + 1, len(table))
    groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        key = (int(se[start]), int(dispatch[start]), int(simd[start]))
        groups.setdefault(key, []).append((start, end))
    for key, runs in sorted(groups.items()):
        rows = np.concatenate([np.arange(start, end) for start, end in runs])
        yield _simd(timeline, key, rows)


def _simd(timeline: Timeline, key: tuple[int, int, int], rows: NDArray[np.intp]) -> Simd:
    table, costs = timeline.executed, timeline.costs

    def column(name: str) -> NDArray[np.int64]:
        return table[name].to_numpy()[rows].astype(np.int64)

    row = table["row"].to_numpy()[rows]
    category, kind = column("category"), column("type")
    time, stall, duration = column("time"), column("stall"), column("duration")
    issue = issues(category, time, stall, duration)
    pipe = np.append(costs.pipe, np.uint8(Pipe.NONE))[row]
    cycles = np.append(costs.cycles.astype(np.int64), -1)[row]
    # Unstitched: the type still tells vector work; MAI may be an MFMA of any length.
    lost = row < 0
    vector = lost & (category == Category.VALU)
    pipe[vector], cycles[vector] = Pipe.VECTOR, VALU_CYCLES
    matrix = vector & ((kind == Inst.VALU_MAI) | (kind < 0))
    pipe[matrix], cycles[matrix] = Pipe.MATRIX, -1
    if costs.assumed_mfma is not None:
        cycles[lost & (kind == Inst.VALU_MAI)] = costs.assumed_mfma
    scaled = np.append(timeline.listing.expect == Expect.MFMA_SCALE, False)[row]
    slot, wave = column("slot"), column("wave")
    return Simd(
        se=key[0],
        cu=int(table["cu"].to_numpy()[rows[0]]),
        simd=key[2],
        dispatch=key[1],
        rows=rows,
        row=row,
        time=time,
        end=time + duration,
        issue=issue,
        issue_cost=duration - stall,
        pipe=pipe,
        cycles=cycles,
        scaled=scaled,
        wave_key=slot << 32 | wave,
        tolerant=timeline.decoded or timeline.timing == "amd",
    )


def matrix_use(simd: Simd) -> MatrixUse:
    """When the matrix pipe is held: [issue, issue + table cycles) of each MFMA.

    In AMD's timing an MFMA that starts up to 4 cycles inside its predecessor is moved to
    that one's end; only v_mfma_scale may do so without being a violation.
    """
    all_mfma = np.flatnonzero(simd.pipe == Pipe.MATRIX)
    known = all_mfma[simd.cycles[all_mfma] >= 0]
    order = known[np.argsort(simd.issue[known], kind="stable")]
    start, cycles = simd.issue[order].copy(), simd.cycles[order]
    violations = np.zeros(len(order), bool)
    if len(order):
        short = start[1:] - start[:-1] - cycles[:-1]
        allowed = np.where(simd.tolerant & simd.scaled[order[1:]], -AMD_SHIFT, 0)
        violations[1:] = short < allowed
        if simd.tolerant and (short < 0).any():
            _shift(start, cycles, short)
    return MatrixUse(start, start + cycles, order, violations, len(all_mfma) - len(known))


def _shift(start: Array, cycles: Array, short: Array) -> None:
    """Move MFMAs that begin a little inside their predecessor to its end, in place."""
    moved, ends = start.tolist(), (start + cycles).tolist()
    length, gaps = cycles.tolist(), short.tolist()
    for i in range(1, len(moved)):
        if gaps[i - 1] >= -AMD_SHIFT and moved[i] < ends[i - 1]:
            moved[i] = ends[i - 1]
            ends[i] = moved[i] + length[i]
    start[:] = moved


def vector_use(simd: Simd) -> tuple[Array, Array]:
    """[issue, issue + class cycles) of each VALU instruction that is no MFMA, unordered."""
    vector = np.flatnonzero((simd.pipe == Pipe.VECTOR) & (simd.cycles > 0))
    return simd.issue[vector], simd.issue[vector] + simd.cycles[vector]
