"""``tracekit occupancy``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from tracekit.analysis.checks.findings import Quality
from tracekit.commands.digests import Served, from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, bad_quality_option, output_options, per_simd_option
from tracekit.commands.streams import tell
from tracekit.present import views
from tracekit.present.cells import is_missing
from tracekit.present.report import Report, View, emit


def _gate(entries: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> int:
    """Exit code of --fail-under over the entries of the JSON result."""
    fail_under = options["fail_under"]
    if fail_under is None:
        return 0
    refused = "" if options["allow_bad_quality"] else _refusal(entries)
    reason = refused or _below([entry["rows"] for entry in entries], fail_under)
    if reason:
        tell(f"{reason}")
    return 3 if reason else 0


def _refusal(entries: Sequence[Mapping[str, Any]]) -> str:
    """Why --fail-under may not decide; "" where it may."""
    for entry in entries:
        reason = Quality.told(entry["quality"]).refusal(("matrix",))
        if reason:
            return f"--fail-under: refused: {entry['capture']}: {reason} (--allow-bad-quality)"
    return ""


def _below(tables: Sequence[Any], fail_under: float) -> str:
    """Why the occupancies do not pass; "" where they do."""
    values = [row["matrix_occupancy"] for table in tables for row in table]
    known = [100 * value for value in values if not is_missing(value)]
    if not known or len(known) < len(values):
        return "--fail-under: no matrix occupancy to compare"
    if min(known) < fail_under:
        return f"matrix occupancy {min(known):.1f} % is below {fail_under:g} %"
    return ""


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
@from_digests(Served(gate=_gate, gated=("fail_under", "allow_bad_quality")))
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
    options = {"fail_under": fail_under, "allow_bad_quality": allow_bad_quality}
    return _gate([report.payload() for report in reports], options)
