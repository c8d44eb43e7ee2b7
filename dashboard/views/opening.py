"""Open: choose among the captures under the directories given at start."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from dashboard.attributes import attributes
from dashboard.service import Service
from dashboard.views.parts import Request, notes, page


def render(service: Service, asked: Request) -> html.Div:
    """The list of captures, searched anew, so that a fresh recording shows up."""
    service.library.refresh()
    roots = ", ".join(str(root) for root in service.library.roots)
    children = [
        html.P(f"Captures under {roots}. Others need a new start with their path.",
               className="origin"),
        notes(service.library.notes),
        captures(service, asked),
    ]  # fmt: skip
    return page("Open", children, f"tracekit info {roots}")


def captures(service: Service, asked: Request) -> Component:
    """The table of what can be opened or compared."""
    rows = []
    for entry in service.library.entries.values():
        size = f"{entry.bytes / 1e6:,.2f} MB" if entry.bytes else ""
        now = "base" if entry.key == asked.base else "new" if entry.key == asked.new else ""
        buttons = [
            html.Button("open", **attributes(data_open=entry.key, data_which="a")),
            html.Button("compare with", disabled=not asked.base or entry.key == asked.base,
                        title="Compare it with the capture that is open",
                        **attributes(data_open=entry.key, data_which="b")),
        ]  # fmt: skip
        rows.append(
            html.Tr(
                [html.Td(entry.name, className="text"), html.Td(entry.kind, className="text"),
                 html.Td(size), html.Td(now, className="text"), html.Td(buttons)]
            )
        )  # fmt: skip
    head = html.Tr([html.Th(text, className="text") for text in
                    ("capture", "kind", "size", "now", "")])  # fmt: skip
    if not rows:
        return html.P(
            "No capture here: a directory should hold .att streams or a ui_output_* folder.",
            className="note empty",
        )
    return html.Div(
        html.Div(html.Table([html.Thead(head), html.Tbody(rows)]), className="scroll"),
        className="table", id="table-captures",
    )  # fmt: skip
