"""Bubbles: the intervals in which the matrix pipe of a SIMD is idle, with their causes.

A bubble is a maximal idle interval; the part of it inside the window counts, if that is
``minimum`` cycles or longer.  What is shorter is one row ``short_gaps`` a SIMD, so that the
rows sum to the matrix-idle time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.names import CAUSES, OTHERS, SPLITS
from tracekit.analysis.attribution.others import doing_of
from tracekit.analysis.attribution.tables import (
    CAUSE_COLUMNS,
    INSTRUCTION_COLUMNS,
    OTHER_COLUMNS,
    PLACE_COLUMNS,
    SPLIT_COLUMNS,
    TOTAL_COLUMNS,
    gaps,
    instructions,
    others_by_cause,
    places,
    totals,
    wave_time,
)
from tracekit.analysis.attribution.view import MINIMUM
from tracekit.analysis.causes import Causes, SimdCauses, causes
from tracekit.analysis.iterations import Fold, fold
from tracekit.analysis.model.window import DEFAULT
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CAUSE_COLUMNS", "INSTRUCTION_COLUMNS", "MINIMUM", "PLACE_COLUMNS", "SHORT",
    "TOTAL_COLUMNS", "Bubbles", "bubbles", "bubbles_of",
]  # fmt: skip

Array = NDArray[np.int64]

SHORT = "short_gaps"
COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "cycles", "cause", "iteration", "offset",
    "previous_mfma_code_object", "previous_mfma_vaddr", "previous_mfma_line", "previous_mfma",
    "next_mfma_code_object", "next_mfma_vaddr", "next_mfma_line", "next_mfma", "waves", "runner_up",
    *CAUSE_COLUMNS, *SPLIT_COLUMNS, *OTHER_COLUMNS,
)  # fmt: skip


@dataclass(frozen=True)
class Bubbles:
    """``rows``: one per bubble and one ``short_gaps`` per SIMD (COLUMNS; ``runner_up``: cycles
    after its end at which the next wave would have ended it, -1 none); ``totals``: cycles per
    cause and SIMD (TOTAL_COLUMNS); ``places``: pairs of MFMAs (PLACE_COLUMNS); ``instructions``:
    what the idle cycles are charged to (INSTRUCTION_COLUMNS); ``others``: wave-cycles, by
    cause, of residents that do not decide; ``wave_time``: wave-cycles by cause of SIMDs
    without an MFMA."""

    rows: pd.DataFrame
    places: pd.DataFrame
    totals: pd.DataFrame
    instructions: pd.DataFrame
    others: dict[str, int]
    wave_time: dict[str, int]
    notes: list[str] = field(default_factory=list)


def bubbles(timeline: Timeline, window: str = DEFAULT, minimum: int = MINIMUM) -> Bubbles:
    """Bubbles of every SIMD over ``window`` of at least ``minimum`` cycles."""
    return bubbles_of(timeline, causes(timeline, window), minimum)


def bubbles_of(timeline: Timeline, found: Causes, minimum: int = MINIMUM) -> Bubbles:
    """``bubbles`` from the causes of the timeline in a window."""
    import pandas as pd

    parts = [_rows(timeline, found, simd, fold(simd, found.loops), minimum) for simd in found.simds]
    seen = found.views
    return Bubbles(
        rows=pd.concat(parts, ignore_index=True)[list(COLUMNS)]
        if parts
        else pd.DataFrame(columns=list(COLUMNS)),
        places=places(timeline, found.charges, seen, minimum),
        totals=totals(found.charges, seen, minimum),
        instructions=instructions(timeline, found.charges, seen),
        others=others_by_cause(found.charges, seen),
        wave_time=wave_time(found.charges, seen),
        notes=list(found.notes),
    )


def _rows(
    timeline: Timeline, found: Causes, simd: SimdCauses, folded: Fold, minimum: int
) -> pd.DataFrame:
    import pandas as pd

    view, runs, pieces = simd.simd, simd.view.runs, simd.view.pieces
    sums = {
        name: _sums(simd.view.run, kind, pieces.cycles, len(runs.start), kinds)
        for name, kind, kinds in (
            ("cause", pieces.cause, len(CAUSES)),
            ("split", pieces.split, len(SPLITS)),
            ("others", pieces.others, len(OTHERS)),
        )
    }
    wide = runs.end - runs.start >= minimum
    start, end = runs.start[wide], runs.end[wide]
    n = len(start)
    iteration, offset = folded.at(start)
    cause = sums["cause"][wide]
    columns: dict[str, object] = {
        **{name: [getattr(view, name)] * (n + 1) for name in ("se", "cu", "simd", "dispatch")},
        "window": [simd.window.label] * (n + 1),
        "start": np.append(start, -1),
        "cycles": np.append(end - start, (runs.end - runs.start)[~wide].sum()),
        "cause": np.append(np.array(CAUSES, object)[cause.argmax(1)] if n else [], SHORT),
        "iteration": np.append(iteration, -1),
        "offset": np.append(offset, -1),
        "waves": [*_doings(found, simd, start, end), ""],
        "runner_up": np.append(gaps(simd.view)[wide], -1),
    }
    bubble, rows = runs.bubble[wide], np.append(found.charges.facts.rows.row, -1)
    listing, edges = timeline.listing, simd.view.charges.bubbles
    for name, at in (("previous", edges.before[bubble]), ("next", edges.after[bubble])):
        row = np.append(np.where(at >= 0, rows[at], -1), -1)
        for key in ("code_object", "vaddr", "line"):
            columns[f"{name}_mfma_{key}"] = np.append(getattr(listing, key), -1)[row]
        columns[f"{name}_mfma"] = [listing.text[i] if i >= 0 else "" for i in row.tolist()]
    for names, key in (
        (CAUSE_COLUMNS, "cause"),
        (("", *SPLIT_COLUMNS), "split"),
        (OTHER_COLUMNS, "others"),
    ):
        table = np.vstack([sums[key][wide], sums[key][~wide].sum(0)])
        columns.update({name: table[:, i] for i, name in enumerate(names) if name})
    return pd.DataFrame(columns)


def _sums(of: Array, kind: Array, cycles: Array, rows: int, kinds: int) -> Array:
    """(rows, kinds) sums of cycles."""
    flat = np.bincount(of * kinds + kind, cycles, minlength=rows * kinds)
    return flat.astype(np.int64).reshape(rows, kinds)


def _doings(found: Causes, simd: SimdCauses, start: Array, end: Array) -> list[str]:
    """What each resident wave did most in each interval: "slot 0: vector_work 96; ..."."""
    facts = found.charges.facts
    texts: list[list[str]] = [[] for _ in range(len(start))]
    waves = facts.rows.waves
    for wave in simd.view.charges.waves.tolist():
        here = np.flatnonzero((start < waves.end[wave]) & (end > waves.begin[wave]))
        cycles = doing_of(facts.steps, wave, start[here], end[here])
        for at, state, count in zip(
            here.tolist(), cycles.argmax(1).tolist(), cycles.max(1, initial=0).tolist(),
            strict=True,
        ):  # fmt: skip
            name = CAUSES[state] if state < len(CAUSES) else "mfma"
            texts[at].append(f"slot {waves.slot[wave]}: {name} {count}")
    return ["; ".join(text) for text in texts]
