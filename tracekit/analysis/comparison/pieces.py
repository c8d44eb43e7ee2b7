"""The window of one CU cut at the iterations of its oldest wave: what noise is drawn from.

SIMDs of a CU meet at barriers and share its memory path: a piece holds all of them, so that
they are not taken for independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.causes import CAUSES, Causes, SimdCauses
from tracekit.analysis.iterations import fold
from tracekit.analysis.model.intervals import Intervals, intersect, overlap_cycles, union
from tracekit.analysis.model.simds import vector_use
from tracekit.analysis.turns import SHARES

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Pieces of a window without a loop.
WITHOUT_LOOP = 32


@dataclass(frozen=True)
class Pieces:
    """n pieces in order of time, sums over their SIMDs: ``cycles`` of the window;
    ``in_loop``: cycles times waves inside an iteration; ``iterations`` run by all waves;
    ``values``: n x (len(SHARES) + len(CAUSES)) cycles.

    An iteration that a piece or the window cuts counts by its matrix cycles in it: so many
    iterations' work was done.  One without an MFMA counts by time.
    """

    cycles: Floats
    in_loop: Floats
    iterations: Floats
    values: Floats
    edges: Array

    @property
    def table(self) -> Floats:
        """All columns: cycles, in_loop, iterations, values."""
        return np.column_stack([self.cycles, self.in_loop, self.iterations, self.values])


def pieces(simds: Sequence[SimdCauses], found: Causes) -> Pieces:
    """The pieces of SIMDs of one CU and dispatch; those outside of the window are left out."""
    edges = _edges(simds, found)
    sums = np.zeros((len(edges) + 1, 3 + len(SHARES) + len(CAUSES)))
    for simd in simds:
        sums += _of_simd(simd, found, edges)
    kept = sums[:, 0] > 0
    table = sums[kept]
    before = np.append(np.iinfo(np.int64).min, edges)
    return Pieces(table[:, 0], table[:, 1], table[:, 2], table[:, 3:], before[kept])


def _edges(simds: Sequence[SimdCauses], found: Causes) -> Array:
    """Where pieces meet."""
    begins = [fold(simd, found.loops).begin for simd in simds]
    most = max(begins, key=len)
    if len(most):
        return most[1:]
    window = union(
        np.concatenate([simd.window.intervals.start for simd in simds]),
        np.concatenate([simd.window.intervals.end for simd in simds]),
    )
    span = np.linspace(window.start[0], window.end[-1], WITHOUT_LOOP + 1)
    return span[1:-1].astype(np.int64)


def _of_simd(simd: SimdCauses, found: Causes, edges: Array) -> Floats:
    window = simd.window.intervals
    matrix = intersect(simd.matrix.busy, window)
    vector = intersect(union(*vector_use(simd.simd)), window)
    layers = [window, matrix, vector, intersect(matrix, vector), simd.idle]
    layers += [
        Intervals(simd.start[simd.cause == number], simd.end[simd.cause == number])
        for number in range(len(CAUSES))
    ]
    cycles, *values = (_sums(layer.start, layer.end, edges, window) for layer in layers)
    return np.column_stack([cycles, *_loop(simd, found, edges), *values])


def _loop(simd: SimdCauses, found: Causes, edges: Array) -> tuple[Floats, Floats]:
    """(wave cycles inside an iteration, iterations) of each piece."""
    view, window = simd.simd, simd.window.intervals
    table = found.loops.of_dominant(view.dispatch)
    own = (table["se"] == view.se) & (table["simd"] == view.simd)
    table = table[own.to_numpy()].sort_values("first")
    begin, end, first, last = (
        table[name].to_numpy().astype(np.int64) for name in ("begin", "end", "first", "last")
    )
    if not len(begin):
        return np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
    in_loop = _sums(begin, end, edges, window)
    at = view.rows[simd.matrix.order]
    mine = np.searchsorted(first, at, side="right") - 1
    inside = (mine >= 0) & (at < last[mine])
    mine, start, stop = mine[inside], simd.matrix.start[inside], simd.matrix.end[inside]
    work = np.bincount(mine, stop - start, minlength=len(begin))
    iterations = _sums(start, stop, edges, window, 1 / np.maximum(work, 1)[mine])
    idle = work == 0
    length = np.maximum(end - begin, 1)[idle]
    return in_loop, iterations + _sums(begin[idle], end[idle], edges, window, 1 / length)


def _sums(
    start: Array, end: Array, edges: Array, window: Intervals, weight: Floats | None = None
) -> Floats:
    """Cycles of the window in each piece that [start, end) cover, times their ``weight``."""
    low = np.searchsorted(edges, start, side="right")
    high = np.maximum(np.searchsorted(edges, end, side="left"), low)
    count = high - low + 1
    owner = np.repeat(np.arange(len(start)), count)
    piece = np.repeat(low - np.cumsum(count) + count, count) + np.arange(len(owner))
    limits = np.iinfo(np.int64)
    begins, ends = np.append(limits.min, edges), np.append(edges, limits.max)
    cycles = overlap_cycles(
        np.maximum(start[owner], begins[piece]), np.minimum(end[owner], ends[piece]), window
    )
    scaled = cycles if weight is None else cycles * weight[owner]
    result: Floats = np.bincount(piece, scaled, minlength=len(edges) + 1).astype(np.float64)
    return result
