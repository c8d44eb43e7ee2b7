"""Rows of decoded JSON that cannot be true, told by themselves and by the wave they are of.

In all public captures rows are in order, stall no longer than they last, and no more than
a tick beyond their wave's end.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import CATEGORY_OF_TYPE, TICK, Category
from tracekit.isa.listing import Listing

#: No time of the shader clock is later: 17 years at 2 GHz.
LATEST = 1 << 60
#: No traced wave lives longer: 9 minutes at 2 GHz.
LONGEST = 1 << 40

#: INST types of each category, as bits.
_TYPES = np.array(
    [
        sum(1 << kind for kind, of in enumerate(CATEGORY_OF_TYPE) if of == category)
        for category in Category
    ],
    np.uint64,
)
#: Categories that say nothing about the line.
_SILENT = (Category.NONE, Category.CONTEXT)


def sound_life(begin: int, end: int) -> bool:
    """Whether a wave can have lived from ``begin`` to ``end`` (cycles)."""
    return 0 <= begin <= end < LATEST and end - begin < LONGEST


def sound_rows(table: NDArray[np.int64], begin: int, end: int) -> NDArray[np.bool_]:
    """Which instructions (time, category, stall, duration, ...) a wave can have executed.

    They lie within its life, stall no longer than they last, and are in order: of those
    that are not, as few as possible are left out.
    """
    time, category, stall, duration = (table[:, column] for column in range(4))
    sound = (time >= begin - TICK) & (time <= end + TICK)
    sound &= (duration >= 0) & (duration <= end + TICK - np.where(sound, time, 0))
    sound &= (stall >= 0) & (stall <= duration)
    sound &= (category >= 0) & (category <= max(Category))
    kept = np.flatnonzero(sound)
    ordered = np.zeros(len(table), bool)
    ordered[kept[_in_order(time[kept])]] = True
    return ordered


def _in_order(time: NDArray[np.int64]) -> NDArray[np.intp]:
    """Indices of a longest part of ``time`` that does not descend."""
    if not (np.diff(time) < 0).any():
        return np.arange(len(time))
    tails: list[int] = []  # last time of a best part of each length
    at: list[int] = []  # where that one is
    before = np.full(len(time), -1)
    for index, value in enumerate(time.tolist()):
        length = bisect_right(tails, value)
        tails[length : length + 1] = [value]
        at[length : length + 1] = [index]
        before[index] = at[length - 1] if length else -1
    found = [at[-1]]
    while before[found[-1]] >= 0:
        found.append(int(before[found[-1]]))
    return np.array(found[::-1], np.intp)


def contradicted(
    listing: Listing, row: NDArray[np.int32], category: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which instructions are of another category than the line that they name."""
    accept = np.append(listing.accept, np.uint64(0))[row]
    wanted = _TYPES[np.clip(category, 0, len(_TYPES) - 1)]
    wrong: NDArray[np.bool_] = (row >= 0) & ~np.isin(category, _SILENT) & (accept & wanted == 0)
    return wrong
