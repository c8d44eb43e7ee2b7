"""Filters (``--se``, ``--cu``, ...): whether one selects anything, and what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tracekit.analysis.checks.findings import ranges
from tracekit.errors import TracekitError

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.tables.timeline import Timeline

#: Option -> how its values read.
FILTERS = {
    "se": "shader engine",
    "cu": "compute unit",
    "simd": "SIMD (0-3)",
    "slot": "wave slot",
    "wave": "n-th wave of its slot, from 0",
    "dispatch": "dispatch id",
}
#: Captures that a message tells of.
_TOLD = 4


class NothingSelected(TracekitError):
    """A filter that no capture has anything for."""

    exit_code = 2


def missing(timeline: Timeline, filters: Mapping[str, int | None], tables: Sequence[str]) -> str:
    """Why the filters select nothing of ``timeline``; "" where they select something.

    Asked are its waves (without any: where waves ran, else its streams) and ``tables``, the
    tables beside the waves that a command reports on.
    """
    wanted = {name: value for name, value in filters.items() if value is not None}
    if not wanted:
        return ""
    first = next(
        (name for name in ("waves", "occupancy", "streams") if len(getattr(timeline, name))),
        "streams",
    )
    for name in dict.fromkeys((first, *tables)):
        table: pd.DataFrame = getattr(timeline, name)
        if set(wanted) <= set(table.columns) and len(_part(table, wanted)):
            return ""
    return _reason(getattr(timeline, first), wanted)


def _part(table: pd.DataFrame, wanted: Mapping[str, int]) -> pd.DataFrame:
    for name, value in wanted.items():
        if name in table.columns:
            table = table[table[name] == value]
    return table


def _reason(table: pd.DataFrame, wanted: Mapping[str, int]) -> str:
    """The first filter after which nothing is left, and what it could be there."""
    given: dict[str, int] = {}
    for name, value in wanted.items():
        before = _part(table, given)
        if name not in table.columns:
            return f"--{name} {value} selects nothing: no wave was traced"
        if not (before[name] == value).any():
            there = ranges(before[name].tolist()) or "none"
            within = " ".join(f"--{key} {number}" for key, number in given.items())
            having = f"with {within} there is" if within else "there is"
            return f"--{name} {value} selects nothing: {having} {name} {there}"
        given[name] = value
    return "the filters select nothing"


def refuse(reasons: Mapping[str, str]) -> None:
    """Raise NothingSelected with ``reasons`` (by capture), if every capture has one."""
    if reasons and all(reasons.values()):
        told = [f"{name}: {reason}" for name, reason in reasons.items()][:_TOLD]
        more = f"; and {len(reasons) - _TOLD} captures more" if len(reasons) > _TOLD else ""
        raise NothingSelected("; ".join(told) + more)
