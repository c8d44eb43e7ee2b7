"""How many waves were resident, what limits them, and how the launch drained over the CUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals
from tracekit.analysis.model.simds import Simd
from tracekit.analysis.model.window import Window, residence
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

RESIDENT_COLUMNS = ("se", "cu", "simd", "dispatch", "window", "waves", "cycles", "share")
LIMIT_COLUMNS = (
    "dispatch", "kernel", "waves_per_workgroup", "vgprs", "lds_bytes", "by_vgprs", "by_lds",
    "by_workgroup", "possible", "observed", "limiter",
)  # fmt: skip
TAIL_COLUMNS = (
    "se", "dispatch", "cus", "waves", "begin", "end", "first_cu_done", "tail_cycles",
    "tail_share", "empty_share",
)  # fmt: skip
LANES, SIMDS = 64, 4
#: Waves that a SIMD of gfx90a and later can hold, and registers of each of its lanes (VGPRs and
#: AGPRs together, given out in blocks of GRANULE).  Source: LLVM, AMDGPUBaseInfo.
WAVES, REGISTERS, GRANULE = 8, 512, 8
#: Bytes of LDS of a CU, and of the unit of COMPUTE_PGM_RSRC2.  Source: LLVM, AMDGPUUsage; the
#: FP4 GEMM (gfx950) addresses 135,168 bytes with 109 units.
LDS = {"gfx90a": (65536, 512), "gfx942": (65536, 512), "gfx950": (163840, 1280)}
#: Unit in which the dispatch table counts LDS, whatever the architecture.
_TABLE_UNIT = 512


def residents(timeline: Timeline, chosen: Sequence[tuple[Simd, Window]]) -> pd.DataFrame:
    """Cycles of each SIMD's window with 0, 1, 2, ... resident waves (RESIDENT_COLUMNS).

    A wave is resident from WAVE_START to WAVE_END; ``share`` is of the window's cycles.
    """
    import pandas as pd

    rows = []
    for simd, window in chosen:
        _, begin, end = residence(timeline, simd)
        cycles = _by_count(begin, end, window.intervals)
        for count, here in enumerate(cycles.tolist()):
            rows.append((simd.se, simd.cu, simd.simd, simd.dispatch, window.label, count, here,
                         here / window.cycles if window.cycles else None))  # fmt: skip
    return pd.DataFrame(rows, columns=list(RESIDENT_COLUMNS))


def _by_count(begin: Array, end: Array, within: Intervals) -> Array:
    """Cycles with 0, 1, ... intervals [begin, end) around them."""
    time = np.concatenate([begin, end, within.start, within.end]).astype(np.int64)
    waves, inside = np.zeros(len(time), np.int64), np.zeros(len(time), np.int64)
    n, m = len(begin), len(within)
    waves[:n], waves[n : 2 * n] = 1, -1
    inside[2 * n : 2 * n + m], inside[2 * n + m :] = 1, -1
    order = np.argsort(time, kind="stable")
    length = np.diff(time[order])
    count = np.cumsum(waves[order])[:-1]
    covered = np.cumsum(inside[order])[:-1] > 0
    return np.bincount(count[covered], length[covered]).astype(np.int64)


def limits(timeline: Timeline) -> pd.DataFrame:
    """Waves of a SIMD that each dispatch's registers allow (LIMIT_COLUMNS), and what limits.

    ``by_...``: waves a SIMD that VGPRs, LDS and whole workgroups allow; ``possible`` the least;
    ``observed`` the most that were resident at once.  ``limiter``: "grid" where fewer were than
    possible (too few workgroups, or the trace shows the launch's end), else what allows least:
    "vgprs", "lds" or "vgprs+lds", "workgroup" where its size leaves registers over, "waves" where
    the SIMD's slots do.  Empty without dispatch registers: it is unknown.
    """
    import pandas as pd

    known = timeline.dispatches.drop_duplicates("dispatch")
    capacity, unit = LDS[timeline.arch.name]
    rows = []
    for row in known.to_dict("records"):
        threads = int(row["threads_x"]) * int(row["threads_y"]) * int(row["threads_z"])
        size = max(-(-threads // LANES), 1)
        vgprs = max(-(-int(row["vgprs"]) // GRANULE) * GRANULE, GRANULE)
        lds = int(row["lds_bytes"]) // _TABLE_UNIT * unit
        by_vgprs = min(REGISTERS // vgprs, WAVES)
        # A workgroup starts as a whole: its waves spread over the SIMDs of the CU.
        groups = max(by_vgprs * SIMDS // size, 1)
        by_lds = min(-(-(capacity // lds) * size // SIMDS), WAVES) if lds else WAVES
        by_workgroup = min(-(-groups * size // SIMDS), WAVES)
        possible = min(by_vgprs, by_lds, by_workgroup)
        observed = _most(timeline, int(row["dispatch"]))
        allowed = {"vgprs": by_vgprs, "lds": by_lds}
        binds = [name for name, waves in allowed.items() if waves == possible < WAVES]
        binds = binds or ["workgroup" if possible < WAVES else "waves"]
        rows.append((row["dispatch"], row["kernel"], size, vgprs, lds, by_vgprs, by_lds,
                     by_workgroup, possible, observed,
                     "grid" if observed < possible else "+".join(binds)))  # fmt: skip
    return pd.DataFrame(rows, columns=list(LIMIT_COLUMNS))


def _most(timeline: Timeline, dispatch: int) -> int:
    """The most waves of a dispatch that were resident on one SIMD at once."""
    waves = timeline.waves[timeline.waves["dispatch"] == dispatch]
    most = 0
    for _, part in waves.groupby(["se", "cu", "simd"]):
        begin, end = np.sort(part["begin"].to_numpy()), np.sort(part["end"].to_numpy())
        over = np.searchsorted(end, begin, side="right")
        most = max(most, int((np.arange(1, len(begin) + 1) - over).max()))
    return most


def tail(timeline: Timeline) -> pd.DataFrame:
    """How each dispatch drained over the CUs of an SE, by the occupancy rows (TAIL_COLUMNS).

    ``first_cu_done``: the first CU has run its last wave; ``tail_cycles`` from there to
    ``end``, the last wave's; ``empty_share``: CU-cycles of the launch after a CU's last wave.
    Clocks of SEs are not aligned, so each stands for itself.
    """
    import pandas as pd

    rows = []
    table = timeline.occupancy
    for (se, dispatch), part in table.groupby(["se", "dispatch"], sort=True):
        starts = part["start"].to_numpy().astype(bool)
        if not starts.any() or starts.all():
            continue
        begin = int(part["time"].to_numpy()[starts].min())
        done = part[~starts].groupby("cu")["time"].max().to_numpy()
        end, first = int(done.max()), int(done.min())
        length = max(end - begin, 1)
        rows.append((se, dispatch, len(done), int(starts.sum()), begin, end, first, end - first,
                     (end - first) / length, float((end - done).mean() / length)))  # fmt: skip
    return pd.DataFrame(rows, columns=list(TAIL_COLUMNS))
