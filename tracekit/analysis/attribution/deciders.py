"""Who decides at each idle cycle of a SIMD: the resident wave that issues its next MFMA first.

That is the wave that ends the bubble; before its start, the best of those there.  Where no
resident has an MFMA to come, the one that ends last: it makes room.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.cuts import along
from tracekit.analysis.model.rows import NEVER, Rows
from tracekit.analysis.model.simds import MatrixUse

Array = NDArray[np.int64]

NOBODY = -1
#: The pipe is idle and no MFMA follows on the SIMD: nobody decides.
AFTER_LAST = -2


@dataclass(frozen=True)
class Bubbles:
    """Idle time of one SIMD in the whole trace: [start, end) cycles each, in order; the first
    begins at -NEVER, the last ends at NEVER.

    ``before`` and ``after`` are rows (of Rows): the MFMA that ends at the start (of several
    the one that issued later) and the one that issues at the end; -1 at an end of the trace.
    """

    start: Array
    end: Array
    before: Array
    after: Array

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Deciders:
    """Pieces [start, end) of the bubbles, in order: ``bubble`` and ``wave`` (NOBODY,
    AFTER_LAST); ``runner_up``: first attempt of the MFMA that the next best wave issues next,
    NEVER without one."""

    start: Array
    end: Array
    bubble: Array
    wave: Array
    runner_up: Array


def bubbles(matrix: MatrixUse, rows: NDArray[np.int64]) -> Bubbles:
    """The idle time of a pipe; ``rows``: of Rows, of each MFMA of ``matrix``."""
    busy = matrix.busy
    start, end = np.append(-NEVER, busy.end), np.append(busy.start, NEVER)
    by_end = np.lexsort((matrix.start, matrix.end))
    at = np.searchsorted(matrix.end[by_end], start, side="right") - 1
    before = np.where(at >= 0, np.append(rows[by_end], -1)[at], -1)
    at = np.searchsorted(matrix.start, end)
    after = np.append(rows, -1)[np.minimum(at, len(rows))]
    return Bubbles(start, end, before, after)


def deciders(rows: Rows, here: Array, found: Bubbles) -> Deciders:
    """The deciders on a SIMD whose waves are ``here``."""
    waves = rows.waves
    marks = np.unique(np.concatenate([waves.begin[here], waves.end[here]]))
    pieces = along(found.start, found.end, marks)
    start, bubble = pieces.start, pieces.of
    wave = np.full(len(start), NOBODY)
    second = np.full(len(start), NEVER)
    open_end = found.after[bubble] < 0
    wave[open_end] = AFTER_LAST
    asked = np.flatnonzero(~open_end)
    if len(asked) and len(here):
        wave[asked], second[asked] = _best(rows, here, start[asked])
    return Deciders(start, pieces.end, bubble, wave, second)


def _best(rows: Rows, here: Array, time: Array) -> tuple[Array, Array]:
    """(deciding wave, first attempt of the runner-up's next MFMA) at each time."""
    waves = rows.waves
    resident = _residents(rows, here, time)
    coming = next_mfma(rows, resident, time)
    issue = np.where(coming >= 0, rows.issue[coming], NEVER) if len(rows) else coming + NEVER + 1
    soonest = issue.min(axis=1)
    some = soonest < NEVER
    born = np.where(resident >= 0, waves.begin[resident], NEVER)
    died = np.where(resident >= 0, waves.end[resident], -NEVER)
    tied = np.where(some[:, None], issue == soonest[:, None], died == died.max(1)[:, None])
    choice = np.where(tied, born, NEVER).argmin(axis=1)
    pick = (np.arange(len(time)), choice)
    wave = np.where(resident[pick] >= 0, resident[pick], NOBODY)
    attempt = np.where(coming >= 0, rows.time[coming], NEVER) if len(rows) else issue
    attempt = np.where(issue < NEVER, attempt, NEVER)
    attempt[pick] = NEVER
    return wave, attempt.min(axis=1)


def _residents(rows: Rows, here: Array, time: Array) -> Array:
    """(times, lanes) wave resident in each wave slot at each time, -1 none; slots rise."""
    waves = rows.waves
    lane = waves.cu[here] << 8 | waves.slot[here]
    lanes = np.unique(lane)
    result = np.full((len(time), max(len(lanes), 1)), -1)
    for i, name in enumerate(lanes.tolist()):
        mine = here[lane == name]
        mine = mine[np.argsort(waves.begin[mine], kind="stable")]
        at = np.searchsorted(waves.begin[mine], time, side="right") - 1
        wave = np.where(at >= 0, mine[at], -1)
        result[:, i] = np.where((wave >= 0) & (waves.end[wave] > time), wave, -1)
    return result


def next_mfma(rows: Rows, wave: Array, time: Array) -> Array:
    """Row of the first MFMA that ``wave`` (-1: none) issues at or after ``time``, of the shape
    of ``wave`` (``time`` goes along its first axis); -1 without one."""
    mfmas = rows.mfmas
    key = rows.key(rows.wave[mfmas], rows.issue[mfmas])
    when = np.broadcast_to(time.reshape(-1, *[1] * (wave.ndim - 1)), wave.shape)
    at = np.searchsorted(key, rows.key(np.maximum(wave, 0), when))
    found = np.append(mfmas, -1)[at]
    return np.where((found >= 0) & (wave >= 0) & (rows.wave[found] == wave), found, -1)
