"""``tracekit waits``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, address, mean, number, percent, word
from tracekit.present.report import Report, View, emit

_SIMD = {"se": Column("SE"), "simd": Column("SIMD")}
_WAITS = {
    "vaddr": Column("wait", address),
    "counter": Column("counter", left=True),
    "value": Column("n", number),
    "count": Column("count", number),
    "waited_median": Column("waited", mean),
    "waited_total": Column("total", number),
    "lead_median": Column("lead", mean),
    "latency_median": Column("latency", mean),
    "hidden": Column("hidden", percent),
    "producer_vaddr": Column("for", address),
    "producer_instruction": Column("producer", word, left=True),
    "next_mfma_vaddr": Column("MFMA", address),
    "source": Column("source", word, left=True),
}
_LOADS = {
    "vaddr": Column("PC", address),
    "counter": Column("counter", left=True),
    "count": Column("count", number),
    "waited_for": Column("waited for", number),
    "lead_min": Column("lead min", mean),
    "lead_median": Column("median", mean),
    "lead_max": Column("max", mean),
    "done_min": Column("to its wait's end, min", mean),
    "done_median": Column("median", mean),
    "done_max": Column("max", mean),
    "instruction": Column("instruction", left=True),
    "source": Column("source", word, left=True),
}
#: Rows that the text shows.
SHOWN = 20


@click.command("waits")
@source_options
@window_option("span")
@click.option("--per-simd", is_flag=True, help="A row for each SIMD, not only their sum.")
@click.option("--loads", "with_loads", is_flag=True, help="Also by memory instruction.")
@output_options
def command(source: Source, window: str, per_simd: bool, with_loads: bool, output: Output) -> None:
    """Which memory operation each s_waitcnt waits for, and how early that was issued.

    waited: cycles from the wait's start to its end, 4 of them its own issue; median and
    total. for: the youngest operation that the wait needs. lead: cycles from that one's issue
    to the wait's start. latency: lead + waited - 4, known only where something was waited.
    hidden: lead, as share of lead + waited - 4. MFMA: the first that the loaded data leads
    to. Executions that need nothing are not in the medians; "exact" in the JSON result counts
    those with a known latency, "both" those that needed the other counter too. --loads: from
    issue to the first wait that needs it.
    """
    reports = []
    for analysis in source.analyses(window):
        found = analysis.waits_of(per_simd=per_simd)
        tables: dict[str, Any] = {"apart": found.apart, "single_producer_share": found.single}
        shown = {"largest": found.rows.head(SHOWN)}
        if with_loads:
            tables["loads"] = analysis.loads_of(per_simd=per_simd)
            shown["loads"] = tables["loads"].head(SHOWN)
        reports.append(Report(analysis, found.rows, _notes(found), tables, shown=shown))
    place = _SIMD if per_simd else {}
    views = [View("largest", f"waits, window {window}", place | _WAITS)]
    if with_loads:
        views.append(View("loads", f"memory instructions, window {window}", place | _LOADS))
    emit(output, "tracekit.waits/1", reports, views)


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
