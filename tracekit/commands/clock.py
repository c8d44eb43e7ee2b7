"""``tracekit clock``."""

from __future__ import annotations

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Column, Output, output_options
from tracekit.commands.report import Report, emit


def _mhz(value: float) -> str:
    return f"{value:,.1f}"


_VIEW = {
    "se": Column("SE"),
    "pairs": Column("pairs"),
    "seconds": Column("microseconds", lambda value: f"{1e6 * value:,.2f}"),
    "min_mhz": Column("MHz min", _mhz),
    "median_mhz": Column("median", _mhz),
    "max_mhz": Column("max", _mhz),
    "drift": Column("drift", lambda value: f"{100 * value:+.2f} %"),
}


@click.command("clock")
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """The shader clock while the kernel ran, so that cycles become nanoseconds.

    pairs: points at which the trace gives shader cycles and the realtime counter. MHz:
    cycles per time between neighbouring points. drift: the last interval against the first.
    A clock below the chip's maximum means that it did not sustain it (power, heat): compare
    kernels in cycles, and products in nanoseconds.
    """
    from tracekit.analysis.clock import clock

    reports = []
    for timeline in source.timelines():
        result = clock(timeline)
        notes = [] if len(result.rows) else ["the trace has no two realtime points: no clock"]
        reports.append(Report(timeline, result.rows, notes, {"intervals": result.intervals}))
    emit(output, "tracekit.clock/1", reports, [("rows", "shader clock", _VIEW)])
