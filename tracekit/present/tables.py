"""Tables in a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from tracekit.present.cells import Column

if TYPE_CHECKING:
    import pandas as pd

#: Rows that a terminal shows before it says how many more there are.
TERMINAL_ROWS = 30


def write_table(
    out: IO[str], table: pd.DataFrame, title: str, columns: Mapping[str, Column], *, whole: bool
) -> None:
    """Aligned columns: framed on a terminal (its first rows unless ``whole``), else plain.

    A table without rows is one line that says so.
    """
    if not len(table):
        out.write(f"{title}: none\n")
        return
    names = [name for name in columns if name in table.columns]
    shown = table if whole or not out.isatty() else table.head(TERMINAL_ROWS)
    cells = [
        [columns[name].cell(value) for name, value in zip(names, row, strict=True)]
        for row in shown[names].itertuples(index=False, name=None)
    ]
    more = len(table) - len(shown)
    styles = [columns[name] for name in names]
    if out.isatty():
        _framed(title, styles, cells)
    else:
        out.write(f"{title}\n")
        headings = [style.heading for style in styles]
        widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
        for row in [headings, *cells]:
            line = "  ".join(
                text.ljust(width) if style.left else text.rjust(width)
                for style, text, width in zip(styles, row, widths, strict=True)
            )
            out.write(line.rstrip() + "\n")
    if more:
        out.write(f"... {more} more, use --all\n")


def _framed(title: str, styles: list[Column], cells: list[list[str]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    view = Table(title=escape(title), title_justify="left")
    for style in styles:
        view.add_column(style.heading, justify="left" if style.left else "right")
    for row in cells:
        view.add_row(*map(escape, row))
    Console().print(view)
