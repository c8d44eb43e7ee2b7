"""One self-contained HTML report: opens offline, sends nothing, needs plotly to write."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.causes import CAUSES, MEANINGS
from tracekit.errors import TracekitError
from tracekit.present.cells import Column, address, percent
from tracekit.version import VERSION

if TYPE_CHECKING:
    import pandas as pd

ROWS = 20
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}
table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
td.text,th.text{text-align:left}.note{opacity:.75}
@media(prefers-color-scheme:dark){body{background:#16181d;color:#dde}}"""
_SHARES = ("occupancy", "share", "best", "achieved", "filled", "lag")


def write(analysis: Analysis, path: Path) -> None:
    """Write the report of ``analysis``; raises TracekitError without plotly."""
    path.write_text(document(analysis), encoding="utf-8")


def document(analysis: Analysis) -> str:
    """The report as HTML text, Plotly included."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise TracekitError("html needs plotly: pip install tracekit[dashboard]") from None
    body = "".join(_sections(analysis))
    title = escape(f"tracekit: {analysis.timeline.capture}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style><script>{get_plotlyjs()}</script></head><body>"
        f"<h1>{title}</h1>{body}</body></html>\n"
    )


def _sections(analysis: Analysis) -> Iterator[str]:
    timeline, found, busy = analysis.timeline, analysis.causes, analysis.occupancy
    origin = "simulated, " if timeline.simulated else ""
    yield (
        f"<p>{origin}{escape(timeline.shown_timing)} timing, {escape(str(timeline.arch))}, window "
        f"{escape(analysis.window)}, tracekit {VERSION}. "
        "Times are cycles of the shader clock.</p>"
    )
    judged = analysis.quality
    yield f"<p><b>Quality: {escape(judged.sentence)}.</b></p>"
    for finding in judged.reasons:
        yield f'<p class="note">{escape(finding.reason)}.</p>'
    for note in dict.fromkeys([*timeline.notes, *busy.notes, *found.notes]):
        yield f'<p class="note">Note: {escape(note)}.</p>'
    yield "<h2>Occupancy</h2>" + _table(
        busy.rows, ["se", "simd", "waves", "window", "window_cycles", "mfma", "matrix_occupancy",
                    "vector_occupancy", "overlap_cycles", "matrix_idle_cycles", "violations"],
    )  # fmt: skip
    cost = analysis.budget
    yield "<h2>Budget of an iteration</h2>" + _table(
        cost.rows, ["se", "simd", "slot", "iterations", "cycles", "matrix_cycles", "vector_cycles",
                    "full_rate_cycles", "packed_cycles", "transcendental_cycles", "lds_cycles",
                    "vmem_cycles", "nop_cycles"],
    )  # fmt: skip
    yield _table(
        cost.simds, ["se", "simd", "waves", "limit", "best_1", "best_2", "best_4", "achieved",
                     "verdict"],
    )  # fmt: skip
    result = analysis.bubbles
    yield "<h2>Why the matrix pipe is idle</h2>" + _bars(result.totals)
    yield "<h3>Largest bubbles by place</h3>" + _table(
        result.places, ["cause", "bubbles", "cycles", "mean_cycles", "share", "previous_mfma_vaddr",
                        "previous_mfma", "next_mfma_vaddr", "next_mfma"],
    )  # fmt: skip
    yield "<h3>Bubble map: iteration and offset</h3>" + _map(
        analysis.by_offset, "iteration", "offset"
    )
    yield "<h3>Bubble map: time and SIMD</h3>" + _map(analysis.by_time, "simd", "time")
    turns = analysis.overlap
    yield "<h2>Do the waves take turns?</h2>" + _table(
        turns.rows, ["se", "simd", "slot_a", "wave_a", "slot_b", "wave_b", "window_cycles",
                     "a_shadow_filled", "b_shadow_filled", "lag", "alternation", "verdict"],
    )  # fmt: skip
    yield "<h2>Hotspots</h2>" + _hotspots(analysis)
    meanings = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in MEANINGS.items())
    yield f"<h2>Causes: what the wave does that ends the bubble</h2><dl>{meanings}</dl>"


def _column(name: str) -> Column:
    """How the values of a column of a command's table read."""
    if name.endswith("vaddr"):
        return Column(name, address)
    return Column(name, partial(_value, share=any(part in name for part in _SHARES)))


