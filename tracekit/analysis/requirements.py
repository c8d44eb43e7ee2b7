"""What a gate asks of a comparison, and whether the data can say that it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tracekit.analysis.checks.findings import Quality, Question
from tracekit.errors import TracekitError

#: Metrics of --require and the questions that both captures must answer for them; all but
#: cycles and median_cycles are in points of the window.
REQUIRABLE: dict[str, tuple[Question, ...]] = {
    "matrix": ("matrix",), "vector": ("vector",), "overlap": ("matrix", "vector"),
    "matrix_idle": ("matrix",), "cycles": ("waves",), "median_cycles": ("waves",),
}  # fmt: skip
_CYCLES = ("cycles", "median_cycles")
_REQUIRE = re.compile(r"\s*(\w+)\s*(>=|<=|>|<)\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*$")


class NotComparable(TracekitError):
    """The captures do not compare, or a requirement cannot be read."""

    exit_code = 2


@dataclass(frozen=True)
class Change:
    """A difference and its 95 % interval: points of the window, cycles, or % of the base."""

    difference: float
    low: float
    high: float

    @property
    def smallest(self) -> float:
        """The smallest difference that this interval would tell from none."""
        return max(self.high - self.difference, self.difference - self.low)


@dataclass(frozen=True)
class Requirement:
    """``metric`` must change by ``operator`` ``value`` (points, cycles, or % of the base)."""

    text: str
    metric: str
    operator: str
    value: float
    relative: bool

    @property
    def unit(self) -> str:
        if self.metric not in _CYCLES:
            return "points"
        return "%" if self.relative else "cycles"

    def met(self, change: Change, *, point_estimate: bool = False) -> bool:
        """Whether all of the interval satisfies it; with ``point_estimate`` the difference."""
        bounds = (change.difference,) if point_estimate else (change.low, change.high)
        return all(self._holds(found) for found in bounds)

    def _holds(self, found: float) -> bool:
        return {
            ">=": found >= self.value, "<=": found <= self.value,
            ">": found > self.value, "<": found < self.value,
        }[self.operator]  # fmt: skip


def requirement(text: str) -> Requirement:
    """Read "overlap>=+5" or "cycles<=-3%"; raises NotComparable for anything else."""
    found = _REQUIRE.match(text)
    if found is None or found[1] not in REQUIRABLE or (found[4] and found[1] not in _CYCLES):
        raise NotComparable(
            f"cannot require {text!r}: METRIC>=POINTS or METRIC<=POINTS with METRIC one of "
            f"{', '.join(REQUIRABLE)} (the cycles also in %)"
        )
    return Requirement(text, found[1], found[2], float(found[3]), bool(found[4]))


def refusals(wanted: Sequence[Requirement], judged: dict[str, Quality]) -> list[str]:
    """Why a gate cannot decide ``wanted`` on captures with these verdicts; empty if it can."""
    questions = [question for need in wanted for question in REQUIRABLE[need.metric]]
    found = {name: quality.refusal(questions) for name, quality in judged.items()}
    return [f"{name}: {reason}" for name, reason in found.items() if reason]
