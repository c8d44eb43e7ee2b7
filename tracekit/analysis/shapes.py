"""MFMA opcodes that ran, how much of the chip's peak they can and do reach, and hazard time.

A pipe can be busy all the time and do half the work: opcodes of older chips keep their
cycles on gfx950 with half the K, and an f8f6f4 with one FP8 operand takes twice the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.activity import Activity, Doing, activity, codes
from tracekit.analysis.model.simds import each_simd
from tracekit.analysis.model.window import DEFAULT, Windows
from tracekit.isa.listing import Pipe
from tracekit.isa.mfma import PEAK, faster, row
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("dispatch", "opcode", "kind", "executed", "cycles", "matrix_cycles", "flop",
           "busy_share", "peak_share", "rate", "flag")  # fmt: skip
WAIT_COLUMNS = ("se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles",
                "intervals", "waves", "wave_cycles", "nop_cycles", "lgkmcnt_wait_cycles",
                "vmcnt_wait_cycles", "barrier_cycles", "refused_cycles", "gap_cycles",
                "rest_cycles")  # fmt: skip
#: Matrix pipes of a CU.
PIPES = 4
SLOW_FORMAT = "FP8 or BF8 operand: FP6, BF6 or FP4 in both would take half the cycles"


@dataclass
class Shapes:
    """``rows``: per MFMA opcode (COLUMNS); ``waits``: wave cycles per SIMD by state
    (WAIT_COLUMNS), with s_nop time apart from other stalls."""

    rows: pd.DataFrame
    waits: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def shapes(timeline: Timeline, window: str = DEFAULT) -> Shapes:
    """MFMA opcodes over ``window``, all SIMDs of a dispatch together.

    ``busy_share``: their cycles / window cycles; ``peak_share``: their operations / what a
    SIMD's pipe could do in the window at the peak rate of their kind; ``rate``: one over
    the other (0.5 for a half-rate opcode).  Sparse opcodes have no peak in the tables.
    """
    return shapes_in(Windows(timeline, window))


def shapes_in(windows: Windows) -> Shapes:
    """``shapes`` of the timeline and in the window of ``windows``."""
    import pandas as pd

    timeline = windows.timeline
    table = codes(timeline.listing, timeline.costs)
    cycles: dict[int, int] = {}
    executed: dict[int, NDArray[np.int64]] = {}
    waits: list[dict[str, object]] = []
    notes: dict[str, None] = {}
    for simd in each_simd(timeline):
        chosen = windows.of(simd)
        if chosen.note:
            notes[chosen.note] = None
        inside = _inside(simd.issue, chosen.intervals.start, chosen.intervals.end)
        rows = simd.row[inside & (simd.pipe == Pipe.MATRIX) & (simd.row >= 0)]
        counts = np.bincount(rows, minlength=len(timeline.listing))
        executed[simd.dispatch] = executed.get(simd.dispatch, 0 * counts) + counts
        cycles[simd.dispatch] = cycles.get(simd.dispatch, 0) + chosen.cycles
        doing = activity(timeline, simd, table)
        waits.append(
            {
                "se": simd.se, "cu": simd.cu, "simd": simd.simd, "dispatch": simd.dispatch,
                "window": chosen.label, "start": chosen.start, "end": chosen.end,
                "window_cycles": chosen.cycles, "intervals": len(chosen.intervals),
                **_waits(doing, chosen.intervals.start, chosen.intervals.end),
            }
        )  # fmt: skip
    found = [
        line
        for dispatch, counts in sorted(executed.items())
        for line in _opcodes(timeline, dispatch, counts, cycles[dispatch])
    ]
    if not found:
        notes["no MFMA ran in the window"] = None
    return Shapes(
        pd.DataFrame(found, columns=list(COLUMNS)),
        pd.DataFrame(waits, columns=list(WAIT_COLUMNS)),
        list(notes),
    )


def _inside(
    time: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.bool_]:
    at = np.searchsorted(start, time, side="right") - 1
    inside: NDArray[np.bool_] = (at >= 0) & (time < np.append(end, 0)[at])
    return inside


def _opcodes(
    timeline: Timeline, dispatch: int, counts: NDArray[np.int64], window: int
) -> list[dict[str, object]]:
    listing, costs, arch = timeline.listing, timeline.costs, timeline.arch.name
    groups: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(counts).tolist():
        name = listing.text[at].split()[0]
        groups.setdefault((name, str(costs.klass[at])), []).append(at)
    rows: list[dict[str, object]] = []
    for (name, kind), members in groups.items():
        number = int(counts[members].sum())
        each = int(costs.cycles[members[0]])
        entry = row(arch, listing.text[members[0]])
        flop = None if entry is None else entry.flop
        peak = PEAK[arch].get(kind)
        rate = flop * PIPES / each / peak if flop and peak and each > 0 else None
        rows.append(
            {
                "dispatch": dispatch, "opcode": name, "kind": kind, "executed": number,
                "cycles": each if each >= 0 else None,
                "matrix_cycles": number * each if each >= 0 else None,
                "flop": number * flop if flop else None,
                "busy_share": number * each / window if each >= 0 and window else None,
                "peak_share": number * flop * PIPES / peak / window
                if flop and peak and window else None,
                "rate": rate,
                "flag": _flag(arch, listing.text[members[0]], kind),
            }
        )  # fmt: skip
    return sorted(rows, key=lambda line: -int(line["matrix_cycles"] or 0))  # type: ignore[call-overload]


def _flag(arch: str, text: str, kind: str) -> str:
    """What to know of an opcode; empty for nothing."""
    if kind == "f8f6f4_fp8":
        return SLOW_FORMAT
    quicker = None if kind.startswith("sparse") else faster(arch, text)
    if quicker is None:
        return ""
    name, times = quicker
    rate = "half rate" if times == 2 else f"1/{times:g} of the rate"
    return f"{rate}: {name} does {times:g} times the work per cycle"


def _waits(doing: Activity, start: NDArray[np.int64], end: NDArray[np.int64]) -> dict[str, object]:
    """Wave cycles in the window by state."""
    sums = np.zeros(len(Doing), np.int64)
    waves = 0
    for wave in range(len(doing.key)):
        own = doing.cycles_in(wave, start, end).sum(0)
        sums += own
        waves += bool(own.any())
    refused = sums[[Doing.MFMA_REFUSED, Doing.VALU_REFUSED, Doing.PACKED_REFUSED]].sum()
    named = {
        "nop_cycles": int(sums[Doing.NOP]),
        "lgkmcnt_wait_cycles": int(sums[Doing.LGKM_WAIT]),
        "vmcnt_wait_cycles": int(sums[Doing.VM_WAIT]),
        "barrier_cycles": int(sums[Doing.BARRIER]),
        "refused_cycles": int(refused),
        "gap_cycles": int(sums[Doing.GAP]),
    }
    total = int(sums.sum())
    return {
        "waves": waves, "wave_cycles": total, **named,
        "rest_cycles": total - sum(named.values()),
    }  # fmt: skip
