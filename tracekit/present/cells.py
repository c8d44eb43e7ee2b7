"""Columns of tables for people: headings, and how a value reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: What stands where a value is missing.
MISSING = "-"


@dataclass(frozen=True)
class Column:
    """How a column shows: its heading, the text of a value, and of a missing one.

    ``rank``: where there is no room the highest goes first, 0 never; ``cut``: its texts may be
    cut at the end of the line (code, never a number or a place).
    """

    heading: str
    text: Callable[[Any], str] = str
    left: bool = False
    missing: str = MISSING
    rank: int = 1
    cut: bool = False

    def cell(self, value: Any) -> str:
        """The text of ``value``; ``text`` never sees a missing one."""
        return self.missing if is_missing(value) else self.text(value)


def is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ == "NAType"
    )


def percent(value: float) -> str:
    """A fraction as per cent with one decimal."""
    return f"{100 * value:.1f} %"


def number(value: float) -> str:
    """An integer with thousands separated."""
    return f"{int(value):,}"


def mean(value: float) -> str:
    """A mean: one decimal unless it is whole."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def decimal(value: float) -> str:
    """One decimal, thousands separated."""
    return f"{value:,.1f}"


def signed(value: float) -> str:
    """A difference with one decimal."""
    return f"{value:+,.1f}"


def score(value: float) -> str:
    """A score from -1 to +1."""
    return f"{value:+.2f}"


def address(value: int) -> str:
    """An ELF address in hex; those below 0 are unknown."""
    return MISSING if int(value) < 0 else f"{int(value):#x}"


def line(value: int) -> str:
    """A line number; those below 1 are unknown."""
    return MISSING if int(value) < 1 else str(int(value))


def word(value: Any) -> str:
    """A word, where an empty one is a missing value."""
    return str(value) if value else MISSING
