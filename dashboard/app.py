"""The Dash app: its frame, and the one callback that renders the view asked for."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, dcc, html
from dash.exceptions import PreventUpdate

from dashboard.attributes import attributes
from dashboard.guard import protect
from dashboard.library import Library
from dashboard.routes import add_routes
from dashboard.service import Service
from dashboard.tree import lighten
from dashboard.views import VIEWS
from dashboard.views.parts import Request, failure
from tracekit.capture.finding import DEPTH
from tracekit.errors import TracekitError

_KEYS = (
    ("1 to 6", "views"), ("W S, wheel, + −", "zoom at the pointer"),
    ("A D, arrows, Shift+wheel, Shift+drag", "pan"), ("Alt+wheel", "scroll the page"),
    ("drag", "measure a range (cycles, ns)"),
    ("N P", "next, previous bubble"), (", .", "previous, next instruction of the wave"),
    ("F", "fit the selection"), ("M", "make the selection the range"), ("0, Home", "whole trace"),
    ("/", "search: a mnemonic, or an address as 0x1700; Enter and Shift+Enter step"),
    ("Esc", "clear"), ("Shift+T", "dark or light"), ("?", "this list"),
)  # fmt: skip

#: Dash's page, and its language: without it a screen reader guesses.
_INDEX = """<!DOCTYPE html>
<html lang="en">
    <head>
        {%metas%}
        <title>{%title%}</title>
        {%favicon%}
        {%css%}
    </head>
    <body>
        {%app_entry%}
        <footer>
            {%config%}
            {%scripts%}
            {%renderer%}
        </footer>
    </body>
</html>"""


def create(
    roots: list[Path],
    timing: str = "exact",
    options: dict[str, Any] | None = None,
    filters: dict[str, int | None] | None = None,
) -> Dash:
    """The app that offers the captures under ``roots`` (see Service for the other arguments).

    Two roots with one capture each are opened as a comparison.
    """
    library = Library(roots, (options or {}).get("depth", DEPTH))
    service = Service(library, timing, options, filters)
    app = Dash(
        "dashboard",
        title="tracekit",
        update_title="",
        index_string=_INDEX,
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        suppress_callback_exceptions=True,
    )
    protect(app.server)
    add_routes(app.server, service)
    app.layout = _frame(_start(library))
    renders = count()

    @app.callback(Output("content", "children"), Input("request", "data"))
    def render(data: dict[str, str] | None) -> Any:
        if not data:
            raise PreventUpdate
        asked = Request.of(data)
        try:
            page = VIEWS[asked.view](service, asked)
        except TracekitError as error:
            page = failure(str(error), asked)
        except Exception as error:  # a page that says so beats one that waits for ever
            app.logger.exception("view %s", asked.view)
            page = failure(f"internal error: {type(error).__name__}: {error}", asked)
        return [html.Div(lighten(page), **attributes(data_render=str(next(renders))))]

    return app


def _start(library: Library) -> dict[str, str]:
    """The state of a page that is opened without one."""
    base = library.first(0)
    new = library.first(1) if len(library.roots) > 1 else ""
    if not base:
        return {"view": "open"}
    return {"view": "compare", "a": base, "b": new} if new else {"view": "overview", "a": base}


def _button(text: str, action: str, hint: str) -> html.Button:
    return html.Button(text, title=hint, **attributes(data_action=action))


def _frame(start: dict[str, str]) -> html.Div:
    tabs = [
        html.Button(name, role="tab", **attributes(data_tab=view))
        for view, name in (
            ("overview", "Overview"), ("timeline", "Timeline"), ("bubbles", "Bubble map"),
            ("isa", "ISA"), ("compare", "Compare"), ("open", "Open"),
        )
    ]  # fmt: skip
    actions = [
        _button("Copy link", "link", "Copy the address of exactly this view"),
        _button("Copy command", "command", "Copy the tracekit line that prints these numbers"),
        _button("PNG", "png", "Save this view as a PNG"),
        _button("SVG", "svg", "Save the figures of this view as SVG"),
        _button("◐", "theme", "Dark or light (Shift+T)"),
        _button("?", "help", "Keys (?)"),
    ]
    keys = [html.Div([html.Kbd(key), html.Span(what)]) for key, what in _KEYS]
    return html.Div(
        className="page",
        children=[
            html.Header(
                [
                    html.Strong("tracekit", className="brand"),
                    html.Nav(tabs, role="tablist"),
                    html.Label(
                        ["window", html.Span(id="window-slot")],
                        title="steady, span, START:END in cycles, START%:END%, marker:NAME",
                    ),
                    html.Datalist(
                        [html.Option(value=v) for v in ("steady", "span", "25%:75%")], id="windows"
                    ),
                    html.Div(actions, className="actions"),
                ]
            ),
            html.Div("working…", id="busy", role="status"),
            html.Main(id="content"),
            html.Div(id="toast", hidden=True, role="status"),
            html.Dialog([html.H2("Keys"), *keys, _button("Close", "close", "Close")], id="help"),
            html.Div(id="start", hidden=True, **attributes(data_start=json.dumps(start))),
            dcc.Store(id="request"),
        ],
    )
