"""``tracekit markers``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number, percent
from tracekit.present.report import Report, View, emit

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis

_VIEW = {
    "stack": Column("scope", left=True, rank=0),
    "entries": Column("entries", number),
    "waves": Column("waves", number),
    "cycles": Column("cycles", number),
    "self_cycles": Column("self", number),
    "cycles_p50": Column("median", number, rank=0),
    "matrix_occupancy": Column("matrix", percent, rank=0),
    "vector_occupancy": Column("vector", percent, rank=0),
}


@click.command("markers", cls=Grouped)
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """Scopes that the kernel marked with s_ttracedata, and the pipes inside each.

    scope: the stack of names, outermost first. cycles: from entry to exit, summed over
    waves; self: without the scopes inside. matrix, vector: pipe occupancy over the cycles
    in which a wave of the SIMD is in a scope of that name, mean over SIMDs; the same as
    occupancy --window marker:NAME.
    """
    from tracekit.analysis.flames import flames, points

    reports = []
    for analysis in source.analyses(tables=("markers",)):
        rows = flames(analysis.timeline)
        for pipe in ("matrix", "vector"):
            rows[f"{pipe}_occupancy"] = [_share(analysis, name, pipe) for name in rows["name"]]
        notes = [] if len(rows) else ["no marker scope in this trace"]
        reports.append(Report(analysis, rows, notes, {"points": points(analysis.timeline)}))
    emit(output, "tracekit.markers/2", reports, [View("rows", "marker scopes", _VIEW)])


def _share(analysis: Analysis, name: str, pipe: str) -> float | None:
    """Occupancy of a pipe over the scopes of a name; None where it is not known."""
    inside = analysis.in_window(f"marker:{name}").occupancy.rows
    inside = inside[inside["window_cycles"] > 0]
    busy = inside[f"{pipe}_busy_cycles"]
    if not len(inside):
        return 0.0
    return None if busy.isna().any() else float(busy.sum() / inside["window_cycles"].sum())
