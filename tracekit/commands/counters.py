"""``tracekit counters``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Column, Output, number, output_options
from tracekit.commands.report import Report, emit


def _known(value: Any) -> str:
    import pandas as pd

    return "-" if pd.isna(value) else f"{int(value):,}"


def _ratio(value: Any) -> str:
    return "-" if value is None or value != value else f"{value:.4g}"


_VIEW = {
    "se": Column("SE"),
    "cu": Column("CU"),
    "counter": Column("#"),
    "name": Column("counter", lambda value: value or "(unnamed)", left=True),
    "samples": Column("samples", number),
    "counted": Column("counted", number),
    "decoded": Column("decoded", _known),
    "ratio": Column("ratio", _ratio),
}


@click.command("counters")
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
    for timeline in source.timelines():
        wanted = [name.strip() for name in names.split(",")] if names else []
        rows = counters(timeline, wanted)
        notes = [] if len(rows) else ["no SQ counters in this trace (rocprofv3 --att-perfcounters)"]
        traced = rows[rows["decoded"].notna()]["se"].unique()
        shown = rows[rows["se"].isin(traced)] if len(traced) else rows
        if output.format == "text" and len(shown) < len(rows):
            notes.append("SEs without traced instructions are left out; --csv has them")
        reports.append(Report(timeline, rows, notes, {"shown": shown}))
    if output.format == "json":
        for report in reports:
            report.tables.clear()
    emit(output, "tracekit.counters/1", reports, [("shown", "SQ counters", _VIEW)])
