"""Bubble maps: idle time of the matrix pipe as a picture, in two foldings.

``by_offset`` folds the window on the dominant loop, iteration x offset, so that a bubble
that comes back every time is a vertical line; ``by_time`` is time x SIMD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.bubbles import CAUSE_COLUMNS
from tracekit.analysis.causes import CAUSES, Causes, SimdCauses
from tracekit.analysis.iterations import fold
from tracekit.analysis.model.intervals import Intervals, overlap_cycles

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

BINS = 64
_PLACE = ("se", "cu", "simd", "dispatch")
_CELL = ("window_cycles", "idle_cycles", "cause", *CAUSE_COLUMNS)
OFFSET_COLUMNS = (*_PLACE, "iteration", "offset", "width", *_CELL)
TIME_COLUMNS = (*_PLACE, "time", "width", *_CELL)


def by_offset(found: Causes, bins: int = BINS) -> pd.DataFrame:
    """Cells iteration x offset (OFFSET_COLUMNS) of every SIMD that runs the dominant loop.

    ``offset`` cycles since the iteration began, in cells of ``width`` cycles: the median
    iteration makes ``bins`` of them.  ``cause`` is that of most idle cycles of the cell.
    """
    tables = []
    for simd in found.simds:
        folded = fold(simd, found.loops)
        if not len(folded.begin):
            continue
        length = folded.end - folded.begin
        width = max(4, int(np.median(length)) // bins // 4 * 4)
        count = -(-length // width)
        iteration = np.repeat(np.arange(len(length)), count)
        step = np.arange(len(iteration)) - np.repeat(np.cumsum(count) - count, count)
        start = folded.begin[iteration] + step * width
        end = np.minimum(start + width, folded.end[iteration])
        table = _cells(simd, start, end, width)
        table["iteration"], table["offset"] = iteration, step * width
        tables.append(table[(table["window_cycles"] > 0).to_numpy()])
    return _joined(tables, OFFSET_COLUMNS)


def by_time(found: Causes, bins: int = 2 * BINS) -> pd.DataFrame:
    """Cells time x SIMD (TIME_COLUMNS): the hull of the windows of an SE in ``bins`` cells."""
    tables = []
    hulls: dict[tuple[int, int], tuple[int, int]] = {}
    for simd in found.simds:
        key = (simd.simd.se, simd.simd.dispatch)
        first, last = hulls.get(key, (simd.window.start, simd.window.end))
        hulls[key] = min(first, simd.window.start), max(last, simd.window.end)
    for simd in found.simds:
        first, last = hulls[simd.simd.se, simd.simd.dispatch]
        width = max(4, -(-(last - first) // bins // 4) * 4)
        start = np.arange(first, last, width)
        table = _cells(simd, start, start + width, width)
        table["time"] = start
        tables.append(table)
    return _joined(tables, TIME_COLUMNS)


def _joined(tables: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    if not tables:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(tables, ignore_index=True)[list(columns)]


def _cells(simd: SimdCauses, start: Array, end: Array, width: int) -> pd.DataFrame:
    """Window and idle cycles, and cycles per cause, of the cells [start, end)."""
    import pandas as pd

    view = simd.simd
    table = pd.DataFrame(
        {"se": view.se, "cu": view.cu, "simd": view.simd, "dispatch": view.dispatch,
         "width": np.full(len(start), width)}
    )  # fmt: skip
    table["window_cycles"] = overlap_cycles(start, end, simd.window.intervals)
    sums = np.zeros((len(start), len(CAUSES)), np.int64)
    for number in np.unique(simd.cause).tolist():
        own = simd.cause == number
        sums[:, number] = overlap_cycles(start, end, Intervals(simd.start[own], simd.end[own]))
    table["idle_cycles"] = sums.sum(1)
    names = np.array(CAUSES, object)[sums.argmax(1)] if len(sums) else np.empty(0, object)
    table["cause"] = np.where(table["idle_cycles"] > 0, names, "")
    for number, name in enumerate(CAUSE_COLUMNS):
        table[name] = sums[:, number]
    return table
