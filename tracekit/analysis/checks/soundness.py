"""Whether what was decoded agrees with itself: program counters, model, chip."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tracekit.analysis.checks.findings import Finding, percent
from tracekit.analysis.model.simds import AMD_SHIFT
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Pipe
from tracekit.sqtt.raw import WaveFlag
from tracekit.tables.described import issues
from tracekit.tables.timeline import Timeline

#: Below this share of instructions with a program counter the rest is guesswork.
STITCHED = 0.9
#: Share of MFMAs closer together than the pipe allows that says: wrong chip or listing.
VIOLATIONS = 0.01


def listing(timeline: Timeline) -> Iterator[Finding]:
    """Instructions without a program counter, and waves that had to be searched for."""
    total = len(timeline.executed)
    if not total:
        return
    if not len(timeline.listing):
        yield Finding(
            "no_listing", "warning", None,
            "no listing: counts and vector pipe are from token types, matrix cycles are unknown",
            "--listing code.json or a code object (rocprofv3 writes *_code_object_id_*.out)",
            blocks=() if timeline.costs.assumed_mfma else ("matrix",),
        )  # fmt: skip
        return
    stitched = int((timeline.executed["row"].to_numpy() >= 0).sum())
    if stitched < total:
        yield Finding(
            "stitched", "fatal" if stitched < STITCHED * total else "warning", stitched / total,
            f"{percent(stitched, total)} of the instructions have a program counter",
            "the code object that ran (--listing ID=PATH) where it was loaded (--load-base)",
        )  # fmt: skip
    searched = int(timeline.streams["resynchronised"].sum())
    if searched:
        flags = timeline.waves["flags"].to_numpy()
        odd = WaveFlag.NO_START | WaveFlag.PACKETS_LOST | WaveFlag.LOST_END
        expected = searched <= int((flags & odd != 0).sum())
        yield Finding(
            "resynchronised", "info" if expected else "warning", searched,
            f"the place of waves in the listing had to be searched {searched} times",
            "check that the listing is of the code that ran, and --load-base",
        )  # fmt: skip


def model(timeline: Timeline) -> Iterator[Finding]:
    """MFMAs of one SIMD that are closer together than its matrix pipe allows."""
    table, source = timeline.executed, timeline.listing
    row = table["row"].to_numpy()
    costs = timeline.costs
    costly = (costs.pipe == Pipe.MATRIX) & (costs.cycles >= 0)
    at = np.flatnonzero(np.append(costly, False)[row])
    if not len(at):
        return
    picked = {n: table[n].to_numpy()[at] for n in ("se", "dispatch", "simd", "category")}
    time, stall, duration = (table[n].to_numpy()[at] for n in ("time", "stall", "duration"))
    issue = issues(picked["category"], time, stall, duration)
    order = np.lexsort((issue, picked["simd"], picked["dispatch"], picked["se"]))
    issue, row = issue[order], row[at][order]
    same = np.ones(len(at) - 1, bool)
    for name in ("se", "dispatch", "simd"):
        values = picked[name][order]
        same &= values[1:] == values[:-1]
    scaled = source.expect == Expect.MFMA_SCALE
    allowed = np.where(scaled[row[1:]] & (timeline.shown_timing == "amd"), -AMD_SHIFT, 0)
    short = np.diff(issue) - costs.cycles.astype(np.int64)[row[:-1]]
    count = int((same & (short < allowed)).sum())
    # AMD's rows of any instruction may lie one tick off; more is no matter of rounding.
    tolerated = -AMD_SHIFT if timeline.shown_timing == "amd" else 0
    deep = int((same & (short < tolerated)).sum())
    wording = f", {deep} of them by more than AMD's rows may be off" if tolerated else ""
    if count:
        yield Finding(
            "model_violations", "fatal" if deep > VIOLATIONS * len(at) else "warning", count,
            f"{count} of {len(at)} MFMAs issue while the one before holds the pipe by the table "
            f"of {timeline.arch.name}{wording}",
            "check --arch and --listing; the .att streams have exact times",
            blocks=("matrix", "vector") if deep > VIOLATIONS * len(at) else (),
        )  # fmt: skip


def costs(timeline: Timeline) -> Iterator[Finding]:
    """MFMAs that ran and that no cost table has."""
    row = timeline.executed["row"].to_numpy()
    unknown = (timeline.costs.pipe == Pipe.MATRIX) & (timeline.costs.cycles < 0)
    count = int(unknown[row[row >= 0]].sum())
    if count:
        yield Finding(
            "unknown_mfma_cost", "warning", count,
            f"{count} MFMAs have opcodes whose cycles on {timeline.arch.name} are unknown",
            "check --arch; --assume-mfma-cycles gives a number for them",
            blocks=("matrix",),
        )  # fmt: skip


def chip(timeline: Timeline) -> Iterator[Finding]:
    """An architecture that was assumed."""
    if timeline.arch.assumed:
        yield Finding(
            "arch_assumed", "warning", None,
            f"nothing in the capture tells the chip; {timeline.arch.name} is assumed",
            "--arch GFX, or keep *_agent_info.csv and the code objects beside the trace",
        )  # fmt: skip


CHECKS: tuple[Callable[[Timeline], Iterator[Finding]], ...] = (
    listing, model, costs, chip,
)  # fmt: skip
