"""One row for the SIMDs of an SE, with the range of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracekit.analysis.checks.findings import ranges
from tracekit.present.cells import Column, is_missing

if TYPE_CHECKING:
    import pandas as pd

_SIMD = "simd"


def folded(
    table: pd.DataFrame, columns: Mapping[str, Column], keys: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, Column]]:
    """(rows, columns) of texts: the rows of ``table`` with the same ``keys`` become one.

    The SIMDs read "0-3", equal values stay, others are "28.5–28.7 %"; texts that differ are
    listed. In the order in which the keys come first.
    """
    import pandas as pd

    own = [name for name in keys if name in table.columns]
    shown = [name for name in columns if name in table.columns]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.to_dict("records"):
        values = {str(name): value for name, value in row.items()}
        groups.setdefault(tuple(values[name] for name in own), []).append(values)
    rows = [
        {name: _cell(name, columns[name], [row[name] for row in group]) for name in shown}
        for group in groups.values()
    ]
    texts = {name: replace(column, text=str) for name, column in columns.items()}
    return pd.DataFrame(rows, columns=shown), texts


def _cell(name: str, column: Column, values: Sequence[Any]) -> str:
    if name == _SIMD:
        return ranges(map(int, values))
    texts = list(dict.fromkeys(map(column.cell, values)))
    known = [value for value in values if not is_missing(value)]
    if len(texts) == 1:
        return texts[0]
    if column.left or not all(isinstance(value, int | float) for value in known):
        return ", ".join(texts)
    return span(column.cell(min(known)), column.cell(max(known)))


def span(low: str, high: str) -> str:
    """ "28.5 %", "28.7 %" -> "28.5–28.7 %"; signed ones with "to"."""
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    if unit and high.endswith(f" {unit}"):
        low = number
    return f"{low} to {high}" if low[:1] in "+-" else f"{low}–{high}"
