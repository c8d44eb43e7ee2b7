"""What changed since another capture of the kernel: every cause before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tracekit.analysis.compare import Comparison, compare_runs
from tracekit.analysis.comparison.runs import BUSY, Run
from tracekit.analysis.requirements import NotComparable

Verdict = Literal["shrank", "grew", "unchanged"]
#: Cycles of an iteration below which nobody would call it a change.
NOTHING = 0.05
_PIECE = "iteration:"


class Side(Protocol):
    """A kernel before or after: Evidence, or what a digest kept of it."""

    @property
    def kernel(self) -> str: ...
    @property
    def matrix_cycles(self) -> int: ...
    @property
    def run(self) -> Run: ...


@dataclass(frozen=True)
class Change:
    """A cause in mean cycles of an iteration, as ``compare`` has it; ``low`` to ``high``: 95 %
    interval of the difference; "unchanged" where that contains 0, or next to nothing changed.

    ``key`` is a cause, or "iteration": the length of all of it.
    """

    key: str
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Changes:
    """The iteration and every cause that either side has, largest difference first (none where
    they cannot be compared), and what to know of the comparison."""

    rows: tuple[Change, ...]
    warnings: tuple[str, ...]


def matching(kernel: str, base: Sequence[Side]) -> Side | None:
    """The one of ``base`` with the name ``kernel``; without, the heaviest."""
    named = [each for each in base if each.kernel == kernel]
    heaviest = sorted(base, key=lambda each: -each.matrix_cycles)
    return next(iter([*named, *heaviest]), None)


def changes(before: Side, after: Side) -> Changes:
    """What changed from ``before`` to ``after``."""
    try:
        found = compare_runs([before.run], [after.run])
    except NotComparable as error:
        return Changes((), (f"nothing is compared with the base: {error}",))
    warnings = tuple(found.warnings)
    if "cycles" not in found.metrics:
        return Changes((), (*warnings, "nothing is compared with the base: one has no loop"))
    whole, *rest = _rows(found)
    rest.sort(key=lambda each: -abs(each.difference))
    return Changes((whole, *rest), warnings)


def _rows(found: Comparison) -> list[Change]:
    metrics = found.metrics
    causes = [name for name in metrics if name.startswith(_PIECE) and name != BUSY]
    rows = [_change("iteration", metrics["cycles"])]
    return rows + [_change(name.removeprefix(_PIECE), metrics[name]) for name in causes]


def _change(key: str, row: dict[str, Any]) -> Change:
    low, high, difference = row["low"], row["high"], float(row["difference"])
    sure = low is not None and low == low and not (low <= 0 <= high)
    verdict: Verdict = "unchanged"
    if sure and abs(difference) >= NOTHING:
        verdict = "grew" if difference > 0 else "shrank"
    return Change(
        key, float(row["base_value"]), float(row["new_value"]), difference, low, high, verdict
    )
