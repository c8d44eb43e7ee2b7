"""Bubble maps: idle share of the matrix pipe as heat, causes as letters and on hover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from dashboard.figures.graph import finish
from dashboard.palette import CAUSE_CODE
from tracekit.analysis.causes import SimdCauses
from tracekit.analysis.iterations import Fold

#: More columns or rows than this leave no room for letters in the cells.
LETTERS = 72, 40


@dataclass(frozen=True)
class _Grid:
    """Cells of rows x columns: share in %, cause of each (NaN and "" without one)."""

    rows: Any
    columns: Any
    share: Any
    causes: Any
    title: str


def _grid(cells: Any, rows: str, columns: str, cause: str) -> _Grid:
    names, steps = (_filled(np.sort(cells[name].unique())) for name in (rows, columns))
    share = np.full((len(names), len(steps)), np.nan)
    causes = np.full(share.shape, "", object)
    at = np.searchsorted(names, cells[rows]), np.searchsorted(steps, cells[columns])
    idle = cells[f"{cause}_cycles" if cause else "idle_cycles"].to_numpy(float)
    window = cells["window_cycles"].to_numpy(float)
    share[at] = np.where(window > 0, 100 * idle / np.maximum(window, 1), np.nan)
    causes[at] = np.where(idle > 0, cause or cells["cause"].to_numpy(object), "")
    return _Grid(names, steps, share, causes, f"{cause or 'idle'} %")


def _filled(values: Any) -> Any:
    """Evenly spaced values with the missing ones: else their neighbours would look larger."""
    if len(values) < 2:
        return values
    step = int(np.gcd.reduce(np.diff(values)))
    many = (int(values[-1]) - int(values[0])) // step + 1
    return values[0] + step * np.arange(many) if many <= 4 * len(values) else values


def _heat(grid: _Grid, labels: Any, data: Any) -> go.Heatmap:
    codes = np.vectorize(lambda name: CAUSE_CODE.get(name, ""), otypes=[object])(grid.causes)
    small = len(grid.columns) <= LETTERS[0] and len(grid.rows) <= LETTERS[1]
    return go.Heatmap(
        z=grid.share, x=grid.columns, y=labels, zmin=0, zmax=100, colorscale="Cividis",
        customdata=data,
        text=codes, texttemplate="%{text}" if small else None, textfont={"size": 9},
        hovertext=grid.causes, xgap=1, ygap=1,
        colorbar={"title": {"text": grid.title, "side": "right"}},
        hovertemplate="%{y} · %{x:,} cycles: %{z:.1f} % idle, mostly %{hovertext}"
        "<br>click: timeline<extra></extra>",
    )  # fmt: skip


def offset_map(cells: Any, simd: SimdCauses, folded: Fold, cause: str, dark: bool) -> go.Figure:
    """Iteration x offset of one SIMD (``by_offset``)."""
    grid = _grid(cells, "iteration", "offset", cause)
    width = int(cells["width"].iloc[0])
    start = folded.begin[grid.rows][:, None] + grid.columns[None, :]
    se = np.full_like(start, simd.simd.se)
    data = np.dstack([start, start + width, se, np.full_like(start, simd.simd.dispatch)])
    figure = go.Figure(_heat(grid, grid.rows, data))
    figure.update_layout(
        xaxis_title=f"cycles since the iteration began (cells of {width})", yaxis_title="iteration"
    )
    figure.update_yaxes(autorange="reversed")
    return finish(figure, dark, min(900, 170 + 22 * len(grid.rows)))


def time_map(cells: Any, cause: str, dark: bool) -> go.Figure:
    """Time x SIMD (``by_time``) of one SE and dispatch."""
    grid = _grid(cells, "simd", "time", cause)
    width = int(cells["width"].iloc[0])
    start = np.broadcast_to(grid.columns[None, :], grid.share.shape)
    place = [np.full(start.shape, int(cells[name].iloc[0])) for name in ("se", "dispatch")]
    data = np.dstack([start, start + width, *place])
    labels = [f"SIMD {name}" for name in grid.rows.tolist()]
    figure = go.Figure(_heat(grid, labels, data))
    figure.update_layout(xaxis_title=f"cycles (cells of {width})")
    figure.update_yaxes(autorange="reversed")
    return finish(figure, dark, 150 + 36 * len(grid.rows))


def difference_map(base: Any, new: Any, dark: bool) -> go.Figure:
    """Idle share of ``new`` minus ``base`` per iteration and part of it, all SIMDs together."""
    grids = [_parts(cells) for cells in (base, new)]
    n, m = (min(grid.shape[axis] for grid in grids) for axis in (0, 1))
    change = grids[1][:n, :m] - grids[0][:n, :m]
    figure = go.Figure(
        go.Heatmap(
            z=change, zmid=0, zmin=-100, zmax=100, colorscale="PuOr", xgap=1, ygap=1,
            reversescale=True, colorbar={"title": {"text": "points", "side": "right"}},
            hovertemplate="iteration %{y}, cell %{x}: %{z:+.1f} points idle<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        xaxis_title="part of the iteration (cells of each capture's own width)",
        yaxis_title="iteration",
    )
    figure.update_yaxes(autorange="reversed")
    return finish(figure, dark, min(800, 150 + 22 * n))


def _parts(cells: Any) -> Any:
    """Idle share in % as iteration x cell, over the summed windows of all SIMDs."""
    cell = (cells["offset"] // cells["width"]).to_numpy()
    iteration = cells["iteration"].to_numpy()
    if not len(cells):
        return np.empty((0, 0))
    shape = int(iteration.max()) + 1, int(cell.max()) + 1
    idle, window = np.zeros(shape), np.zeros(shape)
    np.add.at(idle, (iteration, cell), cells["idle_cycles"].to_numpy(float))
    np.add.at(window, (iteration, cell), cells["window_cycles"].to_numpy(float))
    return np.where(window > 0, 100 * idle / np.maximum(window, 1), np.nan)
