"""``tracekit occupancy``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import (
    Column,
    Output,
    header,
    number,
    origin,
    output_options,
    percent,
    records,
)

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
    from tracekit.analysis.model.window import check
    from tracekit.analysis.occupancy import occupancy

    check(window)
    results = []
    for timeline in source.timelines():
        result = occupancy(timeline, window)
        results.append((timeline, result))
    if output.format == "json":
        payloads = [
            {
                **header("tracekit.occupancy/1", timeline),
                "notes": timeline.notes + result.notes,
                "rows": records(result.rows),
                "totals": records(result.totals),
            }
            for timeline, result in results
        ]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
    elif output.format == "csv":
        output.csv([result.rows for _, result in results])
    else:
        for timeline, result in results:
            _show(output, timeline, result)
    if output.format != "json":
        for timeline, result in results:
            for note in timeline.notes + result.notes:
                output.note(note if len(results) == 1 else f"{timeline.capture}: {note}")
    if fail_under is None:
        return 0
    return _gate([result.rows for _, result in results], fail_under)


def _show(output: Output, timeline: Any, result: Any) -> None:
    rows = result.rows.copy()
    if not len(rows):
        return
    cycles = rows["window_cycles"]
    for name, column in (("overlap", "overlap_cycles"), ("neither", "neither_cycles"),
                         ("coissued", "coissued_cycles"),
                         ("issue_window", "issue_window_cycles")):  # fmt: skip
        rows[name] = rows[column] / cycles
    windows = ", ".join(dict.fromkeys(rows["window"]))
    title = (
        f"{timeline.capture}{origin(timeline)}: pipe occupancy, window {windows}, "
        f"{timeline.shown_timing} timing, {timeline.arch}"
    )
    output.table(rows, title, _VIEW)


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
