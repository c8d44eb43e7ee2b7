"""Two captures, aligned by loop iteration: what changed, and whether it is more than noise."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.budget import Budget
from tracekit.analysis.causes import CAUSES, Causes
from tracekit.analysis.model import bootstrap
from tracekit.analysis.model.bodies import body, differences
from tracekit.analysis.model.window import DEFAULT
from tracekit.analysis.turns import SHARES, Turns, joined, turns
from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "base", "new", "se", "simd", "metric", "unit", "base_value", "new_value", "difference",
    "relative", "low", "high", "within_noise",
)  # fmt: skip
#: Metrics of --require; all but cycles in points of the window.
REQUIRABLE = ("matrix", "vector", "overlap", "matrix_idle", "cycles")
_BUDGET = ("matrix_cycles", "vector_cycles", "lds_cycles", "vmem_cycles", "scalar_cycles",
           "nop_cycles", "instructions")  # fmt: skip
_WAVE = ("se", "cu", "simd", "dispatch", "slot", "wave")
_REQUIRE = re.compile(r"\s*(\w+)\s*(>=|<=|>|<)\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*$")


class NotComparable(TracekitError):
    """The captures do not compare, or a requirement cannot be read."""

    exit_code = 2


@dataclass(frozen=True)
class Requirement:
    """``metric`` must change by ``operator`` ``value`` (points, cycles, or % of the base)."""

    text: str
    metric: str
    operator: str
    value: float
    relative: bool

    def met(self, difference: float, relative: float) -> bool:
        """Whether a change of ``difference`` (and ``relative``, a fraction) satisfies it."""
        found = 100 * relative if self.relative else difference
        return {
            ">=": found >= self.value, "<=": found <= self.value,
            ">": found > self.value, "<": found < self.value,
        }[self.operator]  # fmt: skip


def requirement(text: str) -> Requirement:
    """Read "overlap>=+5" or "cycles<=-3%"; raises NotComparable for anything else."""
    found = _REQUIRE.match(text)
    if found is None or found[1] not in REQUIRABLE or (found[4] and found[1] != "cycles"):
        raise NotComparable(
            f"cannot require {text!r}: METRIC>=POINTS or METRIC<=POINTS with METRIC one of "
            f"{', '.join(REQUIRABLE)} (cycles also in %)"
        )
    return Requirement(text, found[1], found[2], float(found[3]), bool(found[4]))


@dataclass
class Comparison:
    """``rows``: one per SIMD and metric, and the sum of all with se and simd -1 (COLUMNS);
    ``bodies``: changes of the dominant loop's instructions (bodies.COLUMNS)."""

    rows: pd.DataFrame
    bodies: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    def change(self, metric: str) -> tuple[float, float]:
        """(difference, relative) of ``metric`` in the sum; raises NotComparable without."""
        total = self.rows[(self.rows["se"] < 0) & (self.rows["metric"] == metric)]
        if not len(total) or total["difference"].isna().any():
            raise NotComparable(f"{metric}: not known for both captures")
        return float(total["difference"].iloc[0]), float(total["relative"].iloc[0])


def compare(base: Timeline, new: Timeline, window: str = DEFAULT) -> Comparison:
    """What ``new`` changed against ``base``, over ``window`` of each.

    Shares of the window (matrix, vector, overlap, matrix_idle and every cause) differ in
    points; cycles is the median iteration of the dominant loop.  Each difference has a 95 %
    bootstrap interval over waves and iterations; it is within noise when that contains 0.
    The budget of an iteration follows from the code and has no noise.  Raises NotComparable
    for known and different architectures, or where nothing can be compared.
    """
    return compare_of(Analysis(base, window), Analysis(new, window))


