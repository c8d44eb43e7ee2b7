"""A Plotly figure on a page: one look for all, no logo, no remote anything."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

INK = {True: "#e3e7ee", False: "#1d232b"}
GROUND = {True: "#1c2027", False: "#ffffff"}
GRID = {True: "#3a414c", False: "#d6dbe2"}

#: Pixels of letters in figures and in their captions.
SIZE, SMALL = 12, 10


def graph(name: str, figure: Any, scale: float, caption: str) -> html.Div:
    """The figure as a component ``graph-NAME``; ``scale`` is that of the page's text.

    ``caption`` says what the numbers are of: a saved figure stands alone.  The height is
    there from the start: Plotly is loaded later.
    """
    figure.update_layout(
        height=round(figure.layout.height * scale), font_size=SIZE * scale,
        hoverlabel_font_size=SIZE * scale,
        title={"text": caption, "x": 1, "xanchor": "right", "y": 0, "yanchor": "bottom",
               "pad": {"r": 8, "b": 4}, "font": {"size": round(SMALL * scale)}},
    )  # fmt: skip
    for trace in figure.data:
        if trace.textfont.size:
            trace.textfont.size = round(trace.textfont.size * scale)
    height = {"height": f"{figure.layout.height}px"}
    drawn = dcc.Graph(
        id=f"graph-{name}", figure=figure, responsive=True, style=height,
        config={"displaylogo": False, "plotGlPixelRatio": 1,
                "modeBarButtonsToRemove": ["lasso2d", "select2d"]},
    )  # fmt: skip
    return html.Div(drawn, className="figure", style=height)


def finish(figure: Any, dark: bool, height: int) -> Any:
    """Common layout: ground (an SVG stands alone), ink and grid of the theme."""
    ink, grid = INK[dark], GRID[dark]
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": True}
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 34, "b": 10}, font={"color": ink},
        paper_bgcolor=GROUND[dark], plot_bgcolor=GROUND[dark],
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )  # fmt: skip
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure
