"""``tracekit loops``."""

from __future__ import annotations

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, address, number, percent
from tracekit.present.report import Report, View, emit

_VIEW = {
    "loop": Column("loop"),
    "dominant": Column("dominant", lambda value: "yes" if value else ""),
    "depth": Column("depth"),
    "header_vaddr": Column("header", address),
    "tail_vaddr": Column("last branch", address),
    "instructions": Column("instructions", number),
    "waves": Column("waves", number),
    "iterations": Column("iterations", number),
    "cycles_p10": Column("cycles p10", number),
    "cycles_p50": Column("p50", number),
    "cycles_p90": Column("p90", number),
    "matrix_cycles": Column("matrix cycles", number),
    "share": Column("of wave time", percent),
}
_PHASES = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "slot": Column("slot"),
    "wave": Column("wave"),
    "iterations": Column("iterations", number),
    "prologue_cycles": Column("prologue", number),
    "loop_cycles": Column("loop", number),
    "epilogue_cycles": Column("epilogue", number),
}


@click.command("loops")
@source_options
@output_options
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
        View("phases", "waves of the dominant loop, cycles", _PHASES),
    ]
    emit(output, "tracekit.loops/2", reports, views)
