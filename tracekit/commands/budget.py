"""``tracekit budget``."""

from __future__ import annotations

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, mean, number, percent, word
from tracekit.present.report import Report, View, emit

_ROWS = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "slot": Column("slot"),
    "iterations": Column("iterations", number),
    "cycles": Column("cycles", mean),
    **{
        f"{name}_cycles": Column(name.replace("_", " "), mean)
        for name in ("matrix", "vector", "full_rate", "packed", "transcendental", "conversion",
                     "cross_lane", "lds", "lds_data", "vmem", "scalar", "nop")
    },
}  # fmt: skip
_SIMDS = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "waves": Column("waves"),
    "limit": Column("limit", word),
    "best_1": Column("best, 1 wave", percent),
    "best_2": Column("2 waves", percent),
    "best_4": Column("4 waves", percent),
    "achieved": Column("achieved", percent),
    "vector_share": Column("idle: vector", percent),
    "latency_share": Column("latency", percent),
    "barrier_share": Column("barrier", percent),
    "verdict": Column("verdict", word, left=True),
}
_OPCODES = {
    "pipe": Column("pipe", left=True),
    "class": Column("class", left=True),
    "opcode": Column("opcode", left=True),
    "count": Column("per iteration", mean),
    "cycles_each": Column("cycles each", mean),
    "cycles": Column("cycles", mean),
}


def rates_of(options: tuple[str, ...]) -> dict[str, int]:
    """``OPCODE=CYCLES`` options."""
    found: dict[str, int] = {}
    for option in options:
        name, _, cycles = option.partition("=")
        if not name or not cycles.isdigit():
            raise click.BadParameter(
                f"expected OPCODE=CYCLES, found {option!r}", param_hint="--rate"
            )
        found[name] = int(cycles)
    return found


@click.command("budget")
@source_options
@window_option()
@click.option("--rate", multiple=True, metavar="OPCODE=CYCLES",
              help="Cycles of a vector or matrix opcode, instead of the table's.")  # fmt: skip
@click.option("--opcodes", "each", is_flag=True,
              help="Also what each opcode costs an iteration.")  # fmt: skip
@output_options
def command(source: Source, window: str, rate: tuple[str, ...], each: bool, output: Output) -> None:
    """What an iteration of the dominant loop costs each pipe, and what bounds it.

    matrix ... nop: cycles that one iteration of one wave keeps a pipe or port, by the cost
    tables; mean over its iterations (lds_data: of the CU's LDS). vector: all VALU classes.
    limit: the pipe that decides the shortest possible time with the waves that are there
    (packed: matrix plus packed F32, which never run together; vector: VALU plus what MFMAs
    block; lds_data: the LDS of the CU, shared by four SIMDs; wave: one wave's issues).
    best: matrix occupancy in that time with 1, 2 and 4 waves per SIMD. achieved: matrix
    occupancy in the window. idle: shares of the window by kind of cause. verdict: at 90 % of
    the best or more the limit (matrix_bound, vector_bound), else the largest kind of idle
    cause (vector_bound, latency_bound, barrier_bound).
    """

    rates = rates_of(rate)
    reports = []
    for analysis in source.analyses(window):
        result = analysis.budget_at(rates)
        tables = {"simds": result.simds}
        if each:
            tables["opcodes"] = analysis.opcodes(rates)
        reports.append(Report(analysis, result.rows, result.notes, tables))
    views = [
        View("rows", "cycles of one iteration and wave", _ROWS),
        View("simds", "what bounds it", _SIMDS, window_of="simds"),
    ]
    if each:
        views.append(View("opcodes", "opcodes of one iteration, mean of all waves", _OPCODES))
    emit(output, "tracekit.budget/1", reports, views)
