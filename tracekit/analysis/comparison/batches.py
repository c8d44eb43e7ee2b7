"""How far a run knows its own numbers: batch means over consecutive iterations.

Iterations that follow each other resemble each other (the memory is slow for a while, a
generation of waves keeps its lag): errors come from batches of them, leaving out one at a
time, and of all batch lengths that leave enough batches the one with the widest interval
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.comparison.estimates import Estimate, student
from tracekit.analysis.comparison.pieces import Pieces

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Fewer batches than this say little about their own spread.
BATCHES = 10


#: From sums of the columns of ``Pieces.table`` (n x k) to numbers (n x q).
Measure = Callable[[Floats], Floats]


def batches(parts: Sequence[Pieces], leading: Measure) -> list[Array]:
    """The batch of each piece of every CU (numbers count on over the CUs).

    The first number of ``leading`` is the one whose interval picks the length of a batch.
    """
    tables = [part.table for part in parts]
    best: list[Array] = []
    widest, length = -1.0, 1
    while True:
        made = _numbered([len(table) for table in tables], length)
        count = int(made[-1].max()) + 1 if made else 0
        if best and count < BATCHES:
            return best
        wide = float(errors(tables, made, leading)[0]) * student(count - 1)
        if not best or wide > widest:
            best, widest = made, wide
        if count < 2 * BATCHES or length > max(map(len, tables)):
            return best
        length *= 2


def _numbered(sizes: Sequence[int], length: int) -> list[Array]:
    made: list[Array] = []
    free = 0
    for size in sizes:
        count = max(size // length, 1)
        made.append(free + np.arange(size) * count // max(size, 1))
        free += count
    return made


def errors(tables: Sequence[Floats], numbers: Sequence[Array], measure: Measure) -> Floats:
    """Standard errors of ``measure`` of the column sums, leaving out one batch at a time; NaN
    for a single batch."""
    table, number = np.concatenate(tables), np.concatenate(numbers)
    count = int(number.max()) + 1
    sums = np.zeros((count, table.shape[1]))
    np.add.at(sums, number, table)
    total = sums.sum(0)
    if count < 2:
        return np.full(measure(total[None]).shape[1], np.nan)
    left = measure(total - sums)
    spread = ((left - left.mean(0)) ** 2).sum(0)
    result: Floats = np.sqrt(spread * (count - 1) / count)
    return result


def median(values: Floats, batch: Array) -> Estimate:
    """The median of ``values``, whose batches are drawn together (Woodruff's interval)."""
    center = float(np.median(values))
    _, number = np.unique(batch, return_inverse=True)
    count = int(number.max()) + 1
    if count < 2:
        return Estimate(center, float("nan"), 1)
    above = np.where(values > center, 1.0, np.where(values < center, 0.0, 0.5))
    sums = np.bincount(number, above - above.mean())
    error = np.sqrt((sums**2).sum() * count / (count - 1)) / len(values)
    reach = student(count - 1) * float(error)
    low, high = np.quantile(values, [max(0.5 - reach, 0), min(0.5 + reach, 1)])
    return Estimate(center, float(high - low) / (2 * student(count - 1)), count - 1)


def mean(values: Floats, cluster: Array) -> tuple[Floats, Floats, int]:
    """(means, errors, degrees of freedom) of the columns of ``values`` (n x k), whose clusters
    are drawn together; of a single cluster by its rows."""
    _, number = np.unique(cluster, return_inverse=True)
    if number.max(initial=0) == 0:
        number = np.arange(len(values))
    count = int(number.max()) + 1
    means: Floats = values.mean(0)
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, number, values - means)
    scale = count / (count - 1) if count > 1 else np.nan
    found: Floats = np.sqrt((sums**2).sum(0) * scale) / len(values)
    return means, found, max(count - 1, 1)
