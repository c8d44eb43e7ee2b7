"""``tracekit instructions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number
from tracekit.present.report import Report, View, emit

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    "se", "cu", "simd", "slot", "wave", "time", "category", "stall", "duration", "code_object",
    "vaddr", "line", "instruction", "release", "dispatch", "issue", "opcode", "pipe",
    "pipe_cycles",
)  # fmt: skip


_VIEW = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "time": Column("time", number),
    "stall": Column("stall", number),
    "duration": Column("duration", number),
    "line": Column("line", missing=""),
    "instruction": Column("instruction", left=True, missing="", rank=0, cut=True),
}


@click.command("instructions", cls=Grouped)
@source_options
@output_options
def command(source: Source, output: Output) -> None:
    """One row per executed instruction.

    time: first attempt to issue; time + stall: issue; time + duration: end of the issue
    cost (all cycles of that SE's clock). release: when an s_barrier was released (exact
    timing). line: of code.json, empty without one. pipe, pipe_cycles: what executes it by the
    cost table, and for how long.
    """
    reports = [
        Report(analysis, _table(analysis.timeline.instructions)) for analysis in source.analyses()
    ]
    views = [View("rows", "instructions", _VIEW, full=False, raw=True)]
    emit(output, "tracekit.instructions/2", reports, views)


def _table(instructions: pd.DataFrame) -> pd.DataFrame:
    """The published columns; what is unknown is empty."""
    table = instructions[list(_COLUMNS)].copy()
    table["category"] = table["category"].cat.codes
    unstitched = instructions["row"] < 0
    for name in ("line", "release"):
        table[name] = table[name].astype("Int64").mask(table[name] < 0)
    for name in ("code_object", "vaddr"):
        table[name] = table[name].astype("Int64").mask(unstitched)
    table["pipe_cycles"] = table["pipe_cycles"].astype("Int64").mask(table["pipe_cycles"] < 0)
    return table
