"""``tracekit loops``."""

from __future__ import annotations

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, address, number, percent
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS

_VIEW = {
    "loop": Column("loop"),
    "dominant": Column("dominant", lambda value: "yes" if value else ""),
    "depth": Column("depth", rank=2),
    "header_vaddr": Column("header", address),
    "tail_vaddr": Column("last branch", address),
    "instructions": Column("instructions", number, rank=2),
    "waves": Column("waves", number, rank=2),
    "iterations": Column("iterations", number),
    "cycles_p10": Column("cycles p10", number),
    "cycles_p50": Column("p50", number, rank=0),
    "cycles_p90": Column("p90", number),
    "matrix_cycles": Column("matrix cycles", number),
    "share": Column("of wave time", percent),
}
#: A wave and its like on the other SIMDs.
_WAVE = (*SIMDS, "slot", "wave")
_PHASES = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "iterations": Column("iterations", number),
    "prologue_cycles": Column("prologue", number),
    "loop_cycles": Column("loop", number),
    "epilogue_cycles": Column("epilogue", number),
}


@click.command("loops", cls=Grouped)
@source_options
@per_simd_option
@output_options
@from_digests()
def command(source: Source, output: Output) -> None:
    """The loops that the waves ran, and how long an iteration takes.

    loop: a taken branch back to an earlier instruction, its header; branches to one header
    are one loop. iteration: from one issue of the header to the next. cycles: 10th, 50th
    and 90th percentile over the iterations of all waves. depth: 1 is outermost. matrix
    cycles: issued in the loop itself, without loops inside it. dominant: the loop with most
    of them, which the window steady is about. prologue, epilogue: cycles of a wave before
    its first and after its last iteration of it.
    """
    reports = []
    for analysis in source.analyses():
        found = analysis.loops
        reports.append(Report(analysis, found.rows, found.notes, {"phases": found.phases}))
    views = [
        View("rows", "loops", _VIEW),
        View(
            "phases", "waves of the dominant loop, cycles", _PHASES, fold=(*SIMDS, "slot", "wave")
        ),
    ]
    emit(output, "tracekit.loops/2", reports, views)
