"""``tracekit clock``."""

from __future__ import annotations

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, decimal
from tracekit.present.report import Report, View, emit

_VIEW = {
    "se": Column("SE", rank=0),
    "pairs": Column("pairs"),
    "seconds": Column("microseconds", lambda value: f"{1e6 * value:,.2f}"),
    "min_mhz": Column("MHz min", decimal),
    "median_mhz": Column("median", decimal),
    "max_mhz": Column("max", decimal),
    "drift": Column("drift", lambda value: f"{100 * value:+.2f} %"),
}


@click.command("clock", cls=Grouped)
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """The shader clock while the kernel ran, so that cycles become nanoseconds.

    pairs: points at which the trace gives shader cycles and the realtime counter. MHz:
    cycles per time between neighbouring points. drift: the last interval against the first.
    A clock below the chip's maximum means that it did not sustain it (power, heat): compare
    kernels in cycles, and products in nanoseconds.
    """
    reports = []
    for analysis in source.analyses(tables=("clock",)):
        result = analysis.clock
        notes = [] if len(result.rows) else ["the trace has no two realtime points: no clock"]
        reports.append(Report(analysis, result.rows, notes, {"intervals": result.intervals}))
    emit(output, "tracekit.clock/2", reports, [View("rows", "shader clock", _VIEW)])
