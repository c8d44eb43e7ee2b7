"""Compare: two captures, aligned by iteration, with the noise of every difference."""

from __future__ import annotations

from typing import Any

from dash import html

from dashboard.attributes import attributes
from dashboard.figures.graph import graph
from dashboard.figures.maps import difference_map
from dashboard.service import Service
from dashboard.views.opening import captures
from dashboard.views.parts import Request, command, notes, page, table
from dashboard.views.timeline import canvas, details
from tracekit.present.cells import Column, decimal, line, signed
from tracekit.present.compared import headline
from tracekit.present.sentences import origin

_ROWS = {
    "metric": Column("metric", left=True), "base_value": Column("base", decimal),
    "new_value": Column("new", decimal), "unit": Column("unit", left=True),
    "difference": Column("difference", signed), "relative_percent": Column("%", signed),
    "low": Column("95 % from", signed), "high": Column("to", signed),
    "noise": Column("", left=True),
}  # fmt: skip
_BODIES = {
    "change": Column("change", left=True), "base_line": Column("base line", line),
    "new_line": Column("new line", line), "instruction": Column("instruction", left=True),
}  # fmt: skip


def render(service: Service, asked: Request) -> html.Div:
    """The page for two captures; raises NotComparable with the reason."""
    base, new, window = asked.capture, asked.new, asked.window
    if not new:
        choose = html.P("Choose the capture to compare with.", className="note")
        return page("Compare", [choose, captures(service, asked)])
    first, second = service.timeline(base), service.timeline(new)
    result = service.compare(base, new, window)
    rows = result.rows[result.rows["se"] < 0].copy()
    rows["relative_percent"] = 100 * rows["relative"].astype(float)
    rows["noise"] = [
        "within noise" if within else "same" if difference == 0 else ""
        for within, difference in zip(rows["within_noise"], rows["difference"], strict=True)
    ]
    verdicts = [service.whole(key).quality.verdict for key in (base, new)]
    told = (
        f"base: {first.capture}{origin(first)} · new: {second.capture}{origin(second)} · "
        f"window {window} of each · {second.shown_timing} timing · {second.arch}"
    )
    children: list[Any] = [
        html.P(told, className="origin"),
        html.P(
            [f"quality: base {verdicts[0]}, new {verdicts[1]} ",
             html.Button("swap", title="Make the new one the base", id="swap",
                         **attributes(data_open=base, data_which="swap"))],
            className="origin",
        ),
        html.P([html.Strong(headline(result)), html.Br(), result.told_noise]),
        notes([*result.warnings, *result.notes]),
        html.H2("Differences: new − base, all SIMDs together"),
        table("compare", rows, _ROWS, csv="compare"),
    ]  # fmt: skip
    if service.places(base) and service.places(new):
        children += [
            html.H2("Timelines, one zoom: aligned by iteration"),
            details(),
            canvas(base, "a", tools=True, name=f"base: {first.capture}"),
            canvas(new, "b", tools=False, name=f"new: {second.capture}"),
        ]
    before, after = (
        service.analysis(base, window).by_offset,
        service.analysis(new, window).by_offset,
    )
    if len(before) and len(after):
        children.append(html.H2("Bubble map, new − base: points of idle time"))
        change = difference_map(before, after, asked.dark)
        children.append(graph("difference", change, asked.scale, told))
    counts = result.bodies["change"].value_counts()
    changes = ", ".join(f"{counts[name]} {name}" for name in counts.index) or "none"
    children.append(html.H2(f"Changes of the loop body: {changes}"))
    children.append(table("bodies", result.bodies, _BODIES, csv="bodies", limit=60))
    return page("Compare", children, command(service, [base, new], "compare", window))
