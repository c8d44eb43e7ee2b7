"""What a rule sees fire: words for numbers that all rules share."""

from __future__ import annotations

from tracekit.analysis.explain.evidence import PLACE, Evidence
from tracekit.analysis.explain.page import Ref

#: Share of the idle cycles from which on a cause, or one wait of it, is worth advice.
CAUSE, WAIT = 0.1, 0.03


def percent(value: float) -> str:
    """A share in a sentence."""
    return f"{100 * value:.1f} %"


def first_charged(evidence: Evidence, cause: str, split: str = "", most: int = 3) -> list[Ref]:
    """The instructions that most idle cycles of ``cause`` (and ``split``) are charged to."""
    table = evidence.instructions
    table = table[(table["cause"] == cause) & (table["instruction"] != "")]
    if split:
        table = table[table["split"] == split]
    sums = table.groupby(PLACE, sort=False)["cycles"].sum()
    at = sums.sort_values(ascending=False, kind="stable").index[:most]
    return [evidence.ref(*map(int, place)) for place in at]


def listed(refs: list[Ref]) -> str:
    """ "0x10, 0x20"."""
    return ", ".join(ref.place for ref in refs)
