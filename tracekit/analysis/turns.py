"""Inner iterations of a SIMD, and the shares of a window that a comparison draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.causes import Causes, SimdCauses
from tracekit.analysis.model.loops import WAVE
from tracekit.analysis.model.window import STEADY_ITERATIONS

if TYPE_CHECKING:
    import pandas as pd

#: Shares of the window; each cause is one more.
SHARES = ("matrix", "vector", "overlap", "matrix_idle")


def inner(simd: SimdCauses, found: Causes) -> pd.DataFrame:
    """The iterations of all waves of the SIMD but the first and the last of each."""
    table = found.loops.of_dominant(simd.simd.dispatch)
    own = (table["se"] == simd.simd.se) & (table["simd"] == simd.simd.simd)
    table = table[own.to_numpy()]
    most = table.groupby(list(WAVE))["iteration"].transform("max")
    kept = (table["iteration"] > 0) & (table["iteration"] < most)
    return table[(kept | (most < STEADY_ITERATIONS - 1)).to_numpy()]
