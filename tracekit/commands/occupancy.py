"""``tracekit occupancy``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, number, percent
from tracekit.present.report import Report, View, emit

if TYPE_CHECKING:
    import pandas as pd

_VIEW = {
    "se": Column("SE"),
    "cu": Column("CU"),
    "simd": Column("SIMD"),
    "dispatch": Column("dispatch"),
    "waves": Column("waves"),
    "window_cycles": Column("window cycles", number),
    "mfma": Column("MFMA", number),
    "matrix_occupancy": Column("matrix", percent),
    "vector_occupancy": Column("vector", percent),
    "overlap": Column("both", percent),
    "neither": Column("neither", percent),
    "coissued": Column("co-issued", percent),
    "issue_window": Column("MFMA issue", percent),
    "violations": Column("violations", number),
}


@click.command("occupancy")
@source_options
@window_option()
@click.option(
    "--fail-under", type=float, metavar="PERCENT",
    help="Exit with 3 when the lowest matrix occupancy is below PERCENT, or there is no row.",
)  # fmt: skip
@output_options
def command(source: Source, window: str, fail_under: float | None, output: Output) -> int:
    """How busy the matrix pipe and the vector pipe of each SIMD are.

    matrix, vector: cycles in which the pipe executes, as share of the window (an MFMA
    holds the pipe for its table cycles from its issue on). both, neither: cycles in which
    both or no pipe executes. co-issued: two VALU instructions at once. MFMA issue: the
    issue windows that other tools report. violations: MFMAs closer together than the
    table allows (0 on a sound trace).
    """
    reports = []
    for analysis in source.analyses(window):
        result = analysis.occupancy
        tables = {"totals": result.totals}
        shown = {"shares": _shares(result.rows)}
        reports.append(Report(analysis, result.rows, result.notes, tables, shown=shown))
    view = View("shares", "pipe occupancy", _VIEW, window_of="rows")
    emit(output, "tracekit.occupancy/1", reports, [view])
    return 0 if fail_under is None else _gate([report.rows for report in reports], fail_under)


def _shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Columns of cycles as shares of the window too."""
    shares = {
        name: rows[column] / rows["window_cycles"]
        for name, column in (
            ("overlap", "overlap_cycles"), ("neither", "neither_cycles"),
            ("coissued", "coissued_cycles"), ("issue_window", "issue_window_cycles"),
        )
    }  # fmt: skip
    return rows.assign(**shares)


def _gate(tables: list[Any], fail_under: float) -> int:
    """Exit code of --fail-under."""
    values = [value for table in tables for value in table["matrix_occupancy"].tolist()]
    known = [100 * value for value in values if value is not None and value == value]
    if not known or len(known) < len(values):
        click.echo("tracekit: --fail-under: no matrix occupancy to compare", err=True)
        return 3
    if min(known) < fail_under:
        click.echo(
            f"tracekit: matrix occupancy {min(known):.1f} % is below {fail_under:g} %", err=True
        )
        return 3
    return 0
