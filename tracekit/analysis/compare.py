"""Two sides, a kernel before and after: what changed, and whether it is more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.checks.findings import QUESTIONS
from tracekit.analysis.comparison.estimates import Estimate, between_runs, difference, like
from tracekit.analysis.comparison.runs import Metric, Run, measure, unit
from tracekit.analysis.model.bodies import differences, shared
from tracekit.analysis.model.kernels import short_name
from tracekit.analysis.model.window import DEFAULT
from tracekit.analysis.requirements import Change, NotComparable
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "base", "new", "se", "simd", "metric", "unit", "base_value", "new_value", "difference",
    "relative", "low", "high", "relative_low", "relative_high", "within_noise", "noise", "warning",
)  # fmt: skip
#: Share of the instructions of two loop bodies below which they are different code.
SAME_CODE = 0.5
BETWEEN, WITHIN = "between runs", "within a run"


@dataclass(frozen=True)
class Comparison:
    """``rows``: one per SIMD and metric, and of all with se and simd -1 (COLUMNS); ``bodies``:
    changes of the dominant loop's instructions (bodies.COLUMNS); ``noise``: BETWEEN where a
    side has several runs, else WITHIN; ``warnings``: why the two may not be versions of one
    kernel, also in each row."""

    base: tuple[Run, ...]
    new: tuple[Run, ...]
    rows: pd.DataFrame
    bodies: pd.DataFrame
    noise: str
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def total(self) -> pd.DataFrame:
        """The rows of all SIMDs together."""
        return self.rows[self.rows["se"] < 0]

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """The same by metric."""
        rows = self.total.to_dict("records")
        return {str(row["metric"]): {str(k): v for k, v in row.items()} for row in rows}

    @property
    def told_noise(self) -> str:
        """What the intervals are about, in a sentence."""
        counts = len(self.base), len(self.new)
        if self.noise == WITHIN:
            return (
                "95 % intervals within a run, over its iterations; give several runs a side to "
                "see what runs differ by"
            )
        if 1 in counts:
            return (
                f"95 % intervals between {max(counts)} runs; the one run of the other side is "
                "taken to vary as they do"
            )
        return f"95 % intervals between runs, {counts[0]} of base and {counts[1]} of new"

    def change(self, metric: str, *, relative: bool = False) -> Change:
        """The change of ``metric`` in all SIMDs, in its unit or in % of the base.

        Raises NotComparable where it is not known.
        """
        total = self.total[self.total["metric"] == metric]
        names = ("relative", "relative_low", "relative_high")
        names = names if relative else ("difference", "low", "high")
        if not len(total) or total[list(names)].isna().any(axis=None):
            raise NotComparable(f"{metric}: not known for both captures")
        scale = 100 if relative else 1
        return Change(*(scale * float(total[name].iloc[0]) for name in names))


def compare(base: Timeline, new: Timeline, window: str = DEFAULT) -> Comparison:
    """What ``new`` changed against ``base``, over ``window`` of each.

    cycles is the mean of an iteration of the dominant loop; iteration:NAME split it, and sum
    to it.  Shares of the window (matrix, vector, overlap, matrix_idle and every cause) differ
    in points.  Each difference has a 95 % interval; it is within noise when that contains 0.
    Raises NotComparable for known and different architectures, or where nothing can be
    compared.
    """
    return compare_of(Analysis(base, window), Analysis(new, window))


def compare_of(one: Analysis, other: Analysis) -> Comparison:
    """``compare`` of two analyses, each in its window."""
    return compare_runs([measure(one)], [measure(other)])


def compare_runs(base: Sequence[Run], new: Sequence[Run]) -> Comparison:
    """``compare`` of the runs of two sides, measured in one window.

    With several runs on a side, intervals are those between runs.  Raises NotComparable as
    ``compare``, and for runs of other windows or parts.
    """
    import pandas as pd

    _check([*base, *new])
    between = len(base) > 1 or len(new) > 1
    warnings = _warnings(base, new)
    common = {
        "base": _names(base), "new": _names(new), "warning": "; ".join(warnings),
        "noise": BETWEEN if between else WITHIN,
    }  # fmt: skip
    metrics = {metric: None for run in (*base, *new) for metric in run.metrics}
    simds = [{metric[:2] for metric in run.metrics} for run in (*base, *new)]
    both = set.intersection(*simds)
    rows = [
        {**row, **common}
        for metric in sorted(metrics, key=lambda metric: (metric.se < 0, metric[:2]))
        if metric[:2] in both and (row := _row(metric, base, new))
    ]
    notes = [f"{run.origin.capture}: {note}" for run in (*base, *new) for note in run.notes]
    if any(run.origin.arch.assumed for run in (*base, *new)):
        notes.append("an architecture is assumed: whether the chips are the same is not known")
    return Comparison(
        tuple(base), tuple(new), pd.DataFrame(rows).reindex(columns=list(COLUMNS)),
        differences(base[0].body, new[0].body), str(common["noise"]), notes, warnings,
    )  # fmt: skip


def _check(runs: Sequence[Run]) -> None:
    """Raise NotComparable for runs that no comparison can be made of."""
    first = runs[0].origin
    for run in runs:
        own = run.origin
        if not run.metrics:
            raise NotComparable(f"{own.capture}: no SIMD with known matrix costs to compare")
        unsure = first.arch.assumed or own.arch.assumed
        if not unsure and first.arch.name != own.arch.name:
            raise NotComparable(
                f"{first.capture} is {first.arch.name} ({first.arch.source}), {own.capture} is "
                f"{own.arch.name} ({own.arch.source}): cycles of different chips do not compare"
            )
        for name, one, other in (
            ("window", first.window, own.window), ("part", first.part, own.part),
        ):  # fmt: skip
            if one != other:
                raise NotComparable(
                    f"{first.capture} is of {name} {one}, {own.capture} of {name} {other}"
                )


def _names(runs: Sequence[Run]) -> str:
    return "; ".join(run.origin.capture for run in runs)


def _warnings(base: Sequence[Run], new: Sequence[Run]) -> list[str]:
    """Why the sides may not be versions of one kernel, and what cannot be concluded."""
    found = []
    kernels = [list(dict.fromkeys(run.origin.kernel or "" for run in side)) for side in (base, new)]
    known = [name for side in kernels for name in side if name]
    if len(set(known)) > 1 and (all(map(all, kernels)) or max(map(len, kernels)) > 1):
        short = len({short_name(name) for name in known}) == len(set(known))
        told = [
            ", ".join((short_name(name) if short else name) or "no name" for name in side)
            for side in kernels
        ]
        found.append(f"different kernels: {told[0]} and {told[1]}")
    if len(base[0].body) and len(new[0].body):
        share = shared(base[0].body, new[0].body)
        if share < SAME_CODE:
            found.append(f"the loop bodies share {100 * share:.0f} % of their instructions")
    for side in (base, new):
        for at, run in enumerate(side):
            twin = next((each for each in side[:at] if each.metrics == run.metrics), None)
            if twin is not None:
                found.append(
                    f"{twin.origin.capture} and {run.origin.capture} have the same numbers: one "
                    "run given twice says nothing about noise"
                )
    for run in (*base, *new):
        refusal = run.quality.refusal(QUESTIONS)
        if refusal:
            found.append(f"{run.origin.capture}: {refusal}")
    return found


def _row(metric: Metric, base: Sequence[Run], new: Sequence[Run]) -> dict[str, object]:
    """A row; empty for a metric that a run lacks, and for a cause that none has."""
    sides = [[run.metrics.get(metric) for run in side] for side in (base, new)]
    known = [[each for each in side if each is not None] for side in sides]
    if any(len(side) < len(runs) for side, runs in zip(known, (base, new), strict=True)):
        return {}
    old, young = _side(known[0], known[1]), _side(known[1], known[0])
    optional = metric.name.startswith(("cause:", "iteration:"))
    if optional and not old.value and not young.value:
        return {}
    found = difference(old, young)
    return {
        "se": metric.se, "simd": metric.simd, "metric": metric.name, "unit": unit(metric.name),
        "base_value": old.value, "new_value": young.value, "difference": found.difference,
        "relative": found.relative,
        "low": _known(found.low), "high": _known(found.high),
        "relative_low": _known(found.relative_low), "relative_high": _known(found.relative_high),
        "within_noise": found.within_noise,
    }  # fmt: skip


def _side(own: Sequence[Estimate], others: Sequence[Estimate]) -> Estimate:
    """What the runs of a side say together."""
    if len(own) > 1:
        return between_runs([each.value for each in own])
    if len(others) > 1:
        return like(own[0].value, between_runs([each.value for each in others]), len(others))
    return own[0]


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
