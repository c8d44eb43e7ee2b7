"""``tracekit occupancy``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, bad_quality_option, output_options, per_simd_option
from tracekit.commands.streams import tell
from tracekit.present import views
from tracekit.present.cells import is_missing
from tracekit.present.report import Report, View, emit


@click.command("occupancy", cls=Grouped)
@source_options
@window_option()
@click.option(
    "--fail-under", type=float, metavar="PERCENT",
    help="Exit with 3 when the lowest matrix occupancy is below PERCENT, or there is no row.",
)  # fmt: skip
@bad_quality_option
@per_simd_option
@output_options
def command(
    source: Source, window: str, fail_under: float | None, allow_bad_quality: bool, output: Output
) -> int:
    """How busy the matrix pipe and the vector pipe of each SIMD are.

    matrix, vector: cycles in which the pipe executes, as share of the window (an MFMA
    holds the pipe for its table cycles from its issue on). both, neither: cycles in which
    both or no pipe executes. co-issued: two VALU instructions at once. MFMA issue: the
    issue windows that other tools report. violations: MFMAs closer together than the
    table allows (0 on a sound trace). --fail-under refuses captures that say nothing about
    the matrix pipe (see check).
    """
    reports = []
    for analysis in source.analyses(window):
        result = analysis.occupancy
        tables = {"totals": result.totals}
        shown = {"shares": views.shares(result.rows)}
        reports.append(Report(analysis, result.rows, result.notes, tables, shown=shown))
    view = View("shares", "pipe occupancy", views.OCCUPANCY, window_of="rows", fold=views.SIMDS)
    emit(output, "tracekit.occupancy/2", reports, [view])
    if fail_under is None:
        return 0
    refused = "" if allow_bad_quality else _refusal(reports)
    return _failed(refused or _below([report.rows for report in reports], fail_under))


def _refusal(reports: list[Report]) -> str:
    """Why --fail-under may not decide; "" where it may."""
    for report in reports:
        reason = report.analysis.quality.refusal(("matrix",))
        if reason:
            return (
                f"--fail-under: refused: {report.analysis.timeline.capture}: {reason} "
                "(--allow-bad-quality)"
            )
    return ""


def _below(tables: list[Any], fail_under: float) -> str:
    """Why the occupancies do not pass; "" where they do."""
    values = [value for table in tables for value in table["matrix_occupancy"].tolist()]
    known = [100 * value for value in values if not is_missing(value)]
    if not known or len(known) < len(values):
        return "--fail-under: no matrix occupancy to compare"
    if min(known) < fail_under:
        return f"matrix occupancy {min(known):.1f} % is below {fail_under:g} %"
    return ""


def _failed(reason: str) -> int:
    """Exit code of the gate; ``reason`` is "" where it passes."""
    if reason:
        tell(f"{reason}")
    return 3 if reason else 0
