"""``tracekit waves``."""

from __future__ import annotations

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

_COLUMNS = (
    "se", "cu", "simd", "slot", "wave", "begin", "end", "instructions", "stitched", "complete",
    "dispatch",
)  # fmt: skip
_VIEW = {
    "se": Column("SE"),
    "cu": Column("CU"),
    "simd": Column("SIMD"),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "begin": Column("begin", number),
    "end": Column("end", number),
    "instructions": Column("instructions", number),
    "stitched": Column("stitched", number),
    "complete": Column("complete"),
    "dispatch": Column("dispatch"),
}


@click.command("waves")
@source_options
@output_options
def command(source: Source, output: Output) -> int:
    """One row per traced wave.

    begin, end: cycles of that SE's clock. stitched: instructions with a known program
    counter. complete: both ends were traced and no packet was lost in between.
    """
    timelines = source.timelines()
    tables = []
    for timeline in timelines:
        table = timeline.waves[list(_COLUMNS)].copy()
        table["complete"] = table["complete"].map({True: "true", False: "false"})
        tables.append(table)
    if output.format == "json":
        payloads = [
            {
                **header("tracekit.waves/1", timeline),
                "notes": timeline.notes,
                "rows": records(timeline.waves[list(_COLUMNS)]),
            }
            for timeline in timelines
        ]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
        return 0
    if output.format == "csv":
        output.csv(tables)
    else:
        for timeline, table in zip(timelines, tables, strict=True):
            output.table(table, f"{timeline.capture}{origin(timeline)}: waves", _VIEW)
    for timeline in timelines:
        for note in timeline.notes:
            output.note(note)
    return 0
