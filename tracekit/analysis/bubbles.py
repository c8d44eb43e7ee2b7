"""Bubbles: the intervals in which the matrix pipe of a SIMD is idle, with their causes.

A bubble is a maximal idle interval of at least ``minimum`` cycles inside the window; it is
named by the cause that most of its cycles have.  What is shorter is one row
``short_gaps`` a SIMD, so that the rows sum to the matrix-idle time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.causes import CAUSES, Causes, SimdCauses, causes
from tracekit.analysis.iterations import Fold, fold
from tracekit.analysis.model.activity import Doing
from tracekit.analysis.model.window import DEFAULT
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

SHORT = "short_gaps"
MINIMUM = 16
CAUSE_COLUMNS = tuple(f"{name}_cycles" for name in CAUSES)
COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "cycles", "cause", "iteration", "offset",
    "before_code_object", "before_vaddr", "before_line", "before", "after_code_object",
    "after_vaddr", "after_line", "after", "waves", *CAUSE_COLUMNS,
)  # fmt: skip
SITE_COLUMNS = (
    "dispatch", "cause", "before_line", "before_vaddr", "before", "after_line", "after_vaddr",
    "after", "bubbles", "cycles", "mean_cycles", "share",
)  # fmt: skip
TOTAL_COLUMNS = ("se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles",
                 "intervals", "matrix_idle_cycles", "bubbles", *CAUSE_COLUMNS)  # fmt: skip
#: How the states of a wave read in the column "waves".
_WORDS = {
    Doing.GAP: "gap", Doing.MFMA_REFUSED: "MFMA refused", Doing.MFMA: "MFMA",
    Doing.VALU: "VALU", Doing.VALU_REFUSED: "VALU refused", Doing.PACKED_REFUSED: "packed refused",
    Doing.LDS: "LDS", Doing.VMEM: "VMEM", Doing.SCALAR: "scalar", Doing.NOP: "s_nop",
    Doing.LGKM_WAIT: "lgkmcnt wait", Doing.VM_WAIT: "vmcnt wait", Doing.BARRIER: "barrier",
    Doing.LOST: "lost",
}  # fmt: skip


@dataclass
class Bubbles:
    """``rows``: one per bubble and one ``short_gaps`` per SIMD (COLUMNS); ``sites``: bubbles
    of one cause between the same two MFMAs, largest first (SITE_COLUMNS; ``share`` of the
    windows' cycles); ``totals``: cycles per cause and SIMD (TOTAL_COLUMNS)."""

    rows: pd.DataFrame
    sites: pd.DataFrame
    totals: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def bubbles(timeline: Timeline, window: str = DEFAULT, minimum: int = MINIMUM) -> Bubbles:
    """Bubbles of every SIMD over ``window`` of at least ``minimum`` cycles."""
    return bubbles_of(timeline, causes(timeline, window), minimum)


def bubbles_of(timeline: Timeline, found: Causes, minimum: int = MINIMUM) -> Bubbles:
    """``bubbles`` from the causes of the timeline in a window."""
    import pandas as pd

    parts = [_rows(timeline, simd, fold(simd, found.loops), minimum) for simd in found.simds]
    rows = (
        pd.concat(parts, ignore_index=True)[list(COLUMNS)]
        if parts
        else pd.DataFrame(columns=list(COLUMNS))
    )
    totals = pd.DataFrame([_total(simd, minimum) for simd in found.simds])
    totals = totals.reindex(columns=list(TOTAL_COLUMNS))
    return Bubbles(rows, _sites(rows, totals), totals, list(found.notes))


def _place(simd: SimdCauses) -> dict[str, object]:
    view = simd.simd
    return {
        "se": view.se, "cu": view.cu, "simd": view.simd, "dispatch": view.dispatch,
        "window": simd.window.label,
    }  # fmt: skip


def _rows(timeline: Timeline, simd: SimdCauses, folded: Fold, minimum: int) -> pd.DataFrame:
    import pandas as pd

    idle = simd.idle
    of = np.searchsorted(idle.start, simd.start, side="right") - 1
    sums = np.zeros((len(idle), len(CAUSES)), np.int64)
    np.add.at(sums, (of, simd.cause), simd.end - simd.start)
    length = idle.end - idle.start
    wide = length >= minimum
    short = sums[~wide].sum(0)
    start, end, sums, length = idle.start[wide], idle.end[wide], sums[wide], length[wide]
    n = len(start)
    iteration, offset = folded.at(start)
    cause = np.array(CAUSES, object)[sums.argmax(1)] if n else np.empty(0, object)
    columns: dict[str, object] = {
        **{name: [value] * (n + 1) for name, value in _place(simd).items()},
        "start": np.append(start, -1),
        "cycles": np.append(length, short.sum()),
        "cause": np.append(cause, SHORT),
        "iteration": np.append(iteration, -1),
        "offset": np.append(offset, -1),
        "waves": [*_doings(simd, start, end), ""],
    }
    order = simd.matrix.order
    first = simd.matrix.start
    before = np.searchsorted(first, start, side="right") - 1
    after = np.searchsorted(first, end, side="left")
    for name, at in (("before", before), ("after", after)):
        inside = (at >= 0) & (at < len(order))
        row = np.full(n + 1, -1, np.int64)
        row[:n][inside] = simd.simd.row[order[at[inside]]]
        listing = timeline.listing
        columns[f"{name}_code_object"] = np.append(listing.code_object, -1)[row]
        columns[f"{name}_vaddr"] = np.append(listing.vaddr, -1)[row]
        columns[f"{name}_line"] = np.append(listing.line, -1)[row]
        columns[name] = [listing.text[i] if i >= 0 else "" for i in row.tolist()]
    table = np.vstack([sums, short])
    columns.update({name: table[:, i] for i, name in enumerate(CAUSE_COLUMNS)})
    return pd.DataFrame(columns)


def _doings(simd: SimdCauses, start: Array, end: Array) -> list[str]:
    """What each resident wave did most in each interval: "slot 0: VALU 96; slot 1: ..."."""
    texts: list[list[str]] = [[] for _ in range(len(start))]
    doing = simd.doing
    for wave, key in enumerate(doing.key.tolist()):
        here = np.flatnonzero((start < doing.died[wave]) & (end > doing.born[wave]))
        cycles = doing.cycles_in(wave, start[here], end[here])
        most = cycles.argmax(1)
        for at, state, count in zip(
            here.tolist(), most.tolist(), cycles.max(1, initial=0).tolist(), strict=True
        ):
            texts[at].append(f"slot {key >> 32}: {_WORDS[Doing(state)]} {count}")
    return ["; ".join(text) for text in texts]


def _total(simd: SimdCauses, minimum: int) -> dict[str, object]:
    idle = simd.idle
    return {
        **_place(simd),
        "start": simd.window.start,
        "end": simd.window.end,
        "window_cycles": simd.window.cycles,
        "intervals": len(simd.window.intervals),
        "matrix_idle_cycles": idle.cycles,
        "bubbles": int((idle.end - idle.start >= minimum).sum()),
        **dict(zip(CAUSE_COLUMNS, simd.totals().tolist(), strict=True)),
    }


def _sites(rows: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    """Bubbles by cause and place."""
    import pandas as pd

    keys = ["dispatch", "cause", "before_line", "before_vaddr", "before",
            "after_line", "after_vaddr", "after"]  # fmt: skip
    wide = rows[rows["cause"] != SHORT]
    if not len(wide):
        return pd.DataFrame(columns=list(SITE_COLUMNS))
    sites = wide.groupby(keys, sort=False)["cycles"].agg(["size", "sum"]).reset_index()
    sites = sites.rename(columns={"size": "bubbles", "sum": "cycles"})
    sites["mean_cycles"] = sites["cycles"] / sites["bubbles"]
    window = totals.groupby("dispatch")["window_cycles"].sum()
    sites["share"] = sites["cycles"] / sites["dispatch"].map(window)
    sites = sites.sort_values(["cycles", "before_vaddr"], ascending=[False, True])
    return sites.reset_index(drop=True)[list(SITE_COLUMNS)]
