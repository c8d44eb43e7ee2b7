"""Tables in a terminal or a pipe, as wide as there is room.

A number, a unit or a place is never shortened: columns are left out by rank, and a line says
how many. Only a last column of instructions is cut at the end of the line.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

from tracekit.present.cells import Column

if TYPE_CHECKING:
    import pandas as pd

#: Rows of a table before it says how many more there are.
ROWS = 10
#: What is left of a column that may be cut, at least, before others give way.
CUT = 24
_GAP = "  "


@dataclass(frozen=True)
class Shown:
    """A table for people: ``table`` under ``title``, its ``columns`` by name; at most ``limit``
    rows (None: all), in a pipe all of them where it is ``raw``."""

    table: pd.DataFrame
    title: str
    columns: Mapping[str, Column]
    limit: int | None = ROWS
    raw: bool = False


@dataclass(frozen=True)
class Cells:
    """The same in words: ``columns`` say how, ``rows`` have a text for each; ``more``: rows
    that are not among them."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]
    limit: int | None = ROWS
    raw: bool = False
    more: int = 0


#: Writes the tables of several captures as one file.
CsvWriter = Callable[[IO[str], Sequence["pd.DataFrame"]], None]


def room(out: IO[str]) -> int | None:
    """Columns of the terminal, or what COLUMNS says; None: as wide as it gets."""
    told = os.environ.get("COLUMNS", "")
    if told.isdigit() and int(told):
        return int(told)
    if not out.isatty():
        return None
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):
        return None


def write_csv(out: IO[str], tables: Sequence[pd.DataFrame]) -> None:
    """Tables of the same columns as one, below one heading."""
    for number, table in enumerate(tables):
        table.to_csv(out, index=False, header=number == 0, lineterminator="\n")


def cells(shown: Shown) -> Cells:
    """All of a table in words: the columns that it has, one that may be cut at the end."""
    table, columns = shown.table, shown.columns
    names = _last_cut([name for name in columns if name in table.columns], columns)
    texts = [list(map(columns[name].cell, table[name].tolist())) for name in names]
    return Cells(
        shown.title, tuple(columns[name] for name in names), list(zip(*texts, strict=True)),
        shown.limit, shown.raw,
    )  # fmt: skip


def write_table(
    out: IO[str], shown: Shown, *, whole: bool = False, width: int | None = None
) -> None:
    """Aligned columns that fit ``width`` (None: all of them), its first rows unless ``whole``.

    A table without rows is one line that says so.
    """
    limit = None if whole or (shown.raw and not out.isatty()) else shown.limit
    part = shown.table if limit is None else shown.table.head(limit)
    hidden = len(shown.table) - len(part)
    _write(out, cells(replace(shown, table=part)), hidden, width)


def write_cells(
    out: IO[str], table: Cells, *, whole: bool = False, width: int | None = None
) -> None:
    """``write_table`` of what is in words already."""
    limit = None if whole or (table.raw and not out.isatty()) else table.limit
    part = table.rows if limit is None else table.rows[:limit]
    _write(out, replace(table, rows=part), len(table.rows) - len(part), width)


def _write(out: IO[str], table: Cells, hidden: int, width: int | None) -> None:
    """``hidden``: rows that are there and not shown."""
    if not table.rows:
        out.write(wrapped(f"{table.title}: none", width) + "\n")
        return
    columns = {str(at): column for at, column in enumerate(table.columns)}
    texts = {
        name: [columns[name].heading, *column]
        for name, column in zip(columns, zip(*table.rows, strict=True), strict=True)
    }
    widths = {name: max(map(len, texts[name])) for name in columns}
    kept = list(columns) if width is None else fitting(list(columns), columns, widths, width)
    out.write(wrapped(table.title, width) + "\n")
    for row in zip(*(texts[name] for name in kept), strict=True):
        line = _GAP.join(
            text.ljust(widths[name]) if columns[name].left else text.rjust(widths[name])
            for name, text in zip(kept, row, strict=True)
        ).rstrip()
        cut = width is not None and len(line) > width and columns[kept[-1]].cut
        out.write((line[: width - 1] + "…" if cut and width else line) + "\n")
    more = []
    if hidden:
        more.append(f"+{hidden:,} row{'s' if hidden > 1 else ''}: --all")
    if len(kept) < len(columns):
        left = len(columns) - len(kept)
        more.append(f"+{left} column{'s' if left > 1 else ''}: --wide")
    if table.more:
        more.append(f"+{table.more:,} row{'s' if table.more > 1 else ''} left out of the digest")
    if more:
        out.write(", ".join(more) + "\n")


def fitting(
    names: Sequence[str], columns: Mapping[str, Column], widths: Mapping[str, int], width: int
) -> list[str]:
    """The columns that fit: the one of highest rank goes first, of one rank the last; those of
    rank 0 stay."""
    kept = list(names)

    def needed() -> int:
        each = (min(widths[n], CUT) if columns[n].cut else widths[n] for n in kept)
        return sum(each) + len(_GAP) * (len(kept) - 1)

    while needed() > width:
        loose = [name for name in kept if columns[name].rank]
        if not loose:
            break
        most = max(columns[name].rank for name in loose)
        kept.remove([name for name in loose if columns[name].rank == most][-1])
    return kept


def _last_cut(names: list[str], columns: Mapping[str, Column]) -> list[str]:
    """With the column that may be cut at the end."""
    return sorted(names, key=lambda name: columns[name].cut)


def wrapped(text: str, width: int | None) -> str:
    """In lines that fit; no word is broken."""
    if width is None:
        return text
    lines = [
        line
        for each in text.splitlines()
        for line in textwrap.wrap(
            each, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    ]
    return "\n".join(lines)
