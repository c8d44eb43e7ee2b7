"""A sheet in a terminal or a pipe, and as markdown for a pull request."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tracekit.present.explained.sheet import FOOT, Sheet

CHANGED = ("cause, cycles an iteration", "before", "after", "difference", "95 % interval", "")
#: Lines of a page: two screens.
LINES = 50
COLUMNS = ("share", "removable", "cycles an iteration", "gain")


def text(page: Sheet, width: int | None = None) -> str:
    """At most LINES lines, where none is longer than ``width``; longer ones go on indented.
    Further kernels only as far as there is room."""
    lines = [page.verdict] if page.verdict else []
    lines += [page.headline, *(f"  {fact}" for fact in page.facts)]
    table = [(page.heading, *COLUMNS)]
    table += [(f"{i}  {row.title}", row.share, row.removable, row.per_iteration, row.gain)
              for i, row in enumerate(page.rows, 1)]  # fmt: skip
    aligned = _aligned(table)
    lines += ["", aligned[0]] if page.rows else []
    for line, row in zip(aligned[1:], page.rows, strict=True):
        lines += [line, *(f"     {detail}" for detail in row.details)]
    lines += [f"   {page.rest}"] if page.rest else []
    lines += [f"   {each}" for each in page.gains]
    if page.advice:
        lines += ["", *(f"try: {each}" for each in page.advice)]
    if page.changed:
        lines += ["", *_aligned([CHANGED, *page.changed])]
    room = LINES - len(lines) - 4
    if page.others:
        more = len(page.others) - room
        lines += ["", *page.others[:room]]
        lines += [f"... {more} more kernels in --json"] if more > 0 else []
    return "\n".join(_wrapped([*lines, "", FOOT], width)) + "\n"


def _wrapped(lines: Sequence[str], width: int | None) -> list[str]:
    """Lines of at most ``width`` columns, cut at blanks."""
    if width is None:
        return list(lines)
    found: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        found += textwrap.wrap(
            line, max(width, 2 * len(indent)), subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False, drop_whitespace=True,
        ) or [line]  # fmt: skip
    return found


def markdown(page: Sheet) -> str:
    """The same with tables that a code host renders."""
    lines = [f"> {page.verdict}", ""] if page.verdict else []
    lines += [f"**{page.headline}**", "", *(f"- {fact}" for fact in page.facts), ""]
    rows = [
        (
            str(i),
            f"{row.title}{''.join(f'<br>{each}' for each in row.details)}",
            row.share,
            row.removable,
            row.per_iteration,
            row.gain,
        )
        for i, row in enumerate(page.rows, 1)
    ]
    lines += [*_markdown(("", page.heading, *COLUMNS), rows), ""]
    lines += [page.rest, ""] if page.rest else []
    lines += [*(f"- {each}" for each in page.gains), ""] if page.gains else []
    lines += [*(f"- **try:** {each}" for each in page.advice), ""] if page.advice else []
    lines += [*_markdown(CHANGED, page.changed), ""] if page.changed else []
    lines += [*(f"- {each}" for each in page.others), ""] if page.others else []
    return "\n".join([*lines, FOOT]) + "\n"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [line(heading), line(["---"] * len(heading)), *map(line, rows)]
