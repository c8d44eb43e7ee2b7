"""``tracekit overlap``."""

from __future__ import annotations

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, number, percent, score, word
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS


def _cycles(value: float) -> str:
    return f"{value:,.0f}"


_PAIRS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "slot_a": Column("A slot"),
    "wave_a": Column("wave"),
    "slot_b": Column("B slot"),
    "wave_b": Column("wave"),
    "window_cycles": Column("cycles", number),
    "a_matrix_under_b_vector_cycles": Column("A matrix under B vector", number, rank=2),
    "b_matrix_under_a_vector_cycles": Column("B under A", number, rank=2),
    "a_shadow_filled": Column("A filled", percent),
    "b_shadow_filled": Column("B filled", percent),
    "lag": Column("lag", percent),
    "jitter_cycles": Column("jitter", _cycles, rank=2),
    "alternation": Column("alternation", score, rank=0),
    "barriers": Column("barriers", rank=2),
    "priorities": Column("priorities", word, rank=2),
    "verdict": Column("verdict", left=True, rank=0),
}
#: A pair and its like on the other SIMDs.
_PAIR = (*SIMDS, "slot_a", "wave_a", "slot_b", "wave_b")
_SIMDS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "waves": Column("waves"),
    "overlap_cycles": Column("matrix and vector", number),
    "across_cycles": Column("of two waves", number),
    "own_cycles": Column("of one wave only", number),
    "alternation": Column("alternation", score, rank=0),
    "verdict": Column("verdict", left=True, rank=0),
}


@click.command("overlap", cls=Grouped)
@source_options
@window_option()
@per_simd_option
@output_options
@from_digests()
def command(source: Source, window: str, output: Output) -> None:
    """Whether the waves of a SIMD take turns at the matrix pipe (ping-pong).

    For each pair of waves, over the cycles in which both are resident. A matrix under B
    vector: cycles in which A's MFMAs execute and B's vector work does. filled: the same as
    share of A's matrix cycles. lag: how far B's iterations begin behind A's, as share of an
    iteration; jitter: its spread in cycles. alternation: +1 if one wave never is at its
    MFMAs while the other's execute, 0 as by chance, -1 always. barriers, priorities: in
    the loop. verdict: alternating from +0.5, lock_step from -0.5, partial between,
    single_wave without a second wave that has MFMAs; too little to tell without a
    loop, below 2 matrix phases of a wave, or where their MFMAs fill less than 10 %.
    """
    reports = []
    for analysis in source.analyses(window):
        result = analysis.overlap
        reports.append(Report(analysis, result.rows, result.notes, {"simds": result.simds}))
    views = [
        View("rows", "pairs of waves", _PAIRS, window_of="simds", fold=_PAIR),
        View("simds", "overlap per SIMD", _SIMDS, window_of="simds", fold=SIMDS),
    ]
    emit(output, "tracekit.overlap/2", reports, views)
