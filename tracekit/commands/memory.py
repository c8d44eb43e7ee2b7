"""``tracekit memory``."""

from __future__ import annotations

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, address, decimal, mean, number, percent, word
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS

_RATES = {
    "memory_bytes_per_cycle": Column("memory B/clk", decimal),
    "memory_share": Column("of 64", percent),
    "lds_bytes_per_cycle": Column("LDS B/clk", decimal),
    "lds_share": Column("of 128", percent),
    "lds_busy_share": Column("LDS busy", percent),
    "flop_per_byte": Column("FLOP per byte", decimal),
}
_ROWS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "memory_bytes": Column("memory bytes", number),
    "lds_bytes": Column("LDS bytes", number),
    **_RATES,
}
_CUS = {
    "se": Column("SE", rank=0),
    "cu": Column("CU"),
    "dispatch": Column("dispatch"),
    **_RATES,
    "memory_refused_share": Column("idle: VMEM refused", percent),
    "lds_refused_share": Column("LDS refused", percent),
    "bound": Column("bound", word, left=True, rank=0),
    "chip_terabytes_per_second": Column("estimate, whole chip: TB/s", decimal),
}
_ITERATIONS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "slot": Column("slot"),
    "iterations": Column("iterations", number),
    "cycles": Column("cycles", mean),
    "memory_bytes": Column("memory bytes", mean),
    "lds_bytes": Column("LDS bytes", mean),
}
_INSTRUCTIONS = {
    "vaddr": Column("PC", address, rank=0),
    "executed": Column("executed", number),
    "memory_bytes_each": Column("memory bytes each", number),
    "lds_bytes_each": Column("LDS", number),
    "memory_bytes": Column("memory bytes", number),
    "lds_bytes": Column("LDS", number),
    "refused_cycles": Column("idle cycles", number),
    "instruction": Column("instruction", left=True, rank=0, cut=True),
    "source": Column("source", word, left=True, rank=2),
}
#: Instructions that the text shows.


@click.command("memory", cls=Grouped)
@source_options
@window_option()
@per_simd_option
@output_options
@from_digests()
def command(source: Source, window: str, output: Output) -> None:
    """How many bytes memory instructions move, per iteration and per cycle.

    Bytes are the mnemonic's times 64 lanes: an upper bound, as the active lanes are not
    traced. memory: vector memory (global, buffer, flat); a load straight to the LDS counts on
    both paths; scalar loads do not. of 64, of 128: share of what a CU's path takes a clock. LDS
    busy: service time of its LDS, which on gfx950 reads at twice 128. idle: share of the
    matrix-idle cycles in which the wave that ends the bubble is refused there, or issues.
    bound: memory_bound or lds_bound where that is the largest cause and half of the path's
    time is used. whole chip: what all CUs of the largest chip would move at the traced clock.
    """
    reports = []
    for analysis in source.analyses(window):
        found = analysis.memory
        tables = {"cus": found.cus, "iterations": found.iterations,
                  "instructions": found.instructions}  # fmt: skip
        shown = {"most": found.instructions}
        reports.append(Report(analysis, found.rows, found.notes, tables, shown=shown))
    views = [
        View(
            "iterations",
            "bytes of one iteration and wave, at most",
            _ITERATIONS,
            fold=(*SIMDS, "slot"),
        ),
        View("cus", "bytes per cycle of the CU, at most", _CUS, window_of="rows"),
        View("rows", "bytes per SIMD, at most", _ROWS, window_of="rows", fold=SIMDS),
        View("most", "memory instructions, most bytes first", _INSTRUCTIONS),
    ]
    emit(output, "tracekit.memory/1", reports, views)
