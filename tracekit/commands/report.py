"""One result per capture, written the same way by every analysis command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracekit.commands.output import Column, Output, header, origin, records

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.tables.timeline import Timeline


@dataclass
class Report:
    """``rows`` is what --csv writes; ``tables`` are further keys of the JSON result."""

    timeline: Timeline
    rows: pd.DataFrame
    notes: Sequence[str] = ()
    tables: dict[str, Any] = field(default_factory=dict)

    def payload(self, schema: str) -> dict[str, Any]:
        """The JSON result."""
        result = header(schema, self.timeline)
        result["notes"] = [*self.timeline.notes, *self.notes]
        result["rows"] = records(self.rows)
        for name, table in self.tables.items():
            result[name] = records(table) if hasattr(table, "to_dict") else table
        return result

    def title(self, what: str) -> str:
        """Heading of a table for people."""
        timeline = self.timeline
        # Decoded JSON holds AMD's times, whatever was asked for.
        timing = "amd" if timeline.decoded else timeline.timing
        name = f"{timeline.capture}{origin(timeline)}"
        return f"{name}: {what}, {timing} timing, {timeline.arch}"


def emit(
    output: Output,
    schema: str,
    reports: Sequence[Report],
    views: Sequence[tuple[str, str, dict[str, Column]]],
) -> None:
    """Write ``reports`` in the format asked for.

    ``views``: (table, title, columns) to show people; the table "rows" or a key of
    ``tables``; empty tables are left out.
    """
    if output.format == "json":
        payloads = [report.payload(schema) for report in reports]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
        return
    if output.format == "csv":
        output.csv([report.rows for report in reports])
    else:
        output.tables(
            [
                (table, report.title(title), columns)
                for report in reports
                for name, title, columns in views
                if len(table := report.rows if name == "rows" else report.tables[name])
            ]
        )
    for report in reports:
        for note in [*report.timeline.notes, *report.notes]:
            output.note(note if len(reports) == 1 else f"{report.timeline.capture}: {note}")


def window_label(rows: pd.DataFrame) -> str:
    """The windows of ``rows``, for a title."""
    if "window" not in rows.columns or not len(rows):
        return "no window"
    return "window " + ", ".join(dict.fromkeys(rows["window"]))
