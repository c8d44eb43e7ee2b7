"""One result per capture, written the same way by every command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tracekit.present.cells import Column
from tracekit.present.folding import folded
from tracekit.present.payload import header, records, results
from tracekit.present.sentences import origin, title, window_label
from tracekit.present.tables import CsvWriter, Shown, write_csv

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.analysis import Analysis


class Sink(Protocol):
    """Where results go, in the formats that were asked for: text, csv, json."""

    @property
    def forms(self) -> tuple[str, ...]: ...
    @property
    def per_simd(self) -> bool: ...
    def json(self, payload: object) -> None: ...
    def csv(self, tables: Sequence[pd.DataFrame], write: CsvWriter = ...) -> None: ...
    def tables(self, tables: Sequence[Shown]) -> None: ...
    def note(self, text: str) -> None: ...


class Noted(Protocol):
    """A result with what there is to know about it."""

    @property
    def capture(self) -> str: ...
    @property
    def all_notes(self) -> list[str]: ...


@dataclass(frozen=True)
class View:
    """A table for people: "rows" or a key of ``Report.tables``, what it shows, its columns.

    ``full``: the heading also names timing and architecture; ``window_of``: and the windows
    of that table's rows, which a column tells apart where they differ.  ``fold``: rows that
    are equal in these columns are one, with the range over its SIMDs.  ``raw``: in a pipe all
    rows.
    """

    table: str
    what: str
    columns: Mapping[str, Column]
    full: bool = True
    window_of: str = ""
    fold: tuple[str, ...] = ()
    raw: bool = False


@dataclass(frozen=True)
class Report:
    """``rows`` is what --csv writes; ``tables`` are further keys of the JSON result.

    ``facts``: keys of the JSON result before its notes; ``shown``: tables that only people
    see.
    """

    analysis: Analysis
    rows: pd.DataFrame
    notes: Sequence[str] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)

    def payload(self) -> dict[str, Any]:
        """The capture's entry of the JSON result."""
        result = header(self.analysis) | self.facts
        result["notes"] = self.all_notes
        result["rows"] = records(self.rows)
        for name, table in self.tables.items():
            result[name] = records(table) if hasattr(table, "to_dict") else table
        return result

    @property
    def capture(self) -> str:
        return self.analysis.timeline.capture

    @property
    def all_notes(self) -> list[str]:
        """Those of the timeline, then those of the analysis."""
        return [*self.analysis.timeline.notes, *self.notes]

    @property
    def csv(self) -> pd.DataFrame:
        """``rows`` with the name of their capture in front."""
        table = self.rows.copy()
        table.insert(0, "capture", self.capture)
        return table

    def view(self, view: View, *, per_simd: bool = False) -> Shown:
        """What people see of one table; ``per_simd``: nothing is folded."""
        everything = {"rows": self.rows, **self.tables, **self.shown}
        timeline, what = self.analysis.timeline, view.what
        table, columns = everything[view.table], view.columns
        if view.window_of:
            what += f", {window_label(everything[view.window_of])}"
            if "window" in table.columns and table["window"].nunique() > 1:
                columns = {"window": Column("window", left=True), **columns}
        if view.fold and not per_simd and len(table):
            table, columns = folded(table, columns, view.fold)
        heading = f"{timeline.capture}{origin(timeline)}: {what}"
        if view.full:
            heading = title(timeline, what)
        return Shown(table, heading, columns, raw=view.raw)


def emit(
    sink: Sink,
    schema: str,
    reports: Sequence[Report],
    views: Sequence[View],
    csv: CsvWriter = write_csv,
) -> None:
    """Write ``reports`` in the formats asked for; people see why a capture has no table."""
    if "json" in sink.forms:
        sink.json(results(schema, [report.payload() for report in reports]))
    if "csv" in sink.forms:
        sink.csv([report.csv for report in reports], csv)
    if "text" in sink.forms:
        sink.tables(
            [table for report in reports for table in _tables(report, views, sink.per_simd)]
        )
    emit_notes(sink, reports)


def _tables(report: Report, views: Sequence[View], per_simd: bool) -> list[Shown]:
    """The tables that have rows; the first one, empty, where none has."""
    shown = [report.view(view, per_simd=per_simd) for view in views]
    return [each for each in shown if len(each.table)] or shown[:1]


def emit_notes(sink: Sink, reports: Sequence[Noted]) -> None:
    """All notes on stderr, which JSON has itself; with several captures each names its own."""
    for report in reports if sink.forms != ("json",) else ():
        for note in report.all_notes:
            named = f"{report.capture}: {note}"
            sink.note(note if len(reports) == 1 else named)
