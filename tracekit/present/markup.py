"""Tables as HTML that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tracekit.present.tables import Shown

#: Rows of a table that are shown.
ROWS = 30
_CELL = "padding:.1rem .7rem;text-align:{}"


def table(shown: Shown) -> str:
    """One table under its title; its first ROWS rows, and how many more there are."""
    frame, columns = shown.table, shown.columns
    names = [name for name in columns if name in frame.columns]
    styles = [_CELL.format("left" if columns[name].left else "right") for name in names]
    lines = [_row("th", (columns[name].heading for name in names), styles)]
    lines += [
        _row("td", (columns[name].cell(value) for name, value in zip(names, row, strict=True)),
             styles)
        for row in frame[names].head(ROWS).itertuples(index=False, name=None)
    ]  # fmt: skip
    more = len(frame) - ROWS
    rest = f"<p>… {more:,} more rows</p>" if more > 0 else ""
    return f"<p><b>{escape(shown.title)}</b></p><table>{''.join(lines)}</table>{rest}"


def paragraphs(lines: Iterable[str]) -> str:
    """Each line a paragraph."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _row(tag: str, cells: Iterable[str], styles: list[str]) -> str:
    made = (
        f'<{tag} style="{style}">{escape(cell)}</{tag}>'
        for cell, style in zip(cells, styles, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"
