"""Bars: the budget of an iteration, and the causes of idle time, one row a SIMD."""

from __future__ import annotations

from typing import Any

from plotly import graph_objects as go

from dashboard.figures.graph import INK, finish
from dashboard.palette import CAUSE_CODE, CAUSE_COLOUR, CAUSE_PATTERN, PLOTLY_PATTERN, ink
from tracekit.analysis.causes import CAUSES, MEANINGS


def _names(table: Any) -> list[str]:
    several = table["dispatch"].nunique() > 1
    return [
        f"SE {se} SIMD {simd}" + (f" d{dispatch}" if several else "")
        for se, simd, dispatch in table[["se", "simd", "dispatch"]].to_numpy().tolist()
    ]


def budget_bars(simds: Any, dark: bool) -> go.Figure:
    """Matrix, vector and bound cycles of an iteration (``budget().simds``)."""
    names = _names(simds)
    looks = (
        ("matrix", "matrix_cycles", "#e69f00", ""), ("vector", "vector_cycles", "#56b4e9", "/"),
        ("bound (shortest possible, all waves)", "bound_cycles", "#8d99a6", "x"),
    )  # fmt: skip
    figure = go.Figure(
        [
            go.Bar(
                y=names, x=simds[column], name=name, orientation="h", marker_color=colour,
                marker_pattern_shape=shape, texttemplate="%{x:,.0f}", textposition="auto",
                textfont={"size": 11}, insidetextfont={"color": "#10141a"},
                hovertemplate="%{y}: %{x:,.1f} cycles<extra>" + name + "</extra>",
            )
            for name, column, colour, shape in looks
        ]
    )  # fmt: skip
    figure.update_layout(barmode="group", xaxis_title="cycles of one iteration")
    figure.update_yaxes(autorange="reversed")
    return finish(figure, dark, 110 + 58 * len(names))


def idle_bars(totals: Any, dark: bool) -> go.Figure:
    """Idle cycles by cause in % of the window (``bubbles().totals``)."""
    names, window = _names(totals), totals["window_cycles"].where(totals["window_cycles"] > 0)
    figure = go.Figure(
        [
            go.Bar(
                y=names, x=100 * totals[f"{name}_cycles"] / window, orientation="h",
                name=f"{CAUSE_CODE[name]} {name}", marker_color=CAUSE_COLOUR[name],
                marker_pattern_shape=PLOTLY_PATTERN[CAUSE_PATTERN[name]],
                marker_line={"width": 0.5, "color": INK[dark]},
                customdata=totals[f"{name}_cycles"], text=[CAUSE_CODE[name]] * len(names),
                textposition="inside", insidetextanchor="middle", textangle=0,
                insidetextfont={"color": ink(CAUSE_COLOUR[name])},
                hovertemplate="%{y}: %{x:.2f} % = %{customdata:,} cycles<br>"
                + MEANINGS[name] + "<extra>" + name + "</extra>",
            )
            for name in CAUSES
            if totals[f"{name}_cycles"].any()
        ]
    )  # fmt: skip
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis_title="matrix pipe idle, % of the window",
    )
    figure.update_yaxes(autorange="reversed")
    return finish(figure, dark, 130 + 30 * len(names))
