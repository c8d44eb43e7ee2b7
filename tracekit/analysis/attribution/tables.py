"""Tables of the attribution: sums by SIMD, by place and by instruction.

Cycles per cause sum to the idle cycles; places to the causes; the columns of the others to
the idle cycles.  A place is the pair of MFMAs around a bubble.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.engine import Charges
from tracekit.analysis.attribution.names import CAUSES, OTHERS, PHASES, SPLITS
from tracekit.analysis.attribution.others import doing, others_doing
from tracekit.analysis.attribution.view import MINIMUM, View
from tracekit.analysis.model.rows import NEVER
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

#: The place of what is shorter than the least bubble inside the window.
SHORT = "short"
#: Cycles between the end of a bubble and the next wave's attempt at an MFMA up to which the
#: two waves count as equally near: that gap would be no bubble.
NEAR = MINIMUM
CAUSE_COLUMNS = tuple(f"{name}_cycles" for name in CAUSES)
SPLIT_COLUMNS = tuple(f"refused_{name}_cycles" for name in SPLITS[1:])
PHASE_COLUMNS = tuple(f"{name}_cycles" for name in PHASES[1:])
OTHER_COLUMNS = tuple(f"others_{name}_cycles" for name in OTHERS)
TOTAL_COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles", "intervals",
    "matrix_idle_cycles", "bubbles", *CAUSE_COLUMNS, *SPLIT_COLUMNS, *PHASE_COLUMNS,
    *OTHER_COLUMNS, "elsewhere_cycles", "runner_up_median", "near_ties",
)  # fmt: skip
_MFMA = ("code_object", "vaddr", "line", "source")
PLACE_COLUMNS = (
    "dispatch", "place",
    "previous_mfma_code_object", "previous_mfma_vaddr", "previous_mfma_line",
    "previous_mfma_source", "previous_mfma",
    "next_mfma_code_object", "next_mfma_vaddr", "next_mfma_line", "next_mfma_source", "next_mfma",
    "bubbles", "cycles", "mean_cycles", "share", "cause",
    "near_ties", *CAUSE_COLUMNS, *SPLIT_COLUMNS,
)  # fmt: skip
INSTRUCTION_COLUMNS = (
    "dispatch", "code_object", "vaddr", "line", "source", "instruction", "cause", "split",
    "cycles", "share",
)  # fmt: skip


def _table(number: Array, kind: Array, cycles: Array, rows: int, kinds: int) -> Array:
    """(rows, kinds) sums of cycles."""
    sums = np.bincount(number * kinds + kind, cycles, minlength=rows * kinds)
    return sums.astype(np.int64).reshape(rows, kinds)


def gaps(one: View) -> Array:
    """Per run: cycles from the end of its bubble to the attempt of the runner-up at an MFMA;
    -1 where no other wave has one to come, or the bubble has no end."""
    bubbles, who = one.charges.bubbles, one.charges.deciders
    last = np.searchsorted(who.bubble, np.arange(len(bubbles)), side="right") - 1
    second = who.runner_up[last]
    known = (second < NEVER) & (bubbles.end < NEVER)
    return np.where(known, np.maximum(second - bubbles.end, 0), -1)[one.runs.bubble]


def totals(found: Charges, seen: Sequence[View], minimum: int = MINIMUM) -> pd.DataFrame:
    """One row per SIMD (TOTAL_COLUMNS).

    ``elsewhere_cycles``: charged to waves of other SIMDs; ``runner_up_median``: of ``gaps``
    over the bubbles (None without), ``near_ties`` how many of those are at most NEAR.
    """
    import pandas as pd

    rows = []
    simd_of = found.facts.rows.waves.simd_of
    for one in seen:
        simd, pieces, cycles = one.charges.simd, one.pieces, one.pieces.cycles
        gap = gaps(one)[one.runs.end - one.runs.start >= minimum]
        known = gap[gap >= 0]
        far = (pieces.wave >= 0) & (simd_of[pieces.wave] != simd_of[one.charges.waves[0]])
        row: dict[str, object] = {
            "se": simd.se, "cu": simd.cu, "simd": simd.simd, "dispatch": simd.dispatch,
            "window": one.window.label, "start": one.window.start, "end": one.window.end,
            "window_cycles": one.window.cycles, "intervals": len(one.window.intervals),
            "matrix_idle_cycles": one.idle, "bubbles": len(gap),
            "elsewhere_cycles": int(cycles[far].sum()),
            "runner_up_median": float(np.median(known)) if len(known) else None,
            "near_ties": int((known <= NEAR).sum()),
        }  # fmt: skip
        for names, kind in (
            (CAUSE_COLUMNS, pieces.cause),
            (("", *SPLIT_COLUMNS), pieces.split),
            (("", *PHASE_COLUMNS), pieces.phase),
            (OTHER_COLUMNS, pieces.others),
        ):
            sums = np.bincount(kind, cycles, minlength=len(names))
            row.update(zip(names, sums.astype(np.int64).tolist(), strict=True))
        rows.append(row)
    return pd.DataFrame(rows, columns=list(TOTAL_COLUMNS))


def others_by_cause(found: Charges, seen: Sequence[View]) -> dict[str, int]:
    """Wave-cycles, by what they do, of the residents besides the decider that have an MFMA to
    come; where those issue MFMAs is no idle time."""
    sums = np.zeros(len(CAUSES) + 1, np.int64)
    for one in seen:
        rows, steps = found.facts.rows, found.facts.steps
        sums += others_doing(rows, steps, one.charges.waves, one.pieces)
    return dict(zip(CAUSES, sums.tolist(), strict=False))


def wave_time(found: Charges, seen: Sequence[View]) -> dict[str, int]:
    """Wave-cycles of SIMDs without an MFMA, by what their waves do: their idle time has no
    cause, this is shown instead."""
    sums = np.zeros(len(CAUSES) + 1, np.int64)
    for one in seen:
        if not one.charges.mfmas:
            rows, steps = found.facts.rows, found.facts.steps
            sums += doing(rows, steps, one.charges.waves, one.window.intervals)
    return dict(zip(CAUSES, sums.tolist(), strict=False))


def places(
    timeline: Timeline, found: Charges, seen: Sequence[View], minimum: int = MINIMUM
) -> pd.DataFrame:
    """One row per dispatch and pair of MFMAs (PLACE_COLUMNS), most cycles first; one ``short``
    a dispatch for what is shorter than ``minimum``.

    ``previous_`` and ``next_``: vaddr -1 and "" at an end of the trace; ``share``: of the idle
    cycles of the dispatch; ``cause``: the one with most of the cycles.
    """
    import pandas as pd

    keys: list[Array] = [np.zeros((0, 4), np.int64)]
    tables: list[Array] = [np.zeros((0, len(CAUSES) + len(SPLITS) + 2), np.int64)]
    listing_row = np.append(found.facts.rows.row, -1)
    for one in seen:
        bubbles, runs, pieces = one.charges.bubbles, one.runs, one.pieces
        n = len(runs.start)
        wide = runs.end - runs.start >= minimum
        ends = [np.where(wide, np.where(at >= 0, listing_row[at], -1), -1)
                for at in (bubbles.before[runs.bubble], bubbles.after[runs.bubble])]  # fmt: skip
        dispatch = np.full(n, one.charges.simd.dispatch)
        gap = gaps(one)
        keys.append(np.stack([dispatch, wide, *ends], 1).astype(np.int64))
        tables.append(np.hstack([
            _table(one.run, pieces.cause, pieces.cycles, n, len(CAUSES)),
            _table(one.run, pieces.split, pieces.cycles, n, len(SPLITS)),
            np.stack([wide, wide & (gap >= 0) & (gap <= NEAR)], 1),
        ]))  # fmt: skip
    unique, number = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    sums = np.zeros((len(unique), tables[0].shape[1]), np.int64)
    np.add.at(sums, number.ravel(), np.concatenate(tables))
    causes = sums[:, : len(CAUSES)]
    split = sums[:, len(CAUSES) : len(CAUSES) + len(SPLITS)]
    columns: dict[str, object] = {
        "dispatch": unique[:, 0],
        "place": np.where(unique[:, 1] > 0, "bubble", SHORT),
        "bubbles": sums[:, -2],
        "near_ties": sums[:, -1],
        "cycles": causes.sum(1),
        "cause": np.array(CAUSES, object)[causes.argmax(1)],
        **{name: causes[:, i] for i, name in enumerate(CAUSE_COLUMNS)},
        **{name: split[:, i + 1] for i, name in enumerate(SPLIT_COLUMNS)},
    }
    for name, row in (("previous", unique[:, 2]), ("next", unique[:, 3])):
        columns.update({f"{name}_mfma_{key}": value for key, value in _code(timeline, row).items()})
        columns[f"{name}_mfma"] = columns.pop(f"{name}_mfma_instruction")
    table = pd.DataFrame(columns)
    table["mean_cycles"] = (table["cycles"] / table["bubbles"]).where(table["bubbles"] > 0)
    table["share"] = table["cycles"] / table.groupby("dispatch")["cycles"].transform("sum")
    table = table.sort_values(["cycles", "previous_mfma_vaddr"], ascending=[False, True])
    return pd.DataFrame(table[list(PLACE_COLUMNS)]).reset_index(drop=True)


def instructions(timeline: Timeline, found: Charges, seen: Sequence[View]) -> pd.DataFrame:
    """Idle cycles by the instruction that they are charged for, and cause
    (INSTRUCTION_COLUMNS), most cycles first: what the reader can change.

    Of a gap it is the next instruction; vaddr is -1 where no wave decides.
    """
    import pandas as pd

    rows = found.facts.rows
    parts = []
    for one in seen:
        pieces = one.pieces
        row = np.where(pieces.row >= 0, np.append(rows.row, -1)[pieces.row], -1)
        parts.append(pd.DataFrame({
            "dispatch": one.charges.simd.dispatch, "row": row, "cause": pieces.cause,
            "split": pieces.split, "cycles": pieces.cycles,
        }))  # fmt: skip
    if not parts:
        return pd.DataFrame(columns=list(INSTRUCTION_COLUMNS))
    keys = ["dispatch", "row", "cause", "split"]
    table = pd.concat(parts).groupby(keys, sort=True)["cycles"].sum().reset_index()
    for name, values in _code(timeline, table["row"].to_numpy()).items():
        table[name] = values
    table["cause"] = [CAUSES[i] for i in table["cause"]]
    table["split"] = [SPLITS[i] for i in table["split"]]
    table["share"] = table["cycles"] / table.groupby("dispatch")["cycles"].transform("sum")
    table = table.sort_values(["cycles", "vaddr"], ascending=[False, True])
    return pd.DataFrame(table[list(INSTRUCTION_COLUMNS)]).reset_index(drop=True)


def _code(timeline: Timeline, row: Array) -> dict[str, list[str] | Array]:
    """code_object, vaddr, line, source and instruction of listing rows (-1: none)."""
    listing = timeline.listing
    found: dict[str, list[str] | Array] = {
        name: np.append(getattr(listing, name), -1)[row] for name in _MFMA[:3]
    }
    found["source"] = [listing.source[i] if i >= 0 else "" for i in row.tolist()]
    found["instruction"] = [listing.text[i] if i >= 0 else "" for i in row.tolist()]
    return found
