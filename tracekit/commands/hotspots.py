"""``tracekit hotspots``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Column, Output, output_options, percent
from tracekit.commands.report import Report, emit

if TYPE_CHECKING:
    import pandas as pd


def _cycles(value: Any) -> str:
    import pandas as pd

    return "-" if pd.isna(value) else f"{int(value):,}"


def _address(value: Any) -> str:
    return "-" if value < 0 else f"{int(value):#x}"


_VIEW = {
    "code_object": Column("object"),
    "vaddr": Column("vaddr", _address),
    "hits": Column("hits", _cycles),
    "latency_cycles": Column("latency", _cycles),
    "share": Column("share", percent),
    "stall_cycles": Column("stall", _cycles),
    "idle_cycles": Column("idle", _cycles),
    "matrix_cycles": Column("matrix", _cycles),
    "vector_cycles": Column("vector", _cycles),
    "refused_cycles": Column("refused", _cycles),
    "nop_cycles": Column("nop", _cycles),
    "waitcnt_cycles": Column("waitcnt", _cycles),
    "barrier_cycles": Column("barrier", _cycles),
    "instruction": Column("instruction", left=True),
    "source": Column("source", left=True),
}


@click.command("hotspots")
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """Where the time goes, per line of code: cycles of all traced waves together.

    latency: from the first attempt to issue to the end of the issue, not of execution; share:
    of the sum of all lines. stall: the part of it before the issue. idle: the wave's time
    before the first attempt. matrix, vector: cycles that the line held these pipes (from the
    cost tables). refused, nop, waitcnt: what the stall was spent on; refused is ready but not
    let onto its pipe. barrier: from the arrival to the release (AMD's timing counts it as
    stall, exact timing beside it). Lines are sorted by latency.

    --csv writes rocprofv3's stats CSV, every line of the kernels that ran, by address, and
    these columns behind its own; with --timing amd the first eight equal AMD's.
    """
    from tracekit.analysis.hotspots import hotspots

    reports = []
    for timeline in source.timelines():
        result = hotspots(timeline)
        tables = {"view": _view(result.rows)}
        reports.append(Report(timeline, result.rows, result.notes, tables))
    if output.format == "csv":
        with output.open() as out:
            write_stats(out, [report.rows for report in reports])
        for report in reports:
            for note in [*report.timeline.notes, *report.notes]:
                output.note(note)
        return
    if output.format == "json":
        for report in reports:
            report.tables.clear()
    emit(output, "tracekit.hotspots/1", reports, [("view", "hotspots", _VIEW)])


def _view(rows: pd.DataFrame) -> pd.DataFrame:
    """Lines that ran, by latency."""
    table = rows[rows["hits"] > 0].sort_values("latency_cycles", ascending=False, kind="stable")
    total = max(int(table["latency_cycles"].sum()), 1)
    return table.assign(share=table["latency_cycles"].astype("float64") / total)


def write_stats(out: IO[str], tables: Sequence[pd.DataFrame]) -> None:
    """rocprofv3's CSV: texts quoted, numbers not, unknown empty; our columns come last."""
    from tracekit.analysis.hotspots import OWN, STATS

    names = [*STATS.values(), *OWN]
    out.write(",".join(f'"{name}"' for name in (*STATS, *OWN)) + "\n")
    for table in tables:
        for row in table[names].itertuples(index=False, name=None):
            out.write(",".join(map(_cell, row)) + "\n")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    import pandas as pd

    return "" if pd.isna(value) else str(value)
