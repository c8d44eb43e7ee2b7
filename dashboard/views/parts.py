"""Pieces of pages: a request, tables, notes, headings, errors."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import html
from dash.development.base_component import Component

from dashboard.attributes import attributes
from dashboard.service import Service
from tracekit.analysis.model.window import DEFAULT
from tracekit.errors import TracekitError
from tracekit.present.cells import Column
from tracekit.present.sentences import origin
from tracekit.tables.timeline import Timeline

#: Rows that a table of a page shows; the CSV has all.
ROWS = 100
_LONGEST = 512


class NothingOpen(TracekitError):
    """No capture is chosen."""


@dataclass(frozen=True)
class Request:
    """What the page asks for; texts from the URL hash, "" where nothing was said."""

    view: str = "overview"
    base: str = ""
    new: str = ""
    window: str = DEFAULT
    se: str = ""
    dispatch: str = ""
    simd: str = ""
    cause: str = ""
    dark: bool = False
    scale: float = 1.0  # size of the page's text, 1 on a small screen

    @classmethod
    def of(cls, data: dict[str, Any]) -> Request:
        """A request of the page's state; unknown views and overlong texts are dropped."""
        text = {key: str(value)[:_LONGEST] for key, value in data.items() if value is not None}
        views = ("overview", "timeline", "bubbles", "isa", "compare", "open")
        view = text.get("view", "")
        return cls(
            view if view in views else "overview", text.get("a", ""), text.get("b", ""),
            text.get("w") or DEFAULT, text.get("se", ""), text.get("d", ""),
            text.get("simd", ""), text.get("c", ""), text.get("theme") == "dark",
            _scale(text.get("scale", "")),
        )  # fmt: skip

    @property
    def capture(self) -> str:
        """Key of the capture; NothingOpen without one."""
        if not self.base:
            raise NothingOpen("no capture is open: choose one in Open")
        return self.base


def _scale(text: str) -> float:
    try:
        return min(max(float(text), 1.0), 2.0)
    except ValueError:
        return 1.0


def page(title: str, children: list[Any], command: str = "") -> html.Div:
    """A view with its heading and the command that prints the same numbers."""
    return html.Div(
        [html.H1(title), *children], className="view", **attributes(data_command=command)
    )


def command(service: Service, keys: Sequence[str], names: str, window: str, **only: object) -> str:
    """``tracekit NAME PATH... --window W`` for each of ``names``; ``only``: filters (se=0, ...)."""
    paths = [str(service.library.get(key).path) for key in keys]
    line = " ".join(shlex.quote(path) for path in paths)
    options = service.command_options()
    options += "".join(f" --{name} {value}" for name, value in only.items())
    tail = f" --window {shlex.quote(window)}"
    bare = ("hotspots", "clock", "check", "instructions")
    return "; ".join(
        f"tracekit {name} {line}{options}{'' if name in bare else tail}" for name in names.split()
    )


def subtitle(timeline: Timeline, window: str) -> html.P:
    """Where the numbers come from."""
    return html.P(caption(timeline, window), className="origin")


def caption(timeline: Timeline, window: str) -> str:
    """Capture, origin (simulated or not), timing, chip and window in a line."""
    return (
        f"{timeline.capture}{origin(timeline)} · {timeline.shown_timing} timing · "
        f"{timeline.arch} · window asked for: {window}"
    )


def notes(*lists: list[str]) -> html.Div:
    """Remarks, each once."""
    texts = list(dict.fromkeys(text for each in lists for text in each))
    return html.Div([html.P(text, className="note") for text in texts], className="notes")


def failure(message: str, asked: Request) -> html.Div:
    """An error, on the page, with what to do next."""
    return html.Div(
        [
            html.H1("This view cannot be shown"),
            html.P(message, className="message"),
            html.P(
                ["The other views may still work. ",
                 html.Button("Open another capture", **attributes(data_tab="open"))]
            ),
        ],
        className="view failure", role="alert", **attributes(data_view=asked.view, data_command=""),
    )  # fmt: skip


def table(  # noqa: PLR0913 - one argument a part of the table, named where given
    name: str,
    rows: Any,
    columns: dict[str, Column],
    *,
    csv: str = "",
    goto: Any = None,
    limit: int = ROWS,
    only: str = "",
) -> Component:
    """A table of a DataFrame; ``goto(row)`` gives "from,to,se,dispatch" for a button, or "".

    ``only``: "se,dispatch,simd" of which the CSV tells, all by default.
    """
    if not len(rows):
        return html.P("Nothing to show.", className="note empty", id=f"table-{name}")
    shown = rows.head(limit)
    names = [key for key in columns if key in rows.columns]
    head = [html.Th(columns[key].heading, className="text" if columns[key].left else "")
            for key in names]  # fmt: skip
    body = []
    for record in shown.to_dict("records"):
        cells = [
            html.Td(columns[key].cell(record[key]), className="text" if columns[key].left else "")
            for key in names
        ]
        where = goto(record) if goto else ""
        if goto:
            button = html.Button(
                "show", title="Show in the timeline", **attributes(data_goto=where)
            )
            cells.append(html.Td(button if where else ""))
        body.append(html.Tr(cells))
    if goto:
        head.append(html.Th(""))
    more = f"{len(rows) - limit:,} more rows; the CSV has all." if len(rows) > limit else ""
    foot: list[Component] = [html.Span(more, className="note")]
    if csv:
        foot.append(
            html.Button(
                "CSV", title="Save the whole table", **attributes(data_csv=csv, data_only=only)
            )
        )
    return html.Div(
        [html.Div(html.Table([html.Thead(html.Tr(head)), html.Tbody(body)]), className="scroll"),
         html.Div(foot, className="foot")],
        className="table", id=f"table-{name}",
    )  # fmt: skip
