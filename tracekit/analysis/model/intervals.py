"""Sets of half-open intervals of cycles: sorted, disjoint, as two int64 arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.int64]


class Intervals(NamedTuple):
    """``start[i] <= cycle < end[i]``; sorted, no two touch or overlap."""

    start: Array
    end: Array

    @property
    def cycles(self) -> int:
        """Cycles covered."""
        return int((self.end - self.start).sum())

    def __len__(self) -> int:
        return len(self.start)


def union(start: ArrayLike, end: ArrayLike) -> Intervals:
    """The set covered by intervals in any order (empty ones vanish)."""
    first, last = np.asarray(start, np.int64), np.asarray(end, np.int64)
    kept = last > first
    first, last = first[kept], last[kept]
    if not len(first):
        return Intervals(first, last)
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    fresh = np.append(True, first[1:] > last[:-1])
    return Intervals(first[fresh], last[np.append(fresh[1:], True)])


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """The cycles in both sets."""
    if not len(a) or not len(b):
        return Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    # Each interval of a meets the run of b from the first that ends after it starts.
    low = np.searchsorted(b.end, a.start, side="right")
    high = np.searchsorted(b.start, a.end, side="left")
    counts = np.maximum(high - low, 0)
    mine = np.repeat(np.arange(len(a)), counts)
    offset = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    other = np.repeat(low, counts) + offset
    return Intervals(
        np.maximum(a.start[mine], b.start[other]), np.minimum(a.end[mine], b.end[other])
    )


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """The cycles of ``a`` that are not in ``b``."""
    if not len(a) or not len(b):
        return a
    edges = np.iinfo(np.int64)
    gaps = Intervals(np.append(edges.min, b.end), np.append(b.start, edges.max))
    return intersect(a, gaps)


def overlap_cycles(start: Array, end: Array, within: Intervals) -> Array:
    """Cycles of each interval [start, end) that lie in ``within``."""
    covered = np.append(0, np.cumsum(within.end - within.start))

    def below(t: Array) -> Array:
        at = np.searchsorted(within.start, t, side="right")
        before = covered[at]
        inside = np.append(0, within.end)[at] - t
        return before - np.where(at > 0, np.maximum(inside, 0), 0)

    result: Array = np.maximum(below(end) - below(start), 0)
    return result


def covered_twice(start: Array, end: Array) -> Intervals:
    """The cycles that two or more of the intervals cover."""
    edges = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start), np.int64), np.full(len(end), -1)])
    order = np.argsort(edges, kind="stable")
    edges, depth = edges[order], np.cumsum(change[order])
    twice = np.flatnonzero(depth[:-1] >= 2)
    return union(edges[twice], edges[twice + 1])