def _value(value: Any, *, share: bool) -> str:
    if isinstance(value, float):
        return percent(value) if share else f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def _table(table: pd.DataFrame, columns: list[str]) -> str:
    if not len(table):
        return '<p class="note">Nothing to show.</p>'
    part = table[columns].head(ROWS)
    text = {name for name in columns if part[name].map(lambda v: isinstance(v, str)).any()}
    shown = {name: _column(name) for name in columns}
    mark = {name: ' class="text"' if name in text else "" for name in columns}
    head = "".join(f"<th{mark[name]}>{name.replace('_', ' ')}</th>" for name in columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{mark[n]}>{shown[n].cell(v)}</td>" for n, v in zip(columns, row, strict=True)
        )
        + "</tr>"
        for row in part.itertuples(index=False, name=None)
    )
    more = f'<p class="note">... {len(table) - ROWS} more.</p>' if len(table) > ROWS else ""
    return f"<table><tr>{head}</tr>{rows}</table>{more}"


def _figure(figure: Any, height: int) -> str:
    figure.update_layout(
        height=height, margin={"l": 60, "r": 20, "t": 10, "b": 45}, paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)", font_color="#888",
    )  # fmt: skip
    html: str = figure.to_html(full_html=False, include_plotlyjs=False)
    return html


def _bars(totals: pd.DataFrame) -> str:
    """Shares of the window by cause, one bar a SIMD."""
    from plotly import graph_objects as go

    if not len(totals):
        return '<p class="note">Nothing to show.</p>'
    place = [f"SE {se} SIMD {simd}" for se, simd in totals[["se", "simd"]].to_numpy().tolist()]
    window = totals["window_cycles"]
    figure = go.Figure(
        [
            go.Bar(y=place, x=100 * totals[f"{name}_cycles"] / window, name=name, orientation="h")
            for name in CAUSES
            if totals[f"{name}_cycles"].any()
        ]
    )
    figure.update_layout(barmode="stack", xaxis_title="matrix idle, % of window")
    return _figure(figure, 120 + 30 * len(place))


def _map(cells: pd.DataFrame, rows: str, columns: str) -> str:
    """Idle share per cell as a heat map."""
    from plotly import graph_objects as go

    if not len(cells):
        return '<p class="note">Nothing to show.</p>'
    sums = cells.groupby([rows, columns])[["idle_cycles", "window_cycles"]].sum().reset_index()
    sums["idle"] = (
        100 * sums["idle_cycles"] / sums["window_cycles"].where(sums["window_cycles"] > 0)
    )
    grid = sums.pivot(index=rows, columns=columns, values="idle")
    figure = go.Figure(
        go.Heatmap(z=grid.to_numpy(), x=grid.columns.tolist(), y=grid.index.tolist(), zmin=0,
                   zmax=100, colorscale="Viridis", colorbar={"title": "idle %"})
    )  # fmt: skip
    figure.update_layout(xaxis_title=f"{columns}, cycles", yaxis_title=rows)
    return _figure(figure, 420)


def _hotspots(analysis: Analysis) -> str:
    """Instructions with most latency."""
    table = analysis.timeline.executed
    if not len(table):
        return '<p class="note">Nothing to show.</p>'
    sums = table.groupby(["vaddr", "instruction"], observed=True)[["duration", "stall"]].sum()
    sums["executed"] = table.groupby(["vaddr", "instruction"], observed=True).size()
    sums = sums.sort_values("duration", ascending=False).reset_index()
    return _table(sums, ["vaddr", "instruction", "executed", "duration", "stall"])
