"""Figures of answers (plotly, extra plot)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.analysis.comparison.runs import BUSY
from tracekit.errors import TracekitError
from tracekit.present.cells import address
from tracekit.present.explained.titles import TITLES

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.compare import Comparison
    from tracekit.analysis.explain.page import Page

#: Okabe and Ito's, which the colour-blind tell apart: matrix, vector, both, the rest.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072b2", "#d55e00", "#009e73", "#999999"
#: Places that a figure of waits shows.
PLACES = 15


def _graphs() -> Any:
    try:
        from plotly import graph_objects
    except ImportError:
        raise TracekitError("plots need plotly: pip install tracekit[plot]") from None
    return graph_objects


def occupancy(rows: pd.DataFrame) -> Any:
    """Matrix, vector and both, % of the window, per SIMD."""
    go = _graphs()
    where = [f"SE {se} SIMD {simd}" for se, simd in rows[["se", "simd"]].itertuples(index=False)]
    figure = go.Figure(
        [
            go.Bar(name=name, x=where, y=100 * rows[column].astype(float), marker_color=colour)
            for name, column, colour in (
                ("matrix", "matrix_occupancy", _BLUE),
                ("vector", "vector_occupancy", _ORANGE),
                ("both", "overlap", _GREEN),
            )
        ]
    )
    return figure.update_layout(barmode="group", yaxis_title="% of the window")


def causes(page: Page | None) -> Any:
    """Busy, and the causes of idle time, % of the window."""
    go = _graphs()
    if page is None:
        return go.Figure()
    bars = [("matrix pipe busy", page.headline.matrix_share, _BLUE)]
    bars += [(TITLES[cause.key], cause.of_window, _ORANGE) for cause in page.causes]
    names, shares, colours = zip(*reversed(bars), strict=True)
    figure = go.Figure(
        go.Bar(x=[100 * share for share in shares], y=names, orientation="h",
               marker_color=colours)
    )  # fmt: skip
    return figure.update_layout(xaxis_title="% of the window", title=page.kernel)


def waterfall(result: Comparison) -> Any:
    """From the mean iteration of the base to that of the new side, a step a cause."""
    go = _graphs()
    found = result.metrics
    if "cycles" not in found:
        return go.Figure()
    steps = [
        (TITLES.get(name.removeprefix("iteration:"), "matrix pipe busy"), row["difference"])
        for name, row in found.items()
        if name.startswith("iteration:") and (row["difference"] or name == BUSY)
    ]
    steps.sort(key=lambda step: -abs(step[1]))
    names, sizes = zip(*steps, strict=True)
    mean = found["cycles"]
    figure = go.Figure(
        go.Waterfall(
            x=["base", *names, "new"],
            y=[mean["base_value"], *sizes, mean["new_value"]],
            measure=["absolute", *["relative"] * len(steps), "total"],
            increasing_marker_color=_ORANGE, decreasing_marker_color=_GREEN,
            totals_marker_color=_BLUE,
        )
    )  # fmt: skip
    return figure.update_layout(yaxis_title="mean cycles of an iteration")


def waits(rows: pd.DataFrame) -> Any:
    """Cycles waited at each wait; the share that its lead hid, in the hover text."""
    go = _graphs()
    top = rows.sort_values("waited_total", ascending=False, kind="stable").head(PLACES)
    names = [
        f"{counter}({value}) {address(vaddr)}"
        for counter, value, vaddr in top[["counter", "value", "vaddr"]].itertuples(index=False)
    ]
    hidden = [f"hidden {100 * share:.1f} %" for share in top["hidden"].fillna(0)]
    figure = go.Figure(
        go.Bar(x=top["waited_total"], y=names, orientation="h", hovertext=hidden,
               marker_color=_ORANGE)
    )  # fmt: skip
    return figure.update_layout(
        xaxis_title="cycles waited, all waves", yaxis={"autorange": "reversed"}
    )
