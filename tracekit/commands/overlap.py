"""``tracekit overlap``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Column, Output, number, output_options, percent
from tracekit.commands.report import Report, emit, window_label


def _score(value: Any) -> str:
    return "-" if value is None or value != value else f"{value:+.2f}"


def _cycles(value: Any) -> str:
    return "-" if value is None or value != value else f"{value:,.0f}"


_PAIRS = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "slot_a": Column("A slot"),
    "wave_a": Column("wave"),
    "slot_b": Column("B slot"),
    "wave_b": Column("wave"),
    "window_cycles": Column("cycles", number),
    "a_matrix_under_b_vector_cycles": Column("A matrix under B vector", number),
    "b_matrix_under_a_vector_cycles": Column("B under A", number),
    "a_shadow_filled": Column("A filled", percent),
    "b_shadow_filled": Column("B filled", percent),
    "lag": Column("lag", percent),
    "jitter_cycles": Column("jitter", _cycles),
    "alternation": Column("alternation", _score),
    "barriers": Column("barriers"),
    "priorities": Column("priorities", lambda value: value or "-"),
    "verdict": Column("verdict", left=True),
}
_SIMDS = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "waves": Column("waves"),
    "overlap_cycles": Column("matrix and vector", number),
    "across_cycles": Column("of two waves", number),
    "own_cycles": Column("of one wave only", number),
    "alternation": Column("alternation", _score),
    "verdict": Column("verdict", left=True),
}


@click.command("overlap")
@source_options
@window_option()
@output_options
def command(source: Source, window: str, output: Output) -> None:
    """Whether the waves of a SIMD take turns at the matrix pipe (ping-pong).

    For each pair of waves, over the cycles in which both are resident. A matrix under B
    vector: cycles in which A's MFMAs execute and B's vector work does. filled: the same as
    share of A's matrix cycles. lag: how far B's iterations begin behind A's, as share of an
    iteration; jitter: its spread in cycles. alternation: +1 if one wave never is at its
    MFMAs while the other's execute, 0 as by chance, -1 always. barriers, priorities: in
    the loop. verdict: alternating from +0.5, lock_step from -0.5, partial between,
    single_wave without a second wave that has MFMAs.
    """
    from tracekit.analysis.model.window import check
    from tracekit.analysis.overlap import overlap

    check(window)
    reports = []
    for timeline in source.timelines():
        result = overlap(timeline, window)
        reports.append(Report(timeline, result.rows, result.notes, {"simds": result.simds}))
    label = window_label(reports[0].tables["simds"]) if reports else ""
    views = [
        ("rows", f"pairs of waves, {label}", _PAIRS),
        ("simds", f"overlap per SIMD, {label}", _SIMDS),
    ]
    emit(output, "tracekit.overlap/1", reports, views)
