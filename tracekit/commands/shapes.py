"""``tracekit shapes``."""

from __future__ import annotations

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, number, percent
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS

_VIEW = {
    "dispatch": Column("dispatch"),
    "opcode": Column("opcode", left=True, rank=0),
    "executed": Column("executed", number),
    "cycles": Column("cycles", number),
    "busy_share": Column("pipe busy", percent),
    "peak_share": Column("of peak FLOP/s", percent),
    "flag": Column("", left=True),
}
_WAITS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "waves": Column("waves"),
    "wave_cycles": Column("wave cycles", number),
    "nop_cycles": Column("s_nop", number),
    "lgkmcnt_wait_cycles": Column("lgkmcnt", number),
    "vmcnt_wait_cycles": Column("vmcnt", number),
    "barrier_cycles": Column("barrier", number),
    "refused_cycles": Column("MFMA, VALU refused", number),
    "gap_cycles": Column("gaps", number),
    "rest_cycles": Column("rest", number),
}


@click.command("shapes", cls=Grouped)
@source_options
@window_option()
@per_simd_option
@output_options
@from_digests()
def command(source: Source, window: str, output: Output) -> None:
    """The MFMA opcodes that ran, how near to the peak they are, and hazard time.

    pipe busy: their cycles as share of the window, all SIMDs together. of peak FLOP/s: their
    operations as share of what the matrix pipes could do at the full rate of that type; half
    of pipe busy for half-rate shapes: the last column names the faster opcode. The second
    table splits the time of all waves: s_nop is hazard time that other tools count as stall;
    refused: ready, but the port or pipe is taken; gaps: no attempt to issue; rest:
    instructions that issue.
    """
    reports = []
    for analysis in source.analyses(window):
        result = analysis.shapes
        reports.append(Report(analysis, result.rows, result.notes, {"waits": result.waits}))
    views = [
        View("rows", "MFMA opcodes", _VIEW, window_of="waits"),
        View("waits", "wave cycles", _WAITS, window_of="waits", fold=SIMDS),
    ]
    emit(output, "tracekit.shapes/2", reports, views)
