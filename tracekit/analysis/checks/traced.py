"""Which waves were traced: on SIMDs that the recording asked for and that gave instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import SIMDS
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


def traced_waves(timeline: Timeline) -> pd.DataFrame:
    """Rows of ``timeline.waves`` whose instructions were traced.

    Starts and ends of waves are in the stream for all SIMDs of the CU, instructions for
    those of ``simd_mask``.  An engine of which no SIMD that was asked for gave instructions
    keeps those that were asked for.
    """
    waves, streams = timeline.waves, timeline.streams
    se, simd = waves["se"].to_numpy(), waves["simd"].to_numpy()
    asked: NDArray[np.bool_] = np.ones(len(waves), bool)
    masks = streams.groupby("se")["simd_mask"].agg(np.bitwise_or.reduce)
    for engine, mask in masks.items():
        if mask & (1 << SIMDS) - 1:
            asked &= (se != engine) | (mask >> simd & 1 != 0)
    counts = waves.assign(asked=asked).groupby(["se", "simd"])["instructions"].transform("sum")
    seen = asked & (counts > 0).to_numpy()
    having = set(se[seen].tolist())
    kept = seen | (asked & ~np.isin(se, list(having)))
    return waves[kept]
