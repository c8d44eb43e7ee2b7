"""``tracekit bubbles``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, address, number, percent
from tracekit.present.report import Report, View, emit

if TYPE_CHECKING:
    import pandas as pd

_CAUSES = {
    "se": Column("SE"),
    "simd": Column("SIMD"),
    "dispatch": Column("dispatch"),
    "cause": Column("cause", left=True),
    "cycles": Column("cycles", number),
    "share": Column("of window", percent),
}
_SITES = {
    "cause": Column("cause", left=True),
    "bubbles": Column("bubbles", number),
    "cycles": Column("cycles", number),
    "mean_cycles": Column("mean", number),
    "share": Column("of window", percent),
    "before_vaddr": Column("after PC", address),
    "before_line": Column("line"),
    "after_vaddr": Column("before PC", address),
    "after_line": Column("line"),
    "after": Column("next MFMA", left=True),
}
#: Places of bubbles that the text shows.
SITES = 10


@click.command("bubbles")
@source_options
@window_option()
@click.option("--minimum", type=click.IntRange(min=1), default=16, show_default=True,
              metavar="CYCLES", help="Shortest idle interval that is a bubble.")  # fmt: skip
@click.option("--map", "with_map", is_flag=True, help="Add the bubble maps to the JSON result.")
@output_options
def command(source: Source, window: str, minimum: int, with_map: bool, output: Output) -> None:
    """Why the matrix pipe is idle: every idle cycle has exactly one cause.

    The first that holds, in this order: data_lost: tokens are missing. no_wave: no wave on
    the SIMD. prologue_epilogue: all waves are outside of their loop. mfma_dependency: an
    MFMA is refused though the pipe is free. valu_not_overlapped: vector work runs, and no
    MFMA beside it. packed_f32_blocked: a packed F32 waits because an MFMA just ended.
    valu_blocked_by_matrix: a VALU waits for an MFMA's operand reads. lds_backpressure,
    vmem_backpressure: such an instruction is refused or issues. scalar_or_branch: scalar
    work and branches. fetch_or_arbitration: no attempt to issue. nop_hazard: s_nop.
    lgkmcnt_wait, vmcnt_wait: s_waitcnt. barrier: all waves at s_barrier.

    bubble: an idle interval of --minimum cycles or more, named by its largest cause;
    short_gaps: the shorter ones. after PC, before PC: the MFMAs around it.
    """

    reports = []
    for analysis in source.analyses(window):
        result = analysis.bubbles_from(minimum)
        tables = {"totals": result.totals, "sites": result.sites}
        if with_map:
            tables |= {"by_offset": analysis.by_offset, "by_time": analysis.by_time}
        shown = {"causes": _long(result.totals), "largest": result.sites.head(SITES)}
        reports.append(Report(analysis, result.rows, result.notes, tables, shown=shown))
    views = [
        View("causes", "why the matrix pipe is idle", _CAUSES, window_of="rows"),
        View("largest", f"bubbles by place, largest {SITES}", _SITES),
    ]
    emit(output, "tracekit.bubbles/1", reports, views)


def _long(totals: pd.DataFrame) -> pd.DataFrame:
    """One row per SIMD and cause that occurs."""
    import pandas as pd

    from tracekit.analysis.causes import CAUSES

    rows = [
        {**row, "cause": cause, "cycles": row[f"{cause}_cycles"],
         "share": row[f"{cause}_cycles"] / row["window_cycles"]}
        for row in totals.to_dict("records")
        for cause in CAUSES
        if row[f"{cause}_cycles"]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*_CAUSES, "cu"])
