"""Two captures, aligned by loop iteration: what changed, and whether it is more than noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.budget import Budget
from tracekit.analysis.causes import CAUSES, Causes
from tracekit.analysis.checks.findings import QUESTIONS
from tracekit.analysis.model import bootstrap
from tracekit.analysis.model.bodies import body, differences, shared
from tracekit.analysis.model.kernels import kernel_names
from tracekit.analysis.model.window import DEFAULT
from tracekit.analysis.requirements import Change, NotComparable
from tracekit.analysis.turns import SHARES, Turns, joined, turns
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "base", "new", "se", "simd", "metric", "unit", "base_value", "new_value", "difference",
    "relative", "low", "high", "relative_low", "relative_high", "within_noise", "warning",
)  # fmt: skip
_BUDGET = ("matrix_cycles", "vector_cycles", "lds_cycles", "vmem_cycles", "scalar_cycles",
           "nop_cycles", "instructions")  # fmt: skip
_WAVE = ("se", "cu", "simd", "dispatch", "slot", "wave")
#: Share of the instructions of two loop bodies below which they are different code.
SAME_CODE = 0.5


@dataclass
class Comparison:
    """``rows``: one per SIMD and metric, and the sum of all with se and simd -1 (COLUMNS);
    ``bodies``: changes of the dominant loop's instructions (bodies.COLUMNS); ``warnings``:
    why the two may not be versions of one kernel, also in each row."""

    rows: pd.DataFrame
    bodies: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def change(self, metric: str, *, relative: bool = False) -> Change:
        """The change of ``metric`` in the sum, in its unit or in % of the base.

        Raises NotComparable where it is not known.
        """
        total = self.rows[(self.rows["se"] < 0) & (self.rows["metric"] == metric)]
        names = ("relative", "relative_low", "relative_high")
        names = names if relative else ("difference", "low", "high")
        if not len(total) or total[list(names)].isna().any(axis=None):
            raise NotComparable(f"{metric}: not known for both captures")
        scale = 100 if relative else 1
        return Change(*(scale * float(total[name].iloc[0]) for name in names))


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
    code = [body(each.listing, part.loops) for each, part in zip((base, new), found, strict=True)]
    listed = differences(base.listing, code[0], new.listing, code[1])
    warnings = _warnings(one, other, code)
    table["warning"] = "; ".join(warnings)
    return Comparison(table.reindex(columns=list(COLUMNS)), listed, notes, warnings)


def _warnings(one: Analysis, other: Analysis, code: list[list[int]]) -> list[str]:
    """Why the two captures may not be versions of one kernel, and what cannot be concluded."""
    base, new = one.timeline, other.timeline
    names = ["; ".join(kernel_names(timeline)) for timeline in (base, new)]
    found = []
    if all(names) and names[0] != names[1]:
        found.append(f"different kernels: {names[0]} and {names[1]}")
    if all(code):
        share = shared(base.listing, code[0], new.listing, code[1])
        if share < SAME_CODE:
            found.append(f"the loop bodies share {100 * share:.0f} % of their instructions")
    for each in (one, other):
        refusal = each.quality.refusal(QUESTIONS)
        if refusal:
            found.append(f"{each.timeline.capture}: {refusal}")
    return found


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
        rows.append(_row(key, _Metric("cycles", "cycles", old, young), spread))
    draws = [
        bootstrap.ratios(
            part.values.astype(float), part.cycles.astype(float),
            bootstrap.weights(part.cluster, stream),
        )
        for stream, part in enumerate((base, new))
    ]  # fmt: skip
    shares = 100 * base.shares, 100 * new.shares
    names = [*SHARES, *(f"cause:{name}" for name in CAUSES)]
    for i, name in enumerate(names):
        old, young = float(shares[0][i]), float(shares[1][i])
        if name in SHARES or old or young:
            spread = [100 * draw[:, i] for draw in draws]
            rows.append(_row(key, _Metric(name, "% of window", old, young), spread))
    return rows


class _Metric(NamedTuple):
    name: str
    unit: str
    base: float
    new: float


def _row(
    key: tuple[int, int], metric: _Metric, spread: list[bootstrap.Floats]
) -> dict[str, object]:
    """One row; ``spread``: replicates of both values, empty for values without noise."""
    difference = metric.new - metric.base
    relative = difference / metric.base if metric.base else None
    interval, shares = (difference, difference), (relative, relative)
    if spread:
        interval = bootstrap.interval(spread[1] - spread[0])
        known = bool((spread[0] > 0).all())
        shares = bootstrap.interval(spread[1] / spread[0] - 1) if known else (None, None)
    return {
        "se": key[0], "simd": key[1], "metric": metric.name, "unit": metric.unit,
        "base_value": metric.base, "new_value": metric.new, "difference": difference,
        "relative": relative, "low": interval[0], "high": interval[1],
        "relative_low": shares[0], "relative_high": shares[1],
        "within_noise": bool(spread) and interval[0] <= 0 <= interval[1],
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
    return [
        _row(
            (-1, -1),
            _Metric(f"budget:{name}", "per iteration", float(means[0][i]), float(means[1][i])),
            [draw[:, i] for draw in draws],
        )
        for i, name in enumerate(_BUDGET)
    ]
