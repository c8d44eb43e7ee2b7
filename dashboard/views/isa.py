"""ISA: the code that ran, line by line, with what it cost and the source beside it."""

from __future__ import annotations

from typing import Any

import dash_ag_grid as dag
from dash import html

from dashboard.attributes import attributes
from dashboard.service import Service
from dashboard.views.parts import Request, command, notes, page, subtitle

_NUMBERS = {
    "hits": "hits", "latency_cycles": "latency", "share": "%", "stall_cycles": "stall",
    "idle_cycles": "idle", "matrix_cycles": "matrix", "vector_cycles": "vector",
    "bubble_cycles": "bubble",
    "barrier_cycles": "barrier",
}  # fmt: skip
_HINTS = {
    "share": "per cent of the latency of all lines",
    "latency_cycles": "cycles from the first attempt to the end of the issue, all traced waves",
    "stall_cycles": "the part of latency before the issue",
    "idle_cycles": "cycles of the wave before the first attempt",
    "matrix_cycles": "cycles that the line held the matrix pipe, by the cost tables",
    "bubble_cycles": "cycles of matrix-pipe bubbles that ended with this MFMA, in the window",
}
#: Marks of loop bodies: outside, inside, first and last line.
_EDGE = {"top": "┌", "inside": "│", "bottom": "└"}


def render(service: Service, asked: Request) -> html.Div:
    """The page for one capture; bubble cycles are those of the window."""
    key, window = asked.capture, asked.window
    timeline, found = service.timeline(key), service.whole(key).hotspots
    rows, size = records(service, key, window), asked.scale
    columns: list[dict[str, Any]] = [
        {"field": "address", "headerName": "address", "width": 84 * size, "pinned": "left"},
        {"field": "loop", "headerName": "loop", "width": 58 * size},
        {"field": "instruction", "headerName": "instruction", "flex": 1, "minWidth": 180 * size,
         "filter": True, "tooltipField": "instruction", "cellClass": "code"},
        *(
            {"field": name, "headerName": heading, "width": 70 * size, "type": "numericColumn",
             "headerTooltip": _HINTS.get(name, heading), "filter": "agNumberColumnFilter",
             "suppressHeaderFilterButton": True}
            for name, heading in _NUMBERS.items()
        ),
    ]  # fmt: skip
    grid = dag.AgGrid(
        id="isa", rowData=rows, columnDefs=columns, className="grid",
        defaultColDef={"sortable": True, "resizable": True},
        dashGridOptions={"rowHeight": round(24 * size), "headerHeight": round(30 * size),
            "tooltipShowDelay": 200, "animateRows": False},
        getRowStyle={"styleConditions": [
            {"condition": "params.data.label", "style": {"fontWeight": "600"}},
            {"condition": "params.data.loop != ''",
             "style": {"boxShadow": "inset 3px 0 0 #0072b2"}},
        ]},
    )  # fmt: skip
    children: list[Any] = [
        subtitle(timeline, window),
        notes(found.notes),
        html.P(
            ["Cycles, summed over all traced waves; bubble cycles over the window. "
             "Double-click a line for the timeline. ",
             html.Button("only lines that ran", id="ran", **attributes(aria_pressed="false"))],
            className="note",
        ),
        html.Div(
            [grid, html.Aside(html.P("Select a line for its source.", className="note"),
                              id="source")],
            className="split",
        ),
        html.Div(html.Button("CSV", **attributes(data_csv="hotspots")), className="foot"),
    ]  # fmt: skip
    if not rows:
        children[3] = html.P("No line of code is known.", className="note empty")
    return page("ISA", children, command(service, [key], "hotspots bubbles", window))


def records(service: Service, key: str, window: str) -> list[dict[str, Any]]:
    """Rows of the grid: the table of ``tracekit hotspots``, loops and bubbles beside it."""
    found = service.whole(key).hotspots
    marks = _loops(service, key)
    bubbles = service.analysis(key, window).bubbles.rows
    wide = bubbles[bubbles["start"] >= 0]
    caused = wide.groupby(["next_mfma_code_object", "next_mfma_vaddr"])["cycles"].sum().to_dict()
    total = max(int(found.rows["latency_cycles"].sum()), 1)
    rows = []
    for row, line in zip(found.rows.to_dict("records"), found.lines.row.tolist(), strict=True):
        made: dict[str, Any] = {name: _plain(row[name]) for name in _NUMBERS if name in row}
        address = int(row["vaddr"])
        code = int(row["code_object"])
        # Labels have an address, but never run.
        label = str(row["instruction"]).startswith("; ")
        made |= {
            "address": f"0x{address:x}" if address >= 0 else "-",
            "pc": f"{code}:0x{address:x}" if address >= 0 and not label else "",
            "label": label,
            "instruction": row["instruction"], "source": row["source"] or "",
            "loop": marks.get(line, ""),
            "share": round(100 * int(row["latency_cycles"]) / total, 1),
            "bubble_cycles": int(caused.get((code, address), 0)),
        }  # fmt: skip
        rows.append(made)
    return rows


def _plain(value: Any) -> int | None:
    import pandas as pd

    return None if pd.isna(value) else int(value)


def _loops(service: Service, key: str) -> dict[int, str]:
    """Listing row -> mark of the innermost loop that the row belongs to."""
    found = service.whole(key).loops
    marks: dict[int, str] = {}
    dominant = set(found.dominant.values())
    widest = sorted(found.bodies.items(), key=lambda item: item[1][0] - item[1][1])
    for loop, (first, last) in widest:
        star = "★" if loop in dominant else ""
        for row in range(first, last + 1):
            edge = "top" if row == first else "bottom" if row == last else "inside"
            marks[row] = f"{_EDGE[edge]} {loop}{star}"
    return marks
