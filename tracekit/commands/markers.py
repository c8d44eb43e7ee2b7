"""``tracekit markers``."""

from __future__ import annotations

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number, percent
from tracekit.present.report import Report, View, emit

_VIEW = {
    "stack": Column("scope", left=True),
    "entries": Column("entries", number),
    "waves": Column("waves", number),
    "cycles": Column("cycles", number),
    "self_cycles": Column("self", number),
    "cycles_p50": Column("median", number),
    "matrix_occupancy": Column("matrix", percent),
    "vector_occupancy": Column("vector", percent),
}


@click.command("markers")
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
    for analysis in source.analyses():
        rows = flames(analysis.timeline)
        shares: dict[str, tuple[float, float]] = {}
        for name in dict.fromkeys(rows["name"]):
            inside = analysis.in_window(f"marker:{name}").occupancy.rows
            inside = inside[inside["window_cycles"] > 0]
            cycles = inside["window_cycles"].sum()
            busy = [
                float(inside[f"{pipe}_busy_cycles"].sum(skipna=False) / cycles) if cycles else 0.0
                for pipe in ("matrix", "vector")
            ]
            shares[name] = (busy[0], busy[1])
        for place, pipe in enumerate(("matrix", "vector")):
            rows[f"{pipe}_occupancy"] = [shares[name][place] for name in rows["name"]]
        notes = [] if len(rows) else ["no marker scope in this trace"]
        reports.append(Report(analysis, rows, notes, {"points": points(analysis.timeline)}))
    emit(output, "tracekit.markers/1", reports, [View("rows", "marker scopes", _VIEW)])
