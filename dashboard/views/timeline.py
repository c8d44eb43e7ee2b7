"""Timeline: a frame for the canvas; assets/c_timeline.js draws it."""

from __future__ import annotations

from typing import Any

from dash import html

from dashboard.attributes import attributes
from dashboard.service import Service
from dashboard.views.parts import NothingOpen, Request, command, page, subtitle
from tracekit.analysis.occupancy import no_instructions

_TOOLS = (
    ("in", "+", "Zoom in (W)"), ("out", "−", "Zoom out (S)"), ("all", "All", "Whole trace (0)"),
    ("previous", "◀ bubble", "Previous bubble (P)"), ("next", "bubble ▶", "Next bubble (N)"),
    ("window", "Range → window", "Make the measured range the window of all numbers"),
)  # fmt: skip


def render(service: Service, asked: Request) -> html.Div:
    """The page for one capture; the browser asks for the data."""
    timeline = service.timeline(asked.capture)
    if not service.places(asked.capture):
        raise NothingOpen(no_instructions(timeline))
    children = [
        subtitle(timeline, asked.window),
        details(),
        canvas(asked.capture, "a", tools=True),
    ]
    only = {
        name: value for name, value in (("se", asked.se), ("dispatch", asked.dispatch))
        if value.isdigit()
    }  # fmt: skip
    line = command(service, [asked.capture], "bubbles instructions", asked.window, **only)
    return page("Timeline", children, line)


def details() -> html.Div:
    """Where the timeline tells about what was clicked."""
    return html.Div(
        "Click an instruction or a bubble. ? lists the keys.", id="detail", className="detail",
        **attributes(aria_live="polite"),
    )  # fmt: skip


def canvas(key: str, part: str, tools: bool, name: str = "") -> html.Div:
    """Tools, minimap and lanes of one capture."""
    bar: list[Any] = [html.Strong(name, className="name")] if name else []
    if tools:
        bar += [
            html.Select(className="place", **attributes(aria_label="shader engine and dispatch")),
            html.Span(className="cu"),
        ]
        bar += [
            html.Button(text, title=hint, **attributes(data_do=action))
            for action, text, hint in _TOOLS
        ]
        bar.append(html.Span(className="search-slot"))
        lanes = [html.Summary("lanes"), html.Div(className="groups")]
        bar.append(html.Details(lanes, className="menu"))
    bar.append(html.Span(className="status", role="status"))
    label = attributes(
        aria_label="Timeline of waves and pipes; W A S D zoom and pan, N and P step through bubbles"
    )
    return html.Div(
        [
            html.Div(bar, className="tools"),
            html.Canvas(className="minimap", **attributes(aria_label="Whole trace")),
            html.Div(
                [
                    html.Canvas(className="lanes", tabIndex=0, role="img", **label),
                    html.Div(className="tip", hidden=True),
                ],
                className="stage",
            ),
            html.Div(className="legend"),
        ],
        className="timeline", **attributes(data_timeline=key, data_part=part),
    )  # fmt: skip
