"""``tracekit hotspots``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, address, is_missing, number, percent
from tracekit.present.report import Report, View, emit

if TYPE_CHECKING:
    import pandas as pd


_VIEW = {
    "code_object": Column("object", rank=3),
    "vaddr": Column("vaddr", address, rank=0),
    "hits": Column("hits", number, rank=2),
    "latency_cycles": Column("latency", number, rank=0),
    "share": Column("share", percent),
    "stall_cycles": Column("stall", number),
    "idle_cycles": Column("idle", number, rank=2),
    "matrix_cycles": Column("matrix", number, rank=2),
    "vector_cycles": Column("vector", number, rank=3),
    "refused_cycles": Column("refused", number),
    "nop_cycles": Column("nop", number, rank=3),
    "waitcnt_cycles": Column("waitcnt", number),
    "barrier_cycles": Column("barrier", number),
    "instruction": Column("instruction", left=True, rank=0, cut=True),
    "source": Column("source", left=True, rank=2),
}


@click.command("hotspots", cls=Grouped)
@source_options
@output_options
@from_digests()
def command(source: Source, output: Output) -> None:
    """Where the time goes, per line of code: cycles of all traced waves together.

    latency: from the first attempt to issue to the end of the issue, not of execution; share:
    of the sum of all lines. stall: the part of it before the issue. idle: the wave's time
    before the first attempt. matrix, vector: cycles that the line held these pipes (from the
    cost tables). refused, nop, waitcnt: what the stall was spent on; refused is ready but not
    let onto its pipe. barrier: from the arrival to the release (AMD's timing counts it as
    stall, exact timing beside it). Lines are sorted by latency.

    --csv writes rocprofv3's stats CSV, every line of the kernels that ran, by address, and
    these columns and the capture behind its own; with --timing amd the first eight equal AMD's.
    """
    reports = []
    for analysis in source.analyses():
        result = analysis.hotspots
        shown = {"ran": _ran(result.rows)}
        reports.append(Report(analysis, result.rows, result.notes, shown=shown))
    views = [View("ran", "hotspots", _VIEW)]
    emit(output, "tracekit.hotspots/2", reports, views, write_stats)


def _ran(rows: pd.DataFrame) -> pd.DataFrame:
    """Lines that ran, by latency."""
    table = rows[rows["hits"] > 0].sort_values("latency_cycles", ascending=False, kind="stable")
    total = max(int(table["latency_cycles"].sum()), 1)
    return table.assign(share=table["latency_cycles"].astype("float64") / total)


def write_stats(out: IO[str], tables: Sequence[pd.DataFrame]) -> None:
    """rocprofv3's CSV: texts quoted, numbers not, unknown empty; our columns and the capture
    come last."""
    from tracekit.analysis.hotspots import OWN, STATS

    names = [*STATS.values(), *OWN, "capture"]
    out.write(",".join(f'"{name}"' for name in (*STATS, *OWN, "capture")) + "\n")
    for table in tables:
        for row in table[names].itertuples(index=False, name=None):
            out.write(",".join(map(_cell, row)) + "\n")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if is_missing(value) else str(value)
