"""``tracekit instructions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import (
    Column,
    Output,
    header,
    number,
    origin,
    output_options,
    records,
)

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    "se", "cu", "simd", "slot", "wave", "time", "category", "stall", "duration", "code_object",
    "vaddr", "line", "instruction", "release", "dispatch",
)  # fmt: skip


def _place(value: Any) -> str:
    return "" if value is None or value != value else str(int(value))


_VIEW = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "time": Column("time", number),
    "stall": Column("stall", number),
    "duration": Column("duration", number),
    "line": Column("line", _place),
    "instruction": Column("instruction", lambda text: "" if text != text else str(text), left=True),
}


@click.command("instructions")
@source_options
@output_options
def command(source: Source, output: Output) -> int:
    """One row per executed instruction.

    time: first attempt to issue; time + stall: issue; time + duration: end of the issue
    cost (all cycles of that SE's clock). release: when an s_barrier was released (exact
    timing). line: of code.json, empty without one.
    """
    timelines = source.timelines()
    if output.format == "json":
        payloads = [
            {
                **header("tracekit.instructions/1", timeline),
                "notes": timeline.notes,
                "rows": records(_table(timeline.instructions)),
            }
            for timeline in timelines
        ]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
        return 0
    tables = [_table(timeline.instructions) for timeline in timelines]
    if output.format == "csv":
        output.csv(tables)
    else:
        for timeline, table in zip(timelines, tables, strict=True):
            output.table(table, f"{timeline.capture}{origin(timeline)}: instructions", _VIEW)
    for timeline in timelines:
        for note in timeline.notes:
            output.note(note)
    return 0


def _table(instructions: pd.DataFrame) -> pd.DataFrame:
    """The published columns; what is unknown is empty."""
    table = instructions[list(_COLUMNS)].copy()
    unstitched = instructions["row"] < 0
    for name in ("line", "release"):
        table[name] = table[name].astype("Int64").mask(table[name] < 0)
    for name in ("code_object", "vaddr"):
        table[name] = table[name].astype("Int64").mask(unstitched)
    return table
