"""Bootstrap over waves and iterations: how far a number moves when they are drawn again.

Clusters (waves, or SIMDs) are drawn with replacement, then the iterations within each drawn
cluster.  The seed is fixed: the same capture gives the same interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.int64]
Floats = NDArray[np.float64]

REPLICATES = 1000
#: Percentiles of a 95 % interval.
INTERVAL = (2.5, 97.5)
_SEED = 20260922


def weights(cluster: NDArray[np.int64], stream: int = 0) -> Weights:
    """How often each of n units is drawn: REPLICATES x n.

    ``cluster`` numbers the cluster of each unit, sorted; ``stream`` separates captures.
    """
    generator = np.random.default_rng((_SEED, stream))
    _, sizes = np.unique(cluster, return_counts=True)
    count = len(sizes)
    drawn = generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES)
    parts = [
        generator.multinomial(drawn[:, i] * size, np.full(size, 1 / size))
        for i, size in enumerate(sizes.tolist())
    ]
    return np.concatenate(parts, axis=1).astype(np.int64)


def ratios(values: Floats, cycles: Floats, drawn: Weights) -> Floats:
    """Sum of values (n x k) over sum of cycles (n) in each replicate: REPLICATES x k."""
    total = drawn @ cycles
    result: Floats = (drawn @ values) / np.where(total > 0, total, 1)[:, None]
    return result


def medians(values: Floats, drawn: Weights) -> Floats:
    """Weighted median of n values in each replicate (the mean of two middle ones)."""
    order = np.argsort(values, kind="stable")
    ranked, running = values[order], np.cumsum(drawn[:, order], axis=1)
    total = running[:, -1:]
    low = (running * 2 >= total).argmax(1)
    high = (running * 2 > total).argmax(1)
    result: Floats = (ranked[low] + ranked[high]) / 2
    return result


def interval(differences: Floats) -> tuple[float, float]:
    """The 95 % interval of replicated differences."""
    low, high = np.percentile(differences, INTERVAL)
    return float(low), float(high)
