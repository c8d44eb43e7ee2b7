"""``tracekit waves``."""

from __future__ import annotations

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number
from tracekit.present.report import Report, View, emit

_COLUMNS = (
    "se", "cu", "simd", "slot", "wave", "begin", "end", "instructions", "stitched", "complete",
    "dispatch",
)  # fmt: skip
_VIEW = {
    "se": Column("SE", rank=0),
    "cu": Column("CU"),
    "simd": Column("SIMD", rank=0),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "begin": Column("begin", number),
    "end": Column("end", number),
    "instructions": Column("instructions", number),
    "stitched": Column("stitched", number),
    "complete": Column("complete", lambda value: str(value).lower()),
    "dispatch": Column("dispatch"),
}


@click.command("waves", cls=Grouped)
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """One row per traced wave.

    begin, end: cycles of that SE's clock. stitched: instructions with a known program
    counter. complete: both ends were traced and no packet was lost in between.
    """
    reports = []
    for analysis in source.analyses():
        rows = analysis.timeline.waves[list(_COLUMNS)]
        reports.append(Report(analysis, rows))
    emit(output, "tracekit.waves/2", reports, [View("rows", "waves", _VIEW, full=False, raw=True)])
