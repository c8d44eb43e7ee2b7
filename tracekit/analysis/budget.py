"""The cycle budget of the dominant loop: what an iteration asks of each pipe, and the verdict.

Cycles are those of the pipe model, not waiting times.  Averages are over the iterations of
a wave slot but the first and the last of each wave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.names import Cause, Phase
from tracekit.analysis.causes import Causes, SimdCauses, causes
from tracekit.analysis.model.intervals import overlap_cycles
from tracekit.analysis.model.loops import Loops
from tracekit.analysis.model.mix import PARTS, VECTOR, bound, parts
from tracekit.analysis.model.window import DEFAULT, STEADY_ITERATIONS
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

_PLACE = ["se", "cu", "simd", "dispatch", "slot"]
_CYCLES = ("matrix", "vector", *VECTOR, "lds", "lds_data", "vmem", "scalar",
           "nop")  # fmt: skip
COLUMNS = (
    *_PLACE, "iterations", "cycles", "instructions", "mfma",
    *(f"{name}_cycles" for name in _CYCLES), "blocked_cycles", "issue_cycles",
)  # fmt: skip
SIMD_COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles", "intervals",
    "waves", "matrix_cycles", "vector_cycles", "bound_cycles", "limit", "best_1", "best_2",
    "best_4", "best", "best_paired", "achieved", "matrix_share", "vector_share",
    "latency_share", "barrier_share", "outside_share", "verdict",
)  # fmt: skip
#: A SIMD that reaches this part of the best possible occupancy is at the bound.
AT_BOUND = 0.9
#: Idle causes by what they say about the schedule; the rest is latency.
VECTOR_CAUSES = (Cause.VECTOR_WORK, Cause.VECTOR_REFUSED)
BARRIER_CAUSES = (Cause.BARRIER, Cause.MATRIX_ELSEWHERE)
OUTSIDE_CAUSES = (Cause.NO_WAVE, Cause.AFTER_LAST, Cause.DATA_LOST)


@dataclass
class Budget:
    """``rows`` per wave slot (COLUMNS, means per iteration); ``simds`` (SIMD_COLUMNS)."""

    rows: pd.DataFrame
    simds: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    #: The single iterations that ``rows`` are the means of.
    iterations: pd.DataFrame | None = None


def budget(
    timeline: Timeline, window: str = DEFAULT, rates: Mapping[str, int] | None = None
) -> Budget:
    """The budget of an iteration of the dominant loop, and what bounds it.

    Without a loop a whole wave counts as its one iteration, and a note says so.  ``rates``:
    cycles of opcodes that replace the tables'.  The verdict of a SIMD: at 90 % of the best
    possible occupancy or more it is the bound's (matrix_bound or vector_bound); below,
    what most idle cycles have as cause: vector_bound, barrier_bound or latency_bound.
    memory_bound and lds_bound need the bytes, too: ``Analysis.budget`` has them.
    """
    return budget_of(timeline, causes(timeline, window), rates)


def budget_of(timeline: Timeline, found: Causes, rates: Mapping[str, int] | None = None) -> Budget:
    """``budget`` from the causes of the timeline in a window."""
    import pandas as pd

    table = parts(timeline.listing, timeline.costs, rates)
    each = _each(timeline, found.loops, table)
    rows = _means(each)
    notes = list(found.notes)
    if len(timeline.executed) and not found.loops.dominant:
        notes.append("no loop: a whole wave counts as one iteration")
    if (table["mfma"][:-1] & (timeline.costs.cycles < 0)).any():
        notes.append("an MFMA of unknown cost counts 0 matrix cycles")
    tail = int(table["tail"].max()) if len(table["tail"]) else 0
    simds = pd.DataFrame([_simd(simd, rows, tail) for simd in found.simds])
    if len(simds):
        notes += _short(simds, rows)
    rows = rows.reindex(columns=list(COLUMNS))
    return Budget(rows, simds.reindex(columns=list(SIMD_COLUMNS)), notes, each)


def _each(timeline: Timeline, found: Loops, table: dict[str, Array]) -> pd.DataFrame:
    """What every single iteration asks (also parts that are not shown)."""
    counted = turns(timeline, found)
    row = timeline.executed["row"].to_numpy()
    first, last = counted["first"].to_numpy(), counted["last"].to_numpy()
    for name in PARTS:
        sums = np.append(0, np.cumsum(table[name][row]))
        counted[name] = sums[last] - sums[first]
    counted["cycles"] = counted["end"] - counted["begin"]
    counted["instructions"] = last - first
    counted["vector"] = sum(counted[name] for name in VECTOR)
    return counted


def _means(counted: pd.DataFrame) -> pd.DataFrame:
    """Means per iteration of each wave slot."""
    import pandas as pd

    if not len(counted):
        return pd.DataFrame(columns=list(dict.fromkeys([*COLUMNS, *PARTS])))
    grouped = counted.groupby(_PLACE, sort=True)
    rows = grouped[["cycles", "instructions", "vector", *PARTS]].mean()
    rows["iterations"] = grouped.size()
    rows = rows.reset_index()
    for name in _CYCLES:
        rows[f"{name}_cycles"] = rows[name]
    rows["blocked_cycles"], rows["issue_cycles"] = rows["blocked"], rows["wave"]
    return rows


def turns(timeline: Timeline, found: Loops) -> pd.DataFrame:
    """The iterations that count; whole waves where a dispatch has no loop."""
    import pandas as pd

    table = found.iterations
    table = table[table["loop"].isin(list(found.dominant.values()))]
    if len(table):
        key = [*_PLACE, "wave"]
        most = table.groupby(key)["iteration"].transform("max")
        inner = (table["iteration"] > 0) & (table["iteration"] < most)
        table = table[inner | (most < STEADY_ITERATIONS - 1)]
    columns = [*_PLACE, "wave", "begin", "end", "first", "last"]
    waves = timeline.waves
    last = np.cumsum(waves["instructions"].to_numpy())
    whole = waves[[*_PLACE, "wave", "begin", "end"]].copy()
    whole["first"], whole["last"] = last - waves["instructions"].to_numpy(), last
    if int(waves["instructions"].sum()) != len(timeline.executed):
        whole = whole[:0]
    loose = ~whole["dispatch"].isin(list(found.dominant)) & (whole["last"] > whole["first"])
    return pd.concat([table[columns], whole[loose.to_numpy()]], ignore_index=True)


def _simd(simd: SimdCauses, rows: pd.DataFrame, tail: int) -> dict[str, object]:
    view, cycles = simd.simd, max(simd.window.cycles, 1)
    own = (
        (rows["se"] == view.se) & (rows["simd"] == view.simd) & (rows["dispatch"] == view.dispatch)
    )
    part = rows[own]
    mix: dict[str, float] = {}
    if len(part):
        weight = part["iterations"].to_numpy()
        mix = {name: float(np.average(part[name], weights=weight)) for name in PARTS}
        mix["tail"] = float(tail)
    _, born, died = simd.residence
    resident = int(overlap_cycles(born, died, simd.window.intervals).sum())
    waves = max(1, round(resident / cycles))
    shares = _shares(simd, cycles)
    achieved = 1 - simd.idle.cycles / cycles
    limits = {count: bound(mix, count) for count in (1, 2, 4, waves)} if mix else {}
    here = limits.get(waves)
    # Without an MFMA there is nothing to be bound.
    return {
        "se": view.se, "cu": view.cu, "simd": view.simd, "dispatch": view.dispatch,
        "window": simd.window.label, "start": simd.window.start, "end": simd.window.end,
        "window_cycles": simd.window.cycles, "intervals": len(simd.window.intervals),
        "waves": waves,
        "matrix_cycles": mix.get("matrix"),
        "vector_cycles": sum(mix[name] for name in VECTOR) if mix else None,
        "bound_cycles": here.cycles if here else None,
        "limit": here.limit if here else None,
        **{f"best_{count}": limits[count].occupancy if mix else None for count in (1, 2, 4)},
        "best": here.occupancy if here else None,
        "best_paired": here.paired if here else None,
        "achieved": achieved,
        **shares,
        "verdict": verdict(achieved, here.occupancy, here.limit, shares)
        if here and len(simd.matrix.order)
        else None,
    }  # fmt: skip


def _short(simds: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """A note where the window is not even one iteration long."""
    longest = rows.groupby(["se", "simd", "dispatch"])["cycles"].max()
    keys = zip(simds["se"], simds["simd"], simds["dispatch"], strict=True)
    period = [float(longest.get(key, 0)) for key in keys]
    steady = simds["window"] == "steady"
    if bool((steady & (simds["window_cycles"] < period)).any()):
        return ["window steady is shorter than an iteration on some SIMD: shares there are those "
                "of a part of the loop, and may pass the bound"]  # fmt: skip
    return []


def _shares(simd: SimdCauses, cycles: int) -> dict[str, float]:
    """Shares of the window: matrix busy and idle by kind of cause; they sum to 1.

    ``outside``: no wave, after the last MFMA, lost tokens, and whatever a wave does before
    its first or after its last MFMA.
    """
    pieces = simd.view.pieces
    around = np.isin(pieces.phase, (Phase.PROLOGUE, Phase.EPILOGUE))
    outside = around | np.isin(pieces.cause, OUTSIDE_CAUSES)
    kinds = {
        "vector": ~outside & np.isin(pieces.cause, VECTOR_CAUSES),
        "barrier": ~outside & np.isin(pieces.cause, BARRIER_CAUSES),
        "outside": outside,
    }
    sums = {name: int(pieces.cycles[mask].sum()) / cycles for name, mask in kinds.items()}
    idle = simd.view.idle / cycles
    return {
        "matrix_share": 1 - idle,
        "vector_share": sums["vector"],
        "latency_share": idle - sum(sums.values()),
        "barrier_share": sums["barrier"],
        "outside_share": sums["outside"],
    }


def verdict(achieved: float, best: float, limit: str, shares: Mapping[str, Any]) -> str:
    """What bounds a SIMD: matrix_bound, vector_bound, latency_bound or barrier_bound.

    ``best`` and ``limit`` of the bound; ``shares`` of idle causes (see ``budget``).
    """
    if best and achieved >= AT_BOUND * best:
        if limit == "matrix":
            return "matrix_bound"
        if limit in ("vector", "packed"):
            return "vector_bound"
        return "latency_bound"
    kinds = ("vector", "latency", "barrier")
    return max(kinds, key=lambda kind: shares[f"{kind}_share"]) + "_bound"
