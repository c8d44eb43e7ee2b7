"""How exact the times of a capture are, and whether cycles can be turned into time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.checks.findings import Finding
from tracekit.tables.timeline import Timeline

#: Change of the shader clock, within a stream or between SEs, that makes cycles and time
#: tell different stories.
DRIFT = 0.05
#: Ticks of the realtime counter between two pairs that tell the clock to 1 %.
LEAST_TICKS = 100


def times(timeline: Timeline) -> Iterator[Finding]:
    """How exact the times are."""
    if timeline.decoded:
        yield Finding(
            "decoded_only", "info", None,
            "decoded JSON has AMD's times: up to 4 cycles off in some records",
            "open the .att streams for exact times",
        )  # fmt: skip
        return
    streams = timeline.streams
    traced = streams["instructions"] > 0
    unknown = int((traced & (streams["phase"] < 0)).sum())
    if unknown:
        yield Finding(
            "phase_unknown", "info", unknown,
            f"{unknown} of {int(traced.sum())} streams do not tell the phase of their tick: "
            "times are within 4 cycles", "a longer trace",
        )  # fmt: skip


def drift(timeline: Timeline) -> Iterator[Finding]:
    """Shader clock against the realtime counter."""
    mhz = _megahertz(timeline)
    if not len(mhz):
        yield Finding(
            "clock_unknown", "info", None,
            "no two pairs of shader clock and realtime counter that are far enough apart: cycles "
            "cannot be turned into time",
            "a newer rocprofv3 writes them",
        )  # fmt: skip
        return
    slow, fast = float(mhz.min()), float(mhz.max())
    spread = fast / slow - 1
    if spread > DRIFT:
        yield Finding(
            "clock_drift", "warning", spread,
            f"the shader clock varies between {slow:.0f} and {fast:.0f} MHz: equal cycles are "
            "not equal time", "a fixed clock, warm-up launches, a shorter kernel",
        )  # fmt: skip
    else:
        between = f"{slow:.0f} to {fast:.0f}" if round(fast) > round(slow) else f"{slow:.0f}"
        yield Finding("clock", "info", spread, f"shader clock {between} MHz")


def _megahertz(timeline: Timeline) -> NDArray[np.float64]:
    """The shader clock between neighbouring pairs of every SE that are far enough apart."""
    table = timeline.clock
    if len(table) < 2:
        return np.empty(0)
    se, time, ticks = (table[name].to_numpy() for name in ("se", "time", "realtime"))
    order = np.lexsort((time, ticks, se))
    se, time, ticks = se[order], time[order], ticks[order]
    # The first pair of every LEAST_TICKS: newer tools write many, too close to tell.
    block = ticks // LEAST_TICKS
    kept = np.flatnonzero(np.append(True, (se[1:] != se[:-1]) | (block[1:] != block[:-1])))
    hertz = table["frequency_hz"].to_numpy()[order][kept][1:]
    se, cycles, passed = se[kept], np.diff(time[kept]), np.diff(ticks[kept])
    good = (se[1:] == se[:-1]) & (passed >= LEAST_TICKS) & (cycles > 0)
    mhz: NDArray[np.float64] = cycles[good] / passed[good] * hertz[good] / 1e6
    return mhz


CHECKS: tuple[Callable[[Timeline], Iterator[Finding]], ...] = (times, drift)
