"""``tracekit loops``."""

from __future__ import annotations

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Column, Output, number, output_options, percent
from tracekit.commands.report import Report, emit


def address(value: object) -> str:
    """An ELF address in hex."""
    return "-" if int(value) < 0 else f"{int(value):#x}"  # type: ignore[call-overload]


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
    from tracekit.analysis.model.loops import loops

    reports = []
    for timeline in source.timelines():
        found = loops(timeline)
        reports.append(Report(timeline, found.rows, found.notes, {"phases": found.phases}))
    views = [("rows", "loops", _VIEW), ("phases", "waves of the dominant loop, cycles", _PHASES)]
    emit(output, "tracekit.loops/1", reports, views)
