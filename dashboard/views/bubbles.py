"""Bubble map: idle time by iteration and offset, by time and SIMD, and the causes."""

from __future__ import annotations

from typing import Any

from dash import html

from dashboard.attributes import attributes
from dashboard.figures.graph import graph
from dashboard.figures.maps import offset_map, time_map
from dashboard.palette import CAUSE_CODE
from dashboard.service import Service
from dashboard.views.parts import Request, caption, command, notes, page, subtitle, table
from tracekit.analysis.bubbles import MINIMUM, SHORT
from tracekit.analysis.causes import CAUSES, MEANINGS, SimdCauses
from tracekit.analysis.iterations import fold
from tracekit.present.cells import Column, address, number, percent


def _index(value: Any) -> str:
    return "-" if value < 0 else number(value)


_CAUSES = {
    "code": Column("", left=True), "cause": Column("cause", left=True),
    "cycles": Column("cycles", number), "share": Column("of window", percent),
    "meaning": Column("meaning", left=True),
}  # fmt: skip
_PLACES = {
    "cause": Column("cause", left=True), "bubbles": Column("bubbles", number),
    "cycles": Column("cycles", number), "mean_cycles": Column("mean cycles", number),
    "share": Column("of idle", percent), "previous_mfma_vaddr": Column("previous MFMA", address),
    "next_mfma_vaddr": Column("next MFMA", address), "next_mfma": Column("opcode", left=True),
}  # fmt: skip
_ROWS = {
    "simd": Column("SIMD"), "start": Column("start", number), "cycles": Column("cycles", number),
    "cause": Column("cause", left=True), "iteration": Column("iteration", _index),
    "offset": Column("offset", _index), "waves": Column("what the waves did", left=True),
}  # fmt: skip


def render(service: Service, asked: Request) -> html.Div:
    """The page for one capture, window, SIMD and cause."""
    key, window = asked.capture, asked.window
    timeline = service.timeline(key)
    found, result = service.analysis(key, window).causes, service.analysis(key, window).bubbles
    chosen = _chosen(found.simds, asked)
    children: list[Any] = [
        subtitle(timeline, window), notes(found.notes)
    ]  # fmt: skip
    if chosen is None:
        children.append(html.P("No SIMD with known matrix costs.", className="note empty"))
        return page("Bubble map", children, command(service, [key], "bubbles", window))
    children.append(_filters(found.simds, chosen, asked))
    cause = asked.cause if asked.cause in CAUSES else ""
    cells = _of(service.analysis(key, window).by_offset, chosen)
    children.append(html.H2("Iteration × offset: what comes back every time is a vertical line"))
    if len(cells):
        folded = fold(chosen, found.loops)
        children.append(
            graph(
                "offset",
                offset_map(cells, chosen, folded, cause, asked.dark),
                asked.scale,
                caption(timeline, window),
            )
        )
    else:
        children.append(html.P("No loop runs on this SIMD in the window.", className="note empty"))
    children.append(html.H2("Time × SIMD"))
    over_time = _of(service.analysis(key, window).by_time, chosen, whole=True)
    if len(over_time):
        children.append(
            graph(
                "time",
                time_map(over_time, cause, asked.dark),
                asked.scale,
                caption(timeline, window),
            )
        )
    rows, placed = _of(result.rows, chosen), result.places
    short = rows[rows["cause"] == SHORT]
    rows = rows[rows["cause"] != SHORT].sort_values("cycles", ascending=False, kind="stable")
    if cause:
        rows, placed = rows[rows["cause"] == cause], placed[placed[f"{cause}_cycles"] > 0]
    children += [
        html.H2("Causes of this SIMD's idle cycles"),
        table(
            "causes", _long(_of(result.totals, chosen)), _CAUSES, csv="causes", only=_name(chosen)
        ),
        html.H2("Bubbles of this SIMD, largest first"),
        table(
            "bubbles",
            rows.assign(row=rows.index),
            _ROWS,
            csv="bubbles",
            goto=_goto,
            limit=40,
            only=_name(chosen),
        ),
        _short(short),
        html.H2("Bubbles by place, all SIMDs"),
        table("places", placed, _PLACES, csv="places", limit=40),
    ]
    view = chosen.simd
    only: dict[str, object] = (
        {"se": view.se, "dispatch": view.dispatch, "simd": view.simd} if asked.simd else {}
    )
    return page("Bubble map", children, command(service, [key], "bubbles", window, **only))


def _short(rows: Any) -> html.P:
    """What the list leaves out."""
    cycles = number(int(rows["cycles"].sum()))
    return html.P(
        f"Gaps shorter than {MINIMUM} cycles are no bubbles: {cycles} cycles in all.",
        className="note",
    )


def _name(simd: SimdCauses) -> str:
    return f"{simd.simd.se},{simd.simd.dispatch},{simd.simd.simd}"


def _chosen(simds: list[SimdCauses], asked: Request) -> SimdCauses | None:
    own = [simd for simd in simds if _name(simd) == asked.simd]
    return next(iter(own or simds), None)


def _of(table: Any, simd: SimdCauses, whole: bool = False) -> Any:
    """Rows of one SIMD, or of the ``whole`` SE and dispatch that it belongs to."""
    view = simd.simd
    own = (table["se"] == view.se) & (table["dispatch"] == view.dispatch)
    if not whole:
        own &= table["simd"] == view.simd
    return table[own]


def _goto(row: dict[str, Any]) -> str:
    end = row["start"] + row["cycles"]
    return f"{row['start']},{end},{row['se']},{row['dispatch']},{row['row']}"


def _long(totals: Any) -> Any:
    """One row per cause that occurs, as ``tracekit bubbles`` prints it."""
    import pandas as pd

    rows = [
        {"code": CAUSE_CODE[name], "cause": name, "cycles": row[f"{name}_cycles"],
         "share": row[f"{name}_cycles"] / row["window_cycles"], "meaning": MEANINGS[name]}
        for row in totals.to_dict("records") for name in CAUSES if row[f"{name}_cycles"]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(_CAUSES)).sort_values("cycles", ascending=False)


def _filters(simds: list[SimdCauses], chosen: SimdCauses | None, asked: Request) -> html.Div:
    def option(value: str, text: str, selected: bool) -> html.Option:
        return html.Option(text, value=value, selected=selected or None)

    places = [
        option(_name(s), f"SE {s.simd.se} dispatch {s.simd.dispatch} SIMD {s.simd.simd}",
               s is chosen)
        for s in simds
    ]  # fmt: skip
    causes = [option("", "all causes", not asked.cause)]
    causes += [option(name, f"{CAUSE_CODE[name]} {name}", name == asked.cause) for name in CAUSES]
    return html.Div(
        [
            _choice("SIMD", "filter-simd", places, "simd"),
            _choice("cause", "filter-cause", causes, "c"),
        ],
        className="tools",
    )


def _choice(text: str, name: str, options: list[html.Option], state: str) -> html.Label:
    return html.Label([f"{text} ", html.Select(options, id=name, **attributes(data_state=state))])
