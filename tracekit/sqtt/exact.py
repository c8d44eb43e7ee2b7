"""``--timing exact``: what the tokens say happened, by the phase of the clock.

Every value follows from the raw tokens; nothing is cut or repaired.  docs/timing.md lists
each difference from the rows that AMD's decoder ships.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import CATEGORY_OF_TYPE, INST_CONTEXT, INST_IMMED, TICK, Category, Inst
from tracekit.sqtt.decode import native_core
from tracekit.sqtt.phase import Phase, lag_table
from tracekit.sqtt.raw import RawStream
from tracekit.sqtt.rows import Rows, releases, wave_blocks

_CATEGORY = np.array(CATEGORY_OF_TYPE, np.uint8)  # a record has no other type
#: Records handled at once: temporaries stay small and in cache.
_BLOCK = 1 << 15


_Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]


def exact_rows(
    raw: RawStream,
    row: NDArray[np.int32],
    barrier: NDArray[np.bool_],
    phase: Phase,
    implementation: str | None = None,
) -> Rows:
    """Rows in exact timing.

    ``row``: listing row per record (-1 unstitched); ``barrier``: per listing row, whether it
    is s_barrier, with one False appended.  Columns of ``raw`` and ``row`` are overwritten:
    on a million instructions a second copy is what memory is short of.  The core does the
    same in one loop ("native", the default where it was built and nothing was replayed);
    "python" is this module.
    """
    core = None if implementation == "python" or len(raw.replays) else native_core()
    if core is None:
        return _reference(raw, row, barrier, phase)
    category, wave_counts, released, release = core.exact(
        raw.type, raw.issue, raw.typed, raw.stall, raw.epoch, raw.flags, row,
        raw.waves["first"], raw.waves["count"], raw.waves["simd"], _turn(raw),
        lag_table(phase).ravel(), barrier, _CATEGORY,
    )  # fmt: skip
    out = int(wave_counts.sum())
    return Rows(
        time=raw.issue[:out],
        stall=raw.stall[:out],
        duration=raw.typed[:out],
        released=released,
        release=release,
        category=category[:out],
        type=raw.type[:out],
        row=row[:out],
        wave_counts=wave_counts,
    )


def _turn(raw: RawStream) -> NDArray[np.uint8]:
    """-timestamp mod 4 of each epoch, and one more that epoch -1 picks."""
    return np.append(-raw.epochs["timestamp"] & 3, 0).astype(np.uint8)


def _reference(
    raw: RawStream, row: NDArray[np.int32], barrier: NDArray[np.bool_], phase: Phase
) -> Rows:
    barriers: list[NDArray[np.int64]] = []
    category = np.empty(raw.records, np.uint8)
    counts, firsts = raw.waves["count"], raw.waves["first"]
    wave_counts = counts.copy()
    replayed = dict(raw.replays.tolist())
    lags = lag_table(phase).ravel()
    turn = _turn(raw)
    early = bool(len(turn) == 1) or bool((raw.epoch < 0).any())
    out = 0
    for wave_first, wave_last in wave_blocks(counts, _BLOCK):
        waves = slice(wave_first, wave_last)
        start = int(firsts[wave_first])
        rows = slice(start, start + int(counts[waves].sum()))
        first = np.zeros(rows.stop - start, bool)
        first[(firsts[waves] - start)[counts[waves] > 0]] = True
        released = releases(raw, row, barrier, first, rows)
        shift = turn[raw.epoch[rows]]
        shift += np.repeat(raw.waves["simd"][waves].astype(np.uint8), counts[waves])
        shift &= 3
        if early:
            shift[raw.epoch[rows] < 0] = 4
        usual = lags[raw.type[rows].astype(np.int16) * np.int16(5) + shift]
        columns = _block(raw, rows, first, released, _true_end(raw, rows, usual, replayed))
        freed = np.flatnonzero(released)
        # A barrier's row is the record before its release; each release before it is gone.
        barriers.append(
            np.stack([out + freed - 1 - np.arange(len(freed)), raw.issue[start + freed]])
        )
        out = _store(raw, row, rows, released, columns, category, out)
        if len(freed):
            numbers = np.repeat(np.arange(wave_first, wave_last), counts[waves])
            np.subtract.at(wave_counts, numbers[released], 1)
    freed_rows, release = np.concatenate([np.empty((2, 0), np.int64), *barriers], axis=1)
    return Rows(
        time=raw.issue[:out],
        stall=raw.stall[:out],
        duration=raw.typed[:out],
        released=freed_rows,
        release=release,
        category=category[:out],
        type=raw.type[:out],
        row=row[:out],
        wave_counts=wave_counts,
    )


def _store(  # noqa: PLR0913 - writes several columns in place
    raw: RawStream,
    row: NDArray[np.int32],
    rows: slice,
    released: NDArray[np.bool_],
    columns: _Block,
    category: NDArray[np.uint8],
    out: int,
) -> int:
    """Write the kept rows of a block from ``out`` on; returns the next free place.

    It never runs ahead of ``rows``: what it overwrites has been read.
    """
    sources: list[NDArray[Any]] = [*columns, raw.type[rows], row[rows]]
    targets: list[NDArray[Any]] = [raw.issue, raw.stall, raw.typed, category, raw.type, row]
    keep = np.flatnonzero(~released) if released.any() else None
    size = len(released) if keep is None else len(keep)
    for target, source in zip(targets, sources, strict=True):
        target[out : out + size] = source if keep is None else source.take(keep)
    return out + size


def _true_end(
    raw: RawStream, rows: slice, usual: NDArray[np.int16], replayed: dict[int, int]
) -> NDArray[np.int64]:
    """When each record ends: issue + cost, completion + 4, or the last XNACK replay + 4.

    ``usual``: ticks from issue to INST token that cost nothing extra.
    """
    kind = raw.type[rows]
    issue, typed = raw.issue[rows], raw.typed[rows]
    end: NDArray[np.int64] = typed - issue
    end >>= 2
    end -= usual
    np.maximum(end, 0, out=end)
    end <<= 2
    end += issue
    end += TICK
    left = np.flatnonzero(((kind == INST_CONTEXT) | (kind == Inst.GO_TO_TRAP)) & (typed >= 0))
    end[left] = typed[left] + TICK
    for record, time in replayed.items():
        if rows.start <= record < rows.stop:
            at = record - rows.start
            end[at] = max(end[at], time + TICK)
    return end


def _block(
    raw: RawStream,
    rows: slice,
    first: NDArray[np.bool_],
    released: NDArray[np.bool_],
    end: NDArray[np.int64],
) -> _Block:
    """(time, stall, duration, category) of a block of whole waves."""
    kind = raw.type[rows]
    issue, refused = raw.issue[rows], raw.stall[rows]
    time = np.where(refused >= 0, refused, issue)
    stall = issue - time
    category = _CATEGORY[kind]
    # IMMED: inside the instruction since the one before it ended.
    immed = np.flatnonzero((kind == INST_IMMED) & ~released)
    since = np.where(first[immed], issue[immed], np.minimum(end[immed - 1], issue[immed]))
    time[immed] = since
    stall[immed] = end[immed] - since
    # s_barrier: from the first attempt to arrive until its release.
    freed = np.flatnonzero(released)
    arrived = freed - 1
    end[arrived] = end[freed]
    category[arrived] = Category.IMMED
    end -= time
    return time, stall, end, category
