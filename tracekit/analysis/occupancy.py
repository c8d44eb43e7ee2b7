"""Pipe occupancy per SIMD: is the matrix pipe busy, the vector pipe, both, neither?

Occupancy of a pipe = busy cycles / window cycles, busy by execution (table cycles from the
issue on), never by the issue window that the trace shows.  docs/metrics.md defines each
column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.model.intervals import covered_twice, intersect, overlap_cycles, union
from tracekit.analysis.model.simds import Simd, each_simd, matrix_use, vector_use
from tracekit.analysis.model.window import DEFAULT, Window, Windows
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "se", "cu", "simd", "dispatch", "waves", "window", "start", "end", "window_cycles", "intervals",
    "mfma", "matrix_busy_cycles", "matrix_occupancy", "vector_busy_cycles", "vector_occupancy",
    "coissued_cycles", "overlap_cycles", "matrix_idle_cycles", "neither_cycles",
    "issue_window_cycles", "violations",
)  # fmt: skip
#: Columns that need the cost of every MFMA; null where one is unknown.
MATRIX_COLUMNS = (
    "matrix_busy_cycles", "matrix_occupancy", "overlap_cycles", "matrix_idle_cycles",
    "neither_cycles", "violations",
)  # fmt: skip
#: Filters that leave SIMDs out which were traced.
_OF_WAVES = frozenset({"simd", "slot", "wave"})
_SUMMED = (
    "waves", "window_cycles", "intervals", "mfma", "matrix_busy_cycles", "vector_busy_cycles",
    "coissued_cycles", "overlap_cycles", "matrix_idle_cycles", "neither_cycles",
    "issue_window_cycles", "violations",
)  # fmt: skip


@dataclass
class Occupancy:
    """``rows`` per SIMD and ``totals`` per SE (columns COLUMNS; a total has no simd)."""

    rows: pd.DataFrame
    totals: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def occupancy(timeline: Timeline, window: str = DEFAULT) -> Occupancy:
    """Occupancy of every SIMD with traced waves over ``window`` (see analysis.window).

    Occupancies are fractions of ``window_cycles``.  Matrix columns are null where the cost
    of an executed MFMA is unknown (no listing, or an opcode that no table has).
    """
    return occupancy_in(Windows(timeline, window))


def occupancy_in(windows: Windows) -> Occupancy:
    """``occupancy`` of the timeline and in the window of ``windows``."""
    import pandas as pd

    timeline = windows.timeline
    rows: list[dict[str, object]] = []
    window_notes: dict[str, None] = {}
    for simd in each_simd(timeline):
        chosen = windows.of(simd)
        if chosen.note:
            window_notes[chosen.note] = None
        rows.append(_row(simd, chosen))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return Occupancy(table, _totals(table), [*_notes(timeline, table), *window_notes])


def _row(simd: Simd, window: Window) -> dict[str, object]:
    matrix = matrix_use(simd)
    within = window.intervals
    busy = intersect(matrix.busy, within)
    start, end = vector_use(simd)
    inside = overlap_cycles(start, end, within) > 0
    start, end = start[inside], end[inside]
    vector = intersect(union(start, end), within)
    both = intersect(busy, vector).cycles
    cycles = window.cycles
    in_window = overlap_cycles(simd.issue, simd.issue + 1, within) > 0
    mfma = in_window & (simd.pipe == Pipe.MATRIX)
    known: dict[str, object] = {
        "matrix_busy_cycles": busy.cycles,
        "matrix_occupancy": busy.cycles / cycles if cycles else None,
        "overlap_cycles": both,
        "matrix_idle_cycles": cycles - busy.cycles,
        "neither_cycles": cycles - busy.cycles - vector.cycles + both,
        "violations": int(matrix.violations[in_window[matrix.order]].sum()),
    }
    if bool((mfma & (simd.cycles < 0)).any()):
        known = dict.fromkeys(known)
    return {
        "se": simd.se,
        "cu": simd.cu,
        "simd": simd.simd,
        "dispatch": simd.dispatch,
        "waves": len(np.unique(simd.wave_key[in_window])),
        "window": window.label,
        "start": window.start,
        "end": window.end,
        "window_cycles": cycles,
        "intervals": len(within),
        "mfma": int(mfma.sum()),
        "vector_busy_cycles": vector.cycles,
        "vector_occupancy": vector.cycles / cycles if cycles else None,
        "coissued_cycles": intersect(covered_twice(start, end), within).cycles,
        "issue_window_cycles": int(simd.issue_cost[mfma].sum()),
        **known,
    }


def _totals(table: pd.DataFrame) -> pd.DataFrame:
    """Sums over the SIMDs of each SE and dispatch, occupancies over the summed windows."""
    import pandas as pd

    totals: list[dict[str, object]] = []
    for (se, dispatch), group in table.groupby(["se", "dispatch"], sort=True):
        total: dict[str, object] = {
            "se": se, "cu": group["cu"].iloc[0], "dispatch": dispatch,
            "window": group["window"].iloc[0],
            "start": group["start"].min(), "end": group["end"].max(),
        }  # fmt: skip
        for name in _SUMMED:
            total[name] = None if group[name].isna().any() else int(group[name].sum())
        for pipe in ("matrix", "vector"):
            busy, cycles = total[f"{pipe}_busy_cycles"], total["window_cycles"]
            known = isinstance(busy, int) and isinstance(cycles, int) and cycles > 0
            total[f"{pipe}_occupancy"] = busy / cycles if known else None  # type: ignore[operator]
        totals.append(total)
    return pd.DataFrame(totals, columns=[name for name in COLUMNS if name != "simd"])


def _notes(timeline: Timeline, table: pd.DataFrame) -> list[str]:
    """What a reader must know before believing the table."""
    notes: list[str] = []
    if not len(table):
        return [no_instructions(timeline)]
    notes += _unknown_costs(timeline)
    if not table["mfma"].any() and not table[list(MATRIX_COLUMNS)].isna().any().any():
        notes.append(_no_mfma(timeline))
    missing = (
        []
        if timeline.selected_by & _OF_WAVES
        else [
            f"SE {se}: SIMD {', '.join(map(str, sorted(set(range(4)) - set(group))))}"
            for se, group in table.groupby("se")["simd"]
            if len(set(group)) < 4
        ]
    )
    if missing:
        notes.append(f"no traced wave on {'; '.join(missing)} (no row for them)")
    return notes


def _no_mfma(timeline: Timeline) -> str:
    """Why the matrix pipe did nothing in the window."""
    row = timeline.executed["row"].to_numpy()
    matrix = timeline.costs.pipe == Pipe.MATRIX
    executed = int(matrix[row[row >= 0]].sum())
    if executed:
        return f"no MFMA was issued in the window (of {executed:,} in the trace)"
    static = int(matrix.sum())
    having = f"the listing has {static}; no wave reached one" if static else "it has none"
    return f"no MFMA was executed by the traced waves ({having})"


def no_instructions(timeline: Timeline) -> str:
    """Why there is nothing to report, and what to try."""
    if timeline.selected_by:
        return "the filters leave no instruction"
    if timeline.missing_waves:
        return (
            f"{timeline.missing_waves} of {timeline.listed_waves} wave files are missing and no "
            "other holds an instruction: no pipe occupancy (the per-line counts of code.json "
            "are in the timeline's listing)"
        )
    where = ", ".join(
        f"SE {se} CU {cu}"
        for se, cu in timeline.streams[["se", "target_cu"]]
        .drop_duplicates()
        .to_numpy()[:4]
        .tolist()
        if cu >= 0
    )
    busy = sorted(set(timeline.occupancy["cu"].tolist()))
    elsewhere = f"; waves ran on CU {', '.join(map(str, busy))}" if busy else ""
    return (
        f"no wave ran on the traced CU ({where or 'none known'}{elsewhere}): try another CU with "
        "--att-target-cu, more engines with --att-shader-engine-mask, or a larger grid"
    )


def _unknown_costs(timeline: Timeline) -> list[str]:
    """MFMAs whose cycles no table gives, by name and count."""
    table, listing = timeline.executed, timeline.listing
    row = table["row"].to_numpy()
    notes: list[str] = []
    unknown = (timeline.costs.pipe == Pipe.MATRIX) & (timeline.costs.cycles < 0)
    executed = np.bincount(row[row >= 0], minlength=len(listing))
    names: dict[str, int] = {}
    for i in np.flatnonzero(unknown & (executed > 0)).tolist():
        name = listing.text[i].split()[0]
        names[name] = names.get(name, 0) + int(executed[i])
    notes += [
        f"{name}: executed {count} times, cycles on {timeline.arch.name} unknown; matrix columns "
        "are empty"
        for name, count in names.items()
    ]
    lost = int((row < 0).sum())
    if len(listing) == 0:
        notes.append(
            "no listing: counts and vector pipe are from token types alone; matrix cycles need "
            "one (--listing, or --assume-mfma-cycles)"
        )
    elif lost:
        notes.append(f"{lost} of {len(row)} instructions have no program counter")
    return notes
