"""``tracekit budget``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracekit.commands.digests import Served, from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, decimal, mean, number, percent, word
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS

if TYPE_CHECKING:
    import pandas as pd

#: Parts of another column.
_PARTS = ("full_rate", "packed", "transcendental", "conversion", "cross_lane", "lds_data")
_ROWS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "slot": Column("slot"),
    "iterations": Column("iterations", number),
    "cycles": Column("cycles", mean),
    **{
        f"{name}_cycles": Column(name.replace("_", " "), mean, rank=2 if name in _PARTS else 1)
        for name in ("matrix", "vector", "full_rate", "packed", "transcendental", "conversion",
                     "cross_lane", "lds", "lds_data", "vmem", "scalar", "nop")
    },
}  # fmt: skip
_SIMDS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "waves": Column("waves", rank=2),
    "limit": Column("limit", word),
    "best_1": Column("best, 1 wave", percent),
    "best_2": Column("2 waves", percent),
    "best_4": Column("4 waves", percent, rank=2),
    "matrix_share": Column("matrix busy", percent, rank=0),
    "vector_share": Column("idle: vector", percent),
    "latency_share": Column("latency", percent),
    "barrier_share": Column("barrier", percent),
    "outside_share": Column("outside the loop", percent),
    "resident": Column("resident waves", left=True, rank=2),
    "verdict": Column("verdict", word, left=True, rank=0),
}
_LIMITS = {
    "dispatch": Column("dispatch"),
    "waves_per_workgroup": Column("waves a workgroup"),
    "vgprs": Column("VGPRs"),
    "lds_bytes": Column("LDS bytes", number),
    "by_vgprs": Column("by VGPRs"),
    "by_lds": Column("by LDS"),
    "by_workgroup": Column("by workgroup"),
    "observed": Column("observed"),
    "limiter": Column("limiter", left=True),
}
_TAIL = {
    "se": Column("SE", rank=0),
    "dispatch": Column("dispatch"),
    "cus": Column("CUs"),
    "waves": Column("waves", number, rank=2),
    "tail_cycles": Column("cycles after the first CU was done", number),
    "tail_share": Column("of the launch", percent),
    "empty_share": Column("CU time empty", percent),
}
_MEMORY = {
    "se": Column("SE", rank=0),
    "cu": Column("CU"),
    "dispatch": Column("dispatch"),
    "memory_bytes_per_cycle": Column("memory B/clk, at most", decimal),
    "memory_share": Column("of 64", percent),
    "lds_bytes_per_cycle": Column("LDS B/clk, at most", decimal),
    "lds_share": Column("of 128", percent),
    "lds_busy_share": Column("LDS busy", percent),
    "flop_per_byte": Column("FLOP per byte", decimal),
}
_OPCODES = {
    "pipe": Column("pipe", left=True),
    "class": Column("class", left=True),
    "opcode": Column("opcode", left=True, rank=0),
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


def _resident(simds: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """ "1: 61.0 %, 2: 39.0 %" for each SIMD."""
    texts = []
    key = ["se", "simd", "dispatch"]
    groups = dict(iter(table.groupby(key)))
    for place in simds[key].itertuples(index=False, name=None):
        part = groups[place]
        pairs = zip(part["waves"], part["share"], part["cycles"], strict=True)
        texts.append(", ".join(f"{n}: {percent(share)}" for n, share, cycles in pairs if cycles))
    return texts


def _explained(simds: pd.DataFrame) -> list[str]:
    """Why limit and verdict differ, where they do."""
    apart = simds[simds["verdict"].notna()]
    apart = apart[[
        not str(verdict).startswith(str(limit))
        for verdict, limit in zip(apart["verdict"], apart["limit"], strict=True)
    ]]  # fmt: skip
    if not len(apart):
        return []
    return [
        "limit is what decides the shortest possible time; verdict is another where less than 90 % "
        "of that bound is reached: then it is the largest kind of idle time"
    ]


@click.command("budget", cls=Grouped)
@source_options
@window_option()
@click.option("--rate", multiple=True, metavar="OPCODE=CYCLES",
              help="Cycles of a vector or matrix opcode, instead of the table's.")  # fmt: skip
@click.option("--opcodes", "each", is_flag=True,
              help="Also what each opcode costs an iteration.")  # fmt: skip
@per_simd_option
@output_options
@from_digests(Served(variants=("each",)))
def command(source: Source, window: str, rate: tuple[str, ...], each: bool, output: Output) -> None:
    """What an iteration of the dominant loop costs each pipe, and what bounds it.

    matrix ... nop: cycles that one iteration of one wave keeps a pipe or port, by the cost
    tables; mean over its iterations (lds_data: of the CU's LDS). vector: all VALU classes.
    limit: the pipe that decides the shortest possible time with the waves that are there
    (packed: matrix plus packed F32, which never run together; vector: VALU plus what MFMAs
    block; lds_data: the LDS of the CU, shared by four SIMDs; wave: one wave's issues).
    best: matrix occupancy in that time with 1, 2 and 4 waves per SIMD. matrix busy, idle:
    shares of the window, by kind of cause; with outside the loop (no wave, and what waves do
    before their first and after their last MFMA) they sum to 100 %. resident waves: share of
    the window with so many. verdict: at 90 % of the best or more the limit (matrix_bound,
    vector_bound), else the largest kind of idle cause (vector_bound, latency_bound,
    barrier_bound); memory_bound or lds_bound instead of latency_bound where refusals and
    bytes agree.
    """

    from tracekit.analysis.residency import limits, tail

    rates = rates_of(rate)
    reports = []
    for analysis in source.analyses(window):
        result = analysis.budget_at(rates)
        timeline = analysis.timeline
        tables = {
            "simds": result.simds,
            "resident": analysis.residents,
            "limits": limits(timeline),
            "tail": tail(timeline),
            "memory": analysis.cus,
        }
        simds = result.simds.assign(resident=_resident(result.simds, analysis.residents))
        if each:
            tables["opcodes"] = analysis.opcodes(rates)
        notes = [*result.notes, *_explained(result.simds)]
        if len(result.simds) and not len(tables["limits"]):
            notes.append("no dispatch registers: what limits the resident waves is unknown")
        shown = {"bound": simds}
        reports.append(Report(analysis, result.rows, notes, tables, shown=shown))
    views = [
        View("rows", "cycles of one iteration and wave", _ROWS, fold=(*SIMDS, "slot")),
        View("bound", "what bounds it", _SIMDS, window_of="simds", fold=SIMDS),
        View("limits", "waves of a SIMD that fit, and what limits them", _LIMITS),
        View("memory", "bytes per cycle of the CU (see memory)", _MEMORY),
        View("tail", "the launch's end over the CUs", _TAIL),
    ]
    if each:
        views.append(View("opcodes", "opcodes of one iteration, mean of all waves", _OPCODES))
    emit(output, "tracekit.budget/2", reports, views)
