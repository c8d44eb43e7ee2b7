"""Sheets as one HTML file that needs nothing else: inline style and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tracekit.present.explained.sheet import FOOT, Sheet
from tracekit.present.explained.text import CHANGED, COLUMNS

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;"
    "vertical-align:top;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
    "small{color:#555}svg{width:100%;height:2rem}.verdict{color:#a40}"
)
#: Of the bar: busy, then causes (Okabe and Ito's colours, which the colour-blind tell apart).
_COLOURS = ("#0072b2", "#d55e00", "#e69f00", "#cc79a7", "#009e73", "#56b4e9", "#f0e442", "#999999",
            "#444444")  # fmt: skip


def html(title: str, pages: Sequence[Sheet | str]) -> str:
    """One document with all ``pages``; a text stands for a capture that has none."""
    body = "<hr>".join(map(_page, pages))
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body>{body}<p><small>{escape(FOOT)}</small></p>"
        "</body></html>\n"
    )


def fragment(pages: Sequence[Sheet]) -> str:
    """All ``pages`` for a place in another document, as a notebook."""
    return f"<div>{'<hr>'.join(map(_page, pages))}<p><small>{escape(FOOT)}</small></p></div>"


def _page(page: Sheet | str) -> str:
    if isinstance(page, str):
        return f"<p>{escape(page)}</p>"
    parts = [f'<p class="verdict">{escape(page.verdict)}</p>'] if page.verdict else []
    parts += [f"<h1>{escape(page.headline)}</h1>", _bar(page), _list(page.facts)]
    rows = "".join(
        f"<tr><td>{escape(row.title)}{_small(row.details)}</td><td>{row.share}</td>"
        f"<td>{row.removable}</td><td>{row.per_iteration}</td><td>{row.gain}</td></tr>"
        for row in page.rows
    )
    heading = "".join(f"<th>{escape(each)}</th>" for each in (page.heading, *COLUMNS))
    parts.append(f"<table><tr>{heading}</tr>{rows}</table>")
    parts.append(f"<p>{escape(page.rest)}</p>" if page.rest else "")
    parts.append(_list(page.gains))
    if page.advice:
        parts.append(f"<h2>Try</h2>{_list(page.advice)}")
    if page.changed:
        parts.append(f"<h2>Changed</h2>{_table(page.changed)}")
    parts.append(_list(page.others))
    return "".join(parts)


def _small(lines: Sequence[str]) -> str:
    return "".join(f"<br><small>{escape(line)}</small>" for line in lines)


def _bar(page: Sheet) -> str:
    """The window: busy, the causes that are shown and the rest, by their share, with a legend."""
    pieces = [("matrix pipe busy", page.busy), *((row.title, row.value) for row in page.rows)]
    rest = 1 - sum(share for _, share in pieces)
    pieces += [("the rest", rest)] if rest > 0 else []
    left, found, names = 0.0, [], []
    for colour, (name, share) in zip(_COLOURS, pieces, strict=False):
        names.append(f'<span style="color:{colour}">■</span> {escape(name)}')
        found.append(
            f'<rect x="{100 * left:.2f}" y="0" width="{100 * share:.2f}" height="10" '
            f'fill="{colour}"><title>{escape(name)}</title></rect>'
        )
        left += share
    drawn = "".join(found)
    return (
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img">{drawn}</svg>'
        f"<p><small>{' &nbsp; '.join(names)}</small></p>"
    )


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in lines)}</ul>" if lines else ""


def _table(rows: Sequence[Sequence[str]]) -> str:
    heading = "".join(f"<th>{escape(each)}</th>" for each in CHANGED)
    cells = (f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><tr>{heading}</tr>{''.join(cells)}</table>"
