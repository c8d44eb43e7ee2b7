"""``tracekit bubbles``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options, per_simd_option
from tracekit.present.cells import Column, address, mean, number, percent, word
from tracekit.present.report import Report, View, emit
from tracekit.present.views import SIMDS

if TYPE_CHECKING:
    import pandas as pd

_CAUSES = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "dispatch": Column("dispatch", rank=2),
    "cause": Column("cause", left=True, rank=0),
    "cycles": Column("cycles", number),
    "share": Column("of window", percent),
    "of_idle": Column("of idle", percent),
}
_PLACES = {
    "previous_mfma_vaddr": Column("previous MFMA", address),
    "next_mfma_vaddr": Column("next MFMA", address),
    "bubbles": Column("bubbles", number),
    "cycles": Column("cycles", number),
    "share": Column("of idle", percent),
    "mean_cycles": Column("mean", mean, rank=2),
    "near_ties": Column("near ties", number, rank=2),
    "split": Column("causes", left=True),
    "next_mfma_source": Column("source", word, left=True, rank=2),
}
_INSTRUCTIONS = {
    "vaddr": Column("PC", address, rank=0),
    "cause": Column("cause", left=True, rank=0),
    "cycles": Column("cycles", number),
    "share": Column("of idle", percent),
    "instruction": Column("charged instruction", left=True, rank=0, cut=True),
    "source": Column("source", word, left=True, rank=2),
}
_OTHERS = {
    "se": Column("SE", rank=0),
    "simd": Column("SIMD", rank=0),
    "none": Column("none", percent),
    "waiting": Column("waiting", percent),
    "working": Column("working", percent),
    "elsewhere": Column("charged to other SIMDs", percent),
    "runner_up_median": Column("runner-up after", number),
    "near_ties": Column("near ties", number, rank=2),
}
_WAVE_TIME = {
    "cause": Column("what waves do", left=True, rank=0),
    "cycles": Column("wave cycles", number),
    "share": Column("share", percent),
}
#: Places and instructions that the text shows.


@click.command("bubbles", cls=Grouped)
@source_options
@window_option()
@click.option("--minimum", type=click.IntRange(min=1), default=16, show_default=True,
              metavar="CYCLES", help="Shortest idle interval that is a bubble.")  # fmt: skip
@click.option("--map", "with_map", is_flag=True, help="Add the bubble maps to the JSON result.")
@per_simd_option
@output_options
@from_digests()
def command(source: Source, window: str, minimum: int, with_map: bool, output: Output) -> None:
    """Why the matrix pipe is idle: what the wave does that ends the bubble.

    Each idle cycle has one cause. vector_work: its vector work executes. vector_refused: a
    vector instruction is ready and refused (port: other vector work; packed: packed F32 after
    an MFMA; rest). lds_refused_or_issue, vmem_refused_or_issue, mfma_refused: such an
    instruction is refused or issues. vmcnt_wait, lgkmcnt_wait: s_waitcnt. nop: s_nop, s_sleep.
    scalar_waits_for_vector: scalar work waits for a vector result. scalar_or_branch.
    no_attempt: fetch, arbitration. drain: before s_endpgm. barrier: followed to the wave that
    arrives last, also on another SIMD; what no traced wave explains. matrix_elsewhere: that
    wave runs MFMAs. data_lost, no_wave, after_last_mfma.

    place: the pair of MFMAs around bubbles of --minimum cycles or more. others: what resident
    waves that do not decide did. near ties: the next wave was at most 16 cycles behind. A
    share is what the decider did, not what removing it would gain.
    """
    reports = []
    for analysis in source.analyses(window):
        result = analysis.bubbles_from(minimum)
        tables: dict[str, Any] = {
            "totals": result.totals,
            "places": result.places,
            "instructions": result.instructions,
            "others": result.others,
            "wave_time": result.wave_time,
        }
        if with_map:
            tables |= {"by_offset": analysis.by_offset, "by_time": analysis.by_time}
        shown = {
            "causes": _causes(result.totals),
            "largest": _places(result.places),
            "charged": result.instructions[result.instructions["vaddr"] >= 0],
            "meanwhile": _others(result.totals),
            "time": _wave_time(result.wave_time),
        }
        reports.append(Report(analysis, result.rows, result.notes, tables, shown=shown))
    views = [
        View(
            "causes",
            "why the matrix pipe is idle",
            _CAUSES,
            window_of="totals",
            fold=(*SIMDS, "cause"),
        ),
        View("largest", "idle cycles by place, largest first", _PLACES),
        View("charged", "instructions that idle cycles are charged to", _INSTRUCTIONS),
        View("meanwhile", "what the other resident waves did, of idle", _OTHERS, fold=SIMDS),
        View("time", "wave time where no MFMA ran", _WAVE_TIME),
    ]
    emit(output, "tracekit.bubbles/2", reports, views)


def _causes(totals: pd.DataFrame) -> pd.DataFrame:
    """One row per SIMD and cause that occurs, by the size of the cause in the SE."""
    import pandas as pd

    from tracekit.analysis.causes import CAUSES

    rows = [
        {**row, "cause": cause, "cycles": row[f"{cause}_cycles"],
         "share": row[f"{cause}_cycles"] / row["window_cycles"],
         "of_idle": row[f"{cause}_cycles"] / row["matrix_idle_cycles"]}
        for row in totals.to_dict("records")
        for cause in CAUSES
        if row[f"{cause}_cycles"]
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=[*_CAUSES, "cu", "window"])
    place = ["se", "dispatch"]
    whole = table.groupby([*place, "cause"])["cycles"].transform("sum")
    ordered = table.assign(whole=-whole).sort_values([*place, "whole", "simd"], kind="stable")
    return ordered.drop(columns="whole")


def _places(places: pd.DataFrame) -> pd.DataFrame:
    """Places with their largest causes in words."""
    from tracekit.analysis.causes import CAUSES

    texts = []
    for row in places.to_dict("records"):
        parts = sorted(((row[f"{name}_cycles"], name) for name in CAUSES), reverse=True)
        total = max(row["cycles"], 1)
        texts.append(", ".join(f"{name} {100 * c / total:.0f} %" for c, name in parts[:3] if c))
    return places.assign(split=texts)[places["place"] == "bubble"]


def _others(totals: pd.DataFrame) -> pd.DataFrame:
    """Shares of the idle cycles."""
    idle = totals["matrix_idle_cycles"].where(totals["matrix_idle_cycles"] > 0)
    shares = {name: totals[f"others_{name}_cycles"] / idle
              for name in ("none", "waiting", "working")}  # fmt: skip
    return totals.assign(**shares, elsewhere=totals["elsewhere_cycles"] / idle)


def _wave_time(cycles: dict[str, int]) -> pd.DataFrame:
    import pandas as pd

    whole = max(sum(cycles.values()), 1)
    rows = [
        {"cause": name, "cycles": value, "share": value / whole}
        for name, value in sorted(cycles.items(), key=lambda item: -item[1])
        if value
    ]
    return pd.DataFrame(rows, columns=list(_WAVE_TIME))