def compare_of(one: Analysis, other: Analysis) -> Comparison:
    """``compare`` of two analyses, each in its window."""
    import pandas as pd

    base, new = one.timeline, other.timeline
    if not base.arch.assumed and not new.arch.assumed and base.arch.name != new.arch.name:
        raise NotComparable(
            f"{base.capture} is {base.arch.name} ({base.arch.source}), {new.capture} is "
            f"{new.arch.name} ({new.arch.source}): cycles of different chips do not compare"
        )
    found = [one.causes, other.causes]
    cut = [_cut(each) for each in found]
    for timeline, part in zip((base, new), cut, strict=True):
        if not part:
            raise NotComparable(f"{timeline.capture}: no SIMD with known matrix costs to compare")
    both = [key for key in cut[0] if key in cut[1]]
    rows = [
        row
        for key in both
        for row in _rows(key, cut[0][key], cut[1][key])
    ]  # fmt: skip
    rows += _rows((-1, -1), *(joined(list(part.values())) for part in cut))
    rows += _budgets(one.budget, other.budget)
    table = pd.DataFrame(rows)
    table["base"], table["new"] = base.capture, new.capture
    notes = [
        f"{timeline.capture}: {note}"
        for timeline, each in zip((base, new), found, strict=True)
        for note in each.notes
    ]
    if any(timeline.arch.assumed for timeline in (base, new)):
        notes.append("an architecture is assumed: whether the chips are the same is not known")
    listed = differences(
        base.listing, body(base.listing, found[0].loops),
        new.listing, body(new.listing, found[1].loops),
    )  # fmt: skip
    return Comparison(table.reindex(columns=list(COLUMNS)), listed, notes)


def _cut(found: Causes) -> dict[tuple[int, int], Turns]:
    """Turns by (se, simd); of several dispatches together."""
    parts: dict[tuple[int, int], list[Turns]] = {}
    for simd in found.simds:
        if simd.window.cycles:
            parts.setdefault((simd.simd.se, simd.simd.simd), []).append(turns(simd, found))
    return {key: joined(each) for key, each in parts.items()}


def _rows(key: tuple[int, int], base: Turns, new: Turns) -> list[dict[str, object]]:
    """One row per metric of one SIMD, or of all."""
    rows: list[dict[str, object]] = []
    if len(base.lengths) and len(new.lengths):
        old, young = (np.median(part.lengths).item() for part in (base, new))
        spread = [
            bootstrap.medians(part.lengths.astype(float), bootstrap.weights(part.owner, stream))
            for stream, part in enumerate((base, new))
        ]
        rows.append(_row(key, "cycles", "cycles", old, young, spread[1] - spread[0]))
    draws = [
        bootstrap.ratios(
            part.values.astype(float), part.cycles.astype(float),
            bootstrap.weights(part.cluster, stream),
        )
        for stream, part in enumerate((base, new))
    ]  # fmt: skip
    moved = 100 * (draws[1] - draws[0])
    shares = 100 * base.shares, 100 * new.shares
    names = [*SHARES, *(f"cause:{name}" for name in CAUSES)]
    for i, name in enumerate(names):
        old, young = float(shares[0][i]), float(shares[1][i])
        if name in SHARES or old or young:
            rows.append(_row(key, name, "% of window", old, young, moved[:, i]))
    return rows


def _row(
    key: tuple[int, int], metric: str, unit: str, old: float, young: float,
    spread: bootstrap.Floats | None,
) -> dict[str, object]:  # fmt: skip
    difference = young - old
    low, high = (difference, difference) if spread is None else bootstrap.interval(spread)
    return {
        "se": key[0], "simd": key[1], "metric": metric, "unit": unit, "base_value": old,
        "new_value": young, "difference": difference,
        "relative": difference / old if old else None, "low": low, "high": high,
        "within_noise": spread is not None and low <= 0 <= high,
    }  # fmt: skip


def _budgets(base: Budget, new: Budget) -> list[dict[str, object]]:
    """Budget of an iteration, mean over all waves.

    What one iteration asks follows from the code; which iterations ran does not (a causal mask
    mixes long and short ones), so the interval is that of drawing waves again.
    """
    tables = [found.iterations for found in (base, new)]
    if any(table is None or not len(table) for table in tables):
        return []
    means: list[NDArray[np.float64]] = []
    draws: list[bootstrap.Floats] = []
    for stream, table in enumerate(tables):
        assert table is not None
        owner = table.groupby([*_WAVE], sort=True).ngroup().to_numpy().astype(np.int64)
        order = np.argsort(owner, kind="stable")
        names = [name.removesuffix("_cycles") for name in _BUDGET]
        values = table[names].to_numpy().astype(float)[order]
        means.append(values.mean(0))
        weights = bootstrap.weights(owner[order], stream)
        draws.append(bootstrap.ratios(values, np.ones(len(values)), weights))
    moved = draws[1] - draws[0]
    return [
        _row((-1, -1), f"budget:{name}", "per iteration", float(means[0][i]), float(means[1][i]),
             moved[:, i])
        for i, name in enumerate(_BUDGET)
    ]  # fmt: skip
