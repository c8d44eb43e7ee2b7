"""``tracekit counters``."""

from __future__ import annotations

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number
from tracekit.present.report import Report, View, emit


def _ratio(value: float) -> str:
    return f"{value:.4g}"


_VIEW = {
    "se": Column("SE", rank=0),
    "cu": Column("CU"),
    "counter": Column("#", rank=0),
    "name": Column("counter", lambda value: value or "(unnamed)", left=True, rank=0),
    "samples": Column("samples", number),
    "counted": Column("counted", number),
    "decoded": Column("decoded", number),
    "ratio": Column("ratio", _ratio),
}


@click.command("counters", cls=Grouped)
@source_options
@click.option("--counters", "names", metavar="A,B,...",
              help="Names of the counters in order, where the capture does not tell.")  # fmt: skip
@output_options
def command(source: Source, names: str | None, output: Output) -> None:
    """The SQ counters in the trace, beside what the decoded instructions say.

    counted: sum of the samples of that CU. decoded: what the traced instructions of that CU
    should have made it; "-" where none were traced or the counter has no equivalent. ratio:
    counted / decoded; 1 means that decoder, classes and pass table agree with the chip.
    """
    from tracekit.analysis.counters import counters

    reports = []
    for analysis in source.analyses(tables=("counters",)):
        wanted = [name.strip() for name in names.split(",")] if names else []
        rows = counters(analysis.timeline, wanted)
        notes = [] if len(rows) else ["no SQ counters in this trace (rocprofv3 --att-perfcounters)"]
        traced = rows[rows["decoded"].notna()]["se"].unique()
        shown = rows[rows["se"].isin(traced)] if len(traced) else rows
        if output.format == "text" and len(shown) < len(rows):
            notes.append("SEs without traced instructions are left out; --csv has them")
        reports.append(Report(analysis, rows, notes, shown={"traced": shown}))
    emit(output, "tracekit.counters/2", reports, [View("traced", "SQ counters", _VIEW)])
