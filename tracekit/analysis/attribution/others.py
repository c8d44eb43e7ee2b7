"""What the resident waves besides the decider do meanwhile: would a second wave have helped?

Only those count that have an MFMA to come.  All of them in a wait, at a barrier, in s_nop or
draining are ``waiting``; one that does anything else makes it ``working``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.cuts import along, inside
from tracekit.analysis.attribution.names import WAITING, Cause, Others
from tracekit.analysis.attribution.pieces import Pieces
from tracekit.analysis.attribution.steps import Steps
from tracekit.analysis.model.intervals import Intervals, union
from tracekit.analysis.model.rows import Rows

Array = NDArray[np.int64]


def with_others(rows: Rows, steps: Steps, here: Array, pieces: Pieces) -> Pieces:
    """``pieces`` of the SIMD whose waves are ``here``, cut where ``others`` changes, with it."""
    own, start, end = _before(steps, here, last_mfma(rows, here))
    present = _present(rows, here)
    busy = ~np.isin(steps.kind[own], WAITING)
    working = _Count(start[busy], end[busy])
    marks = np.union1d(present.time, working.time)
    cut = along(pieces.start, pieces.end, marks)
    result = pieces.cut(cut.of, cut.start, cut.end)
    there = present.at(cut.start)
    decider = there > 0  # where any has an MFMA to come, the decider has
    works = working.at(cut.start) - (decider & ~np.isin(result.own, WAITING))
    others = np.where(there - decider > 0, int(Others.WAITING), int(Others.NONE))
    return replace(result, others=np.where(works > 0, int(Others.WORKING), others))


def last_mfma(rows: Rows, here: Array) -> Array:
    """Issue of each wave's last MFMA; its begin where it has none."""
    mfmas = rows.mfmas
    first, stop = (np.searchsorted(rows.wave[mfmas], here, side=s) for s in ("left", "right"))
    issue = np.append(rows.issue[mfmas], 0)
    return np.where(stop > first, issue[stop - 1], rows.waves.begin[here])


def doing(rows: Rows, steps: Steps, here: Array, within: Intervals) -> Array:
    """Wave-cycles by Cause (MFMA included) that the waves ``here`` spend ``within``."""
    own, start, end = _before(steps, here, rows.waves.end[here])
    cut = inside(start, end, within)
    return _sums(steps.kind[own[cut.of]], cut.end - cut.start)


def doing_of(steps: Steps, wave: int, start: Array, end: Array) -> Array:
    """(n, kinds) cycles by Cause (MFMA included) of one wave in each of n intervals."""
    own = slice(*np.searchsorted(steps.wave, [wave, wave + 1]).tolist())
    cut = inside(start, end, Intervals(steps.start[own], steps.end[own]))
    kind = steps.kind[own][cut.by]
    kinds = len(Cause)
    sums = np.bincount(cut.of * kinds + kind, cut.end - cut.start, minlength=len(start) * kinds)
    return sums.astype(np.int64).reshape(len(start), kinds)


def others_doing(rows: Rows, steps: Steps, here: Array, pieces: Pieces) -> Array:
    """Wave-cycles by Cause of the residents besides the decider, those with an MFMA to come,
    in the time of ``pieces`` (of that SIMD)."""
    own, start, end = _before(steps, here, last_mfma(rows, here))
    cut = inside(start, end, union(pieces.start, pieces.end))
    everyone = _sums(steps.kind[own[cut.of]], cut.end - cut.start)
    # The decider is among them as long as any resident has an MFMA to come.
    part = pieces.take((pieces.wave >= 0) & (_present(rows, here).at(pieces.start) > 0))
    return everyone - _sums(part.own, part.cycles)


def _sums(kind: NDArray[np.integer[Any]], cycles: Array) -> Array:
    return np.bincount(kind, cycles, minlength=len(Cause)).astype(np.int64)


def _before(steps: Steps, here: Array, until: Array) -> tuple[Array, Array, Array]:
    """(index, start, end) of the steps of the waves ``here``, each up to ``until``."""
    first = np.searchsorted(steps.wave, here)
    count = np.searchsorted(steps.wave, here, side="right") - first
    of = np.repeat(np.arange(len(here)), count)
    index = np.repeat(first, count) + np.arange(len(of))
    index -= np.repeat(np.cumsum(count) - count, count)
    start, end = steps.start[index], np.minimum(steps.end[index], until[of])
    kept = end > start
    return index[kept], start[kept], end[kept]


def _present(rows: Rows, here: Array) -> _Count:
    """Waves of ``here`` that are resident and have an MFMA to come."""
    begin, until = rows.waves.begin[here], last_mfma(rows, here)
    some = until > begin
    return _Count(begin[some], until[some])


class _Count:
    """How many of the intervals hold a cycle, as a function of time."""

    def __init__(self, start: Array, end: Array) -> None:
        change = np.concatenate([np.ones(len(start), np.int64), np.full(len(end), -1)])
        time, at = np.unique(np.concatenate([start, end]), return_inverse=True)
        net = np.bincount(at, change, minlength=len(time)).astype(np.int64)
        moves = net != 0
        self.time = time[moves]
        self._count = np.append(0, np.cumsum(net[moves]))

    def at(self, time: Array) -> Array:
        result: Array = self._count[np.searchsorted(self.time, time, side="right")]
        return result
