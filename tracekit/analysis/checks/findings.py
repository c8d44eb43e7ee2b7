"""What a check of a capture can say: findings, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["info", "warning", "fatal"]
Verdict = Literal["good", "usable", "do not conclude"]

COLUMNS = ("id", "severity", "value", "reason", "remedy")
#: Worst first.
SEVERITIES: tuple[Severity, ...] = ("fatal", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """One thing to know before believing numbers of a capture.

    ``value``: a count or a fraction, by ``id`` (docs/quality.md gives its unit), None where
    there is no number.  ``remedy``: what to change to be rid of it, "" where nothing helps.
    """

    id: str
    severity: Severity
    value: float | int | None
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class Quality:
    """The verdict on a capture, and all findings, worst first."""

    verdict: Verdict
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Quality:
        """ "do not conclude" with a fatal finding, "usable" with a warning, else "good"."""
        ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
        worst = ordered[0].severity if ordered else "info"
        verdicts: dict[str, Verdict] = {"fatal": "do not conclude", "warning": "usable"}
        return cls(verdicts.get(worst, "good"), ordered)

    @property
    def reasons(self) -> list[Finding]:
        """The findings that keep the verdict from being better than it is."""
        return [f for f in self.findings if f.severity != "info"]

    def line(self) -> str:
        """``quality: usable (first reason; 2 more, see tracekit check)``."""
        if not self.reasons:
            return f"quality: {self.verdict}"
        first, *others = self.reasons
        more = f"; {len(others)} more, see tracekit check" if others else ""
        return f"quality: {self.verdict} ({first.reason}{more})"

    def summary(self) -> dict[str, Any]:
        """For the JSON result of any report: the verdict and what lowers it."""
        return {"verdict": self.verdict, "findings": [asdict(f) for f in self.reasons]}


def ranges(numbers: Iterable[int]) -> str:
    """ "0-3, 7" for 0, 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def percent(part: int, whole: int) -> str:
    """A share as per cent, never rounded to 0 or 100 when it is neither."""
    share = 100 * part / whole
    for digits in (1, 2, 3, 4):
        text = f"{share:.{digits}f}"
        if float(text) not in (0, 100) or part in (0, whole):
            break
    return f"{text} %"
