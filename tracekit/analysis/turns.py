"""What happens in each iteration of a SIMD: the units that a comparison draws from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.causes import CAUSES, Causes, SimdCauses
from tracekit.analysis.iterations import fold
from tracekit.analysis.model.intervals import Intervals, intersect, overlap_cycles, subtract, union
from tracekit.analysis.model.loops import WAVE
from tracekit.analysis.model.simds import vector_use
from tracekit.analysis.model.window import STEADY_ITERATIONS

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

#: Shares of the window; each cause is one more.
SHARES = ("matrix", "vector", "overlap", "matrix_idle")


@dataclass(frozen=True)
class Turns:
    """One SIMD, or several: ``cycles`` (n) of the window and ``values`` (n x len(SHARES) +
    len(CAUSES)) of each piece; ``cluster`` (n): the wave whose iteration it is.
    ``lengths`` and ``owner``: iterations of all waves but the first and the last of each."""

    cycles: Array
    values: Array
    cluster: Array
    lengths: Array
    owner: Array

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the window per value."""
        total = max(int(self.cycles.sum()), 1)
        result: NDArray[np.float64] = self.values.sum(0) / total
        return result

    @property
    def iteration(self) -> float | None:
        """Median cycles of an iteration of one wave; None without a loop."""
        return float(np.median(self.lengths)) if len(self.lengths) else None


def turns(simd: SimdCauses, found: Causes) -> Turns:
    """The window of one SIMD cut at the iterations of the oldest wave in the loop."""
    folded = fold(simd, found.loops)
    window = simd.window.intervals
    pieces = Intervals(folded.begin, folded.end)
    rest = subtract(window, pieces)
    start = np.concatenate([folded.begin, rest.start])
    end = np.concatenate([folded.end, rest.end])
    cluster = np.concatenate([folded.wave, np.full(len(rest), -1)])
    cycles = overlap_cycles(start, end, window)
    kept = np.flatnonzero(cycles)
    kept = kept[np.argsort(cluster[kept], kind="stable")]
    start, end = start[kept], end[kept]
    matrix = intersect(simd.matrix.busy, window)
    vector = intersect(union(*vector_use(simd.simd)), window)
    layers = [matrix, vector, intersect(matrix, vector), simd.idle]
    layers += [
        Intervals(simd.start[simd.cause == number], simd.end[simd.cause == number])
        for number in range(len(CAUSES))
    ]
    values = np.stack([overlap_cycles(start, end, layer) for layer in layers], axis=1)
    lengths, owner = _lengths(simd, found)
    return Turns(cycles[kept], values, cluster[kept], lengths, owner)


def inner(simd: SimdCauses, found: Causes) -> pd.DataFrame:
    """The iterations of all waves of the SIMD but the first and the last of each."""
    table = found.loops.of_dominant(simd.simd.dispatch)
    own = (table["se"] == simd.simd.se) & (table["simd"] == simd.simd.simd)
    table = table[own.to_numpy()]
    most = table.groupby(list(WAVE))["iteration"].transform("max")
    kept = (table["iteration"] > 0) & (table["iteration"] < most)
    return table[(kept | (most < STEADY_ITERATIONS - 1)).to_numpy()]


def _lengths(simd: SimdCauses, found: Causes) -> tuple[Array, Array]:
    """Cycles of the inner iterations of all waves of the SIMD, and their waves."""
    table = inner(simd, found)
    key = table["slot"].to_numpy().astype(np.int64) << 32 | table["wave"].to_numpy()
    length = (table["end"] - table["begin"]).to_numpy().astype(np.int64)
    order = np.argsort(key, kind="stable")
    return length[order], key[order]


def joined(parts: list[Turns]) -> Turns:
    """All SIMDs together; their waves stay apart."""
    number = np.arange(len(parts)) << 50
    return Turns(
        np.concatenate([part.cycles for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.cluster + n for part, n in zip(parts, number, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.owner + n for part, n in zip(parts, number, strict=True)]),
    )
