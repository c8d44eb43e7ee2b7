"""What a check of a capture can say: findings, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["info", "warning", "fatal"]
Verdict = Literal["good", "usable", "do not conclude"]
#: What a capture can be asked: how busy the matrix pipe is and why it idles, the same of the
#: vector pipe, and where the time of waves goes (waits, iterations, hotspots).
Question = Literal["matrix", "vector", "waves"]
QUESTIONS: tuple[Question, ...] = ("matrix", "vector", "waves")
#: How a question reads behind "about".
SUBJECTS: dict[Question, str] = {
    "matrix": "the matrix pipe", "vector": "the vector pipe", "waves": "wave time",
}  # fmt: skip

COLUMNS = ("id", "severity", "value", "reason", "remedy", "blocks")
#: Worst first.
SEVERITIES: tuple[Severity, ...] = ("fatal", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """One thing to know before believing numbers of a capture.

    ``value``: a count or a fraction, by ``id`` (docs/quality.md gives its unit), None where
    there is no number.  ``remedy``: what to change to be rid of it, "" where nothing helps.
    ``blocks``: the questions that it keeps from being answered; all of them where it is fatal
    and names none.
    """

    id: str
    severity: Severity
    value: float | int | None
    reason: str
    remedy: str = ""
    blocks: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        if self.severity == "fatal" and not self.blocks:
            object.__setattr__(self, "blocks", QUESTIONS)

    @property
    def gist(self) -> str:
        """The reason up to its first colon."""
        return self.reason.split(": ")[0]


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

    @classmethod
    def told(cls, found: Mapping[str, Any]) -> Quality:
        """What a JSON result says (``summary``, or ``asdict``): enough to refuse by."""
        findings = [Finding(**{**each, "blocks": tuple(each["blocks"])})
                    for each in found["findings"]]  # fmt: skip
        return cls(found["verdict"], findings)

    @property
    def reasons(self) -> list[Finding]:
        """The findings that keep the verdict from being better than it is."""
        return [f for f in self.findings if f.severity != "info"]

    def blocking(self, question: Question) -> list[Finding]:
        """The findings that keep ``question`` from being answered."""
        return [f for f in self.findings if question in f.blocks]

    @property
    def questions(self) -> dict[Question, Verdict]:
        """The verdict for each question: "do not conclude" where a finding blocks it."""
        open_verdict: Verdict = (
            "usable" if any(f.severity == "warning" for f in self.findings) else "good"
        )
        return {
            question: "do not conclude" if self.blocking(question) else open_verdict
            for question in QUESTIONS
        }

    @property
    def sentence(self) -> str:
        """``usable``, or what the verdict is good for and what it says nothing about."""
        verdicts = self.questions
        closed = [q for q in QUESTIONS if verdicts[q] == "do not conclude"]
        held = [q for q in reversed(QUESTIONS) if q not in closed]
        if not closed or not held:
            return self.verdict
        gists = dict.fromkeys(f.gist for q in closed for f in self.blocking(q))
        return (
            f"{verdicts[held[0]]} for {_all_of(held)}; nothing can be concluded about "
            f"{_all_of(closed)}: {', '.join(gists)}"
        )

    def refusal(self, questions: Iterable[Question]) -> str:
        """Why a gate may not pass on ``questions``; "" where nothing speaks against it."""
        closed = [q for q in QUESTIONS if q in set(questions) and self.blocking(q)]
        if not closed:
            return ""
        gists = dict.fromkeys(f.gist for q in closed for f in self.blocking(q))
        return f"nothing can be concluded about {_all_of(closed)}: {', '.join(gists)}"

    def line(self) -> str:
        """``quality: usable (first reason; 2 more, see tracekit check)``."""
        partly = self.sentence != self.verdict
        # What closes a question is in the sentence already.
        reasons = [f for f in self.reasons if not (partly and f.blocks)]
        if not reasons:
            return f"quality: {self.sentence}"
        first, *others = reasons
        more = f"; {len(others)} more, see tracekit check" if others else ""
        return f"quality: {self.sentence} ({first.reason}{more})"

    def summary(self) -> dict[str, Any]:
        """For the JSON result of any report: the verdicts and what lowers them."""
        kept = [f for f in self.findings if f.severity != "info" or f.blocks]
        return {
            "verdict": self.verdict,
            "questions": dict(self.questions),
            "findings": [asdict(f) for f in kept],
        }


def _all_of(questions: Iterable[Question]) -> str:
    """ "the matrix pipe and wave time"."""
    *first, last = [SUBJECTS[question] for question in questions]
    return f"{', '.join(first)} and {last}" if first else last


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
