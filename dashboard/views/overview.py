"""Overview: can it be trusted, how busy are the pipes, what bounds them, do waves overlap."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from dashboard.attributes import attributes
from dashboard.figures.bars import budget_bars, idle_bars
from dashboard.figures.graph import graph
from dashboard.service import Service
from dashboard.views.parts import Request, caption, command, notes, page, subtitle, table
from tracekit.present.cells import Column, decimal, is_missing, number, percent, score, word

#: SIMDs in a figure at most.
BARS = 16
_SHARE = Column("", percent)
_SIGNS = {"good": "✓", "usable": "!", "do not conclude": "✕"}


_BUDGET = {
    "se": Column("SE"), "simd": Column("SIMD"), "waves": Column("waves"),
    "window": Column("window", left=True), "window_cycles": Column("cycles", number),
    "matrix_cycles": Column("matrix/iter", decimal),
    "vector_cycles": Column("vector/iter", decimal),
    "bound_cycles": Column("bound", decimal), "limit": Column("limit", word, left=True),
    "best": Column("best matrix", percent), "achieved": Column("achieved", percent),
    "vector_share": Column("idle: vector", percent), "latency_share": Column("latency", percent),
    "barrier_share": Column("barrier", percent), "verdict": Column("verdict", left=True),
}  # fmt: skip
_OVERLAP = {
    "se": Column("SE"), "simd": Column("SIMD"), "waves": Column("waves"),
    "window": Column("window", left=True), "window_cycles": Column("window cycles", number),
    "overlap_cycles": Column("matrix and vector", number),
    "across_cycles": Column("of two waves", number), "own_cycles": Column("of one wave", number),
    "alternation": Column("alternation", score), "verdict": Column("verdict", left=True),
}  # fmt: skip
_CLOCK = {
    "se": Column("SE"), "pairs": Column("pairs"),
    "seconds": Column("microseconds", lambda value: f"{1e6 * value:,.2f}"),
    "min_mhz": Column("MHz min", decimal), "median_mhz": Column("median", decimal),
    "max_mhz": Column("max", decimal),
    "drift": Column("drift", lambda value: f"{100 * value:+.2f} %"),
}  # fmt: skip


def render(service: Service, asked: Request) -> html.Div:
    """The page for one capture and window."""
    key, window = asked.capture, asked.window
    timeline = service.timeline(key)
    busy = service.analysis(key, window).occupancy
    cost, turns = service.analysis(key, window).budget, service.analysis(key, window).overlap
    totals = service.analysis(key, window).bubbles.totals
    clock = service.whole(key).clock
    children: list[Any] = [
        subtitle(timeline, window),
        verdict(service.whole(key).quality),
        notes(timeline.notes, busy.notes, cost.notes, turns.notes),
        html.H2("Occupancy: cycles in which a pipe executes, of the window's cycles"),
        tiles(busy.rows),
        _csv("occupancy"),
        html.H2("Budget: cycles that an iteration asks of the pipes, and the bound in cycles"),
    ]
    if len(cost.simds) and cost.simds["matrix_cycles"].notna().any():
        children.append(
            graph(
                "budget",
                budget_bars(cost.simds.head(BARS), asked.dark),
                asked.scale,
                caption(timeline, window),
            )
        )
        children.append(_first(cost.simds, "the table"))
    children.append(table("bounds", cost.simds, _BUDGET, csv="bounds"))
    children.append(_csv("budget", "CSV of the instruction classes"))
    children.append(html.H2("Why the matrix pipe is idle, share of the window's cycles"))
    if len(totals) and totals["matrix_idle_cycles"].any():
        children.append(
            graph(
                "idle",
                idle_bars(totals.head(BARS), asked.dark),
                asked.scale,
                caption(timeline, window),
            )
        )
        children.append(_first(totals, "the CSV"))
    else:
        children.append(html.P("No idle cycle is known here.", className="note empty"))
    children += [
        _csv("causes"),
        html.H2("Do the waves take turns?"),
        table("overlap", turns.simds, _OVERLAP, csv="overlap"),
        html.H2("Shader clock"),
        table("clock", clock.rows, _CLOCK, csv="clock")
        if len(clock.rows)
        else html.P("The trace has no two realtime points: no clock.", className="note empty"),
    ]
    line = command(service, [key], "check occupancy budget bubbles overlap clock", window)
    return page("Overview", children, line)


def _first(rows: Any, rest: str) -> html.P:
    """Says of a figure that it does not show every SIMD."""
    many = len(rows) > BARS
    text = f"The first {BARS} of {len(rows):,} SIMDs; {rest} has all." if many else ""
    return html.P(text, className="note")


def verdict(found: Any) -> html.Div:
    """The quality verdict: sign, word, reasons, remedies."""
    reasons = [
        html.Li([finding.reason, html.Em(f" → {finding.remedy}") if finding.remedy else ""])
        for finding in found.reasons
    ]
    return html.Div(
        [html.Strong(f"{_SIGNS[found.verdict]} Quality: {found.verdict}"), html.Ul(reasons)],
        className=f"verdict {found.verdict.replace(' ', '-')}", id="verdict",
    )  # fmt: skip


def tiles(rows: Any) -> Component:
    """One tile a SIMD: matrix and vector occupancy with window and denominator."""
    if not len(rows):
        return html.P("No traced wave: nothing to measure.", className="note empty")
    return html.Div(
        [_tile(record) for record in rows.to_dict("records")],
        className="tiles" + (" many" if len(rows) > 16 else ""), id="tiles",
    )  # fmt: skip


def _tile(row: dict[str, Any]) -> html.Div:
    cycles = row["window_cycles"]

    def share(name: str) -> str:
        value = row[name]
        return _SHARE.cell(None if is_missing(value) or not cycles else value / cycles)

    bars = [
        html.Div(
            [html.Span(name), html.B(_SHARE.cell(row[f"{name}_occupancy"])), _bar(row, name)],
            className="measure",
        )
        for name in ("matrix", "vector")
    ]
    return html.Div(
        [
            html.H3(f"SE {row['se']} · SIMD {row['simd']} · dispatch {row['dispatch']}"),
            *bars,
            html.P(f"both {share('overlap_cycles')} · neither {share('neither_cycles')}"),
            html.P(
                f"of {number(cycles)} cycles, window {row['window']} "
                f"({number(row['start'])} to {number(row['end'])}{_pieces(row)}) · "
                f"{row['waves']} waves · "
                f"{number(row['mfma'])} MFMA",
                className="note",
            ),
        ],
        className="tile",
    )


def _pieces(row: dict[str, Any]) -> str:
    return f" in {row['intervals']} pieces" if row["intervals"] > 1 else ""


def _bar(row: dict[str, Any], name: str) -> html.Div:
    value = row[f"{name}_occupancy"]
    style = {"width": "0" if is_missing(value) else f"{100 * value:.2f}%"}
    return html.Div(html.Div(style=style, className=name), className="bar")


def _csv(name: str, text: str = "CSV") -> html.Div:
    return html.Div(html.Button(text, **attributes(data_csv=name)), className="foot")
