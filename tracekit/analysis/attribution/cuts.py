"""Pieces of time cut along sets of intervals, each keeping the number of what it was cut from.

Times may be keys of (number, time), so that one call cuts the pieces of all waves or SIMDs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals

Array = NDArray[np.int64]


class Cut(NamedTuple):
    """``of``: index of the piece that was cut; ``by``: index of the interval that cut it."""

    of: Array
    start: Array
    end: Array
    by: Array


def inside(start: Array, end: Array, within: Intervals) -> Cut:
    """The parts of the pieces that lie in ``within`` (whose intervals may touch)."""
    low = np.searchsorted(within.end, start, side="right")
    high = np.searchsorted(within.start, end, side="left")
    count = np.maximum(high - low, 0)
    of = np.repeat(np.arange(len(start)), count)
    by = np.repeat(low, count) + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    return Cut(of, np.maximum(start[of], within.start[by]), np.minimum(end[of], within.end[by]), by)


def outside(start: Array, end: Array, without: Intervals) -> Cut:
    """The parts of the pieces that are not in ``without``."""
    edges = np.iinfo(np.int64)
    gaps = Intervals(np.append(edges.min, without.end), np.append(without.start, edges.max))
    return inside(start, end, gaps)


def along(start: Array, end: Array, marks: Array) -> Cut:
    """The pieces cut at the sorted times ``marks``; ``by`` counts the marks at or before each."""
    edges = np.iinfo(np.int64)
    return inside(start, end, Intervals(np.append(edges.min, marks), np.append(marks, edges.max)))
