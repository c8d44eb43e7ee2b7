"""The shader clock over time, from pairs of shader cycles and the realtime counter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("se", "pairs", "start", "end", "seconds", "min_mhz", "median_mhz", "max_mhz",
           "mean_mhz", "drift")  # fmt: skip
INTERVAL_COLUMNS = ("se", "start", "end", "mhz")


@dataclass
class Clock:
    """``rows`` per SE (COLUMNS; ``drift``: last interval against the first, a fraction);
    ``intervals`` between neighbouring pairs (INTERVAL_COLUMNS)."""

    rows: pd.DataFrame
    intervals: pd.DataFrame

    @property
    def mhz(self) -> float | None:
        """Median over SEs of the mean clock; None when the trace does not tell."""
        return float(self.rows["mean_mhz"].median()) if len(self.rows) else None


def clock(timeline: Timeline) -> Clock:
    """Shader clock per SE in MHz; SEs with fewer than two pairs are left out.

    Two pairs of one realtime value say nothing and are skipped.
    """
    import pandas as pd

    rows: list[dict[str, object]] = []
    intervals: list[dict[str, object]] = []
    table = timeline.clock
    for se in sorted(set(table["se"].tolist())):
        part = table[table["se"] == se]
        part = part.sort_values("realtime")
        ticks, times = part["realtime"].to_numpy(), part["time"].to_numpy()
        fresh = np.append(True, np.diff(ticks) > 0)
        ticks, times = ticks[fresh], times[fresh]
        if len(ticks) < 2:
            continue
        hertz = float(part["frequency_hz"].iloc[0])
        mhz = np.diff(times) / np.diff(ticks) * hertz / 1e6
        seconds = float((ticks[-1] - ticks[0]) / hertz)
        rows.append(
            {
                "se": se, "pairs": len(ticks), "start": int(times[0]),
                "end": int(times[-1]), "seconds": seconds, "min_mhz": mhz.min(),
                "median_mhz": float(np.median(mhz)), "max_mhz": mhz.max(),
                "mean_mhz": (times[-1] - times[0]) / seconds / 1e6,
                "drift": mhz[-1] / mhz[0] - 1,
            }
        )  # fmt: skip
        intervals += [
            {"se": se, "start": a, "end": b, "mhz": f}
            for a, b, f in zip(times[:-1].tolist(), times[1:].tolist(), mhz.tolist(), strict=True)
        ]
    return Clock(
        pd.DataFrame(rows, columns=list(COLUMNS)),
        pd.DataFrame(intervals, columns=list(INTERVAL_COLUMNS)),
    )
