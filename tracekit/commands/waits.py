"""``tracekit waits``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.digests import Served, from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present import views
from tracekit.present.cells import Column
from tracekit.present.report import Report, View, emit

_SIMD = {"se": Column("SE", rank=0), "simd": Column("SIMD", rank=0)}


@click.command("waits", cls=Grouped)
@source_options
@window_option("span")
@click.option("--loads", "with_loads", is_flag=True, help="Also by memory instruction.")
@per_simd_option
@output_options
@from_digests(Served(variants=("with_loads",)))
def command(source: Source, window: str, with_loads: bool, output: Output) -> None:
    """Which memory operation each s_waitcnt waits for, and how early that was issued.

    waited: cycles from the wait's start to its end, 4 of them its own issue; median and
    total. for: the youngest operation that the wait needs. lead: cycles from that one's issue
    to the wait's start. latency: lead + waited - 4, known only where something was waited.
    hidden: lead, as share of lead + waited - 4. MFMA: the first that the loaded data leads
    to. Executions that need nothing are not in the medians; "exact" in the JSON result counts
    those with a known latency, "both" those that needed the other counter too. --loads: from
    issue to the first wait that needs it.
    """
    reports, per_simd = [], output.per_simd
    for analysis in source.analyses(window):
        found = analysis.waits_of(per_simd=per_simd)
        tables: dict[str, Any] = {"apart": found.apart, "single_producer_share": found.single}
        shown = {"largest": found.rows}
        if with_loads:
            tables["loads"] = analysis.loads_of(per_simd=per_simd)
            shown["loads"] = tables["loads"]
        reports.append(Report(analysis, found.rows, _notes(found), tables, shown=shown))
    place = _SIMD if per_simd else {}
    shown_views = [View("largest", f"waits, window {window}", place | views.WAITS)]
    if with_loads:
        shown_views.append(
            View("loads", f"memory instructions, window {window}", place | views.LOADS)
        )
    emit(output, "tracekit.waits/1", reports, shown_views)


def _notes(found: Any) -> list[str]:
    """How much of the waits the rows tell."""
    if not len(found.apart):
        return ["no s_waitcnt was executed in the window"]
    executed = int(found.apart["executions"].sum())
    nothing, unknown = (int(found.apart[name].sum()) for name in ("no_producer", "unknown"))
    notes = [f"{nothing:,} of {executed:,} waits needed nothing and are in no median"]
    if found.single is not None:
        notes.append(f"{100 * found.single:.1f} % of the others need exactly one operation")
    if unknown:
        notes.append(
            f"{unknown:,} waits have an unknown producer (FLAT or scalar loads return out of order)"
        )
    return notes
