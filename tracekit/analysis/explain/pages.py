"""Pages from evidence: one per kernel, most matrix cycles first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.attribution.names import CAUSES, Cause
from tracekit.analysis.attribution.tables import wave_time
from tracekit.analysis.explain.advice import advice
from tracekit.analysis.explain.charged import LISTED, causes, gaps
from tracekit.analysis.explain.evidence import Evidence, kernels
from tracekit.analysis.explain.page import (
    Advice,
    Bytes,
    Doing,
    Gains,
    Headline,
    Page,
    Resident,
    Scope,
    Tail,
)
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


NO_GAINS = Gains(None, "not replayed")


def pages(analysis: Analysis) -> list[Page]:
    """The page of every kernel of ``analysis``, most matrix cycles first, without gains."""
    return [page(each) for each in ordered(analysis)]


def ordered(analysis: Analysis) -> list[Evidence]:
    """The kernels of ``analysis``, most matrix cycles first."""
    return sorted(kernels(analysis), key=lambda each: each.idle - each.window_cycles)


def page(evidence: Evidence, gains: Gains = NO_GAINS) -> Page:
    """The page of one kernel; without advice where nothing can be concluded."""
    conclude = concludes(evidence)
    explained = causes(evidence, gains.causes) if evidence.mfmas else ()
    between = gaps(evidence) if evidence.mfmas else []
    both = None
    if len(explained) > 1:
        first, second = (Cause(CAUSES.index(cause.key)) for cause in explained[:2])
        both = evidence.chains.removable(first, second)
    limits = evidence.limits
    return Page(
        kernel=evidence.kernel,
        conclude=conclude,
        matrix_cycles=evidence.matrix_cycles,
        scope=_scope(evidence),
        headline=_headline(evidence),
        causes=explained,
        both_removable_cycles=both,
        both_removable_share=None if both is None else both / max(evidence.idle, 1),
        gaps=tuple(between[:LISTED]),
        gap_count=len(between),
        resident=tuple(Resident(*each) for each in sorted(evidence.resident.items())),
        tail=tuple(
            Tail(int(row["se"]), int(row["cus"]), int(row["tail_cycles"]),
                 float(row["tail_share"]), float(row["empty_share"]))
            for row in evidence.tail.to_dict("records")
        ),
        limiter="; ".join(dict.fromkeys(limits["limiter"])) if len(limits) else None,
        bytes=_bytes(evidence),
        wave_time=_wave_time(evidence),
        advice=ranked(
            [replace(each, gain=gains.advice.get(each.rule)) for each in advice(evidence)]
        ) if conclude and evidence.mfmas else (),
        replay=gains.replay,
        gain_note=gains.note,
        what_if=gains.what_if,
    )  # fmt: skip


def ranked(found: Sequence[Advice]) -> tuple[Advice, ...]:
    """By what a replay says that it gains: first what gains more than the replay's error, most
    first; then what no replay tells; last what gains no more."""

    def rank(each: Advice) -> tuple[int, float]:
        if each.gain is None:
            return 1, 0.0
        return (0 if each.gain.gain_low_cycles > 0 else 2), -each.gain.gain_cycles

    return tuple(sorted(found, key=rank))


def concludes(evidence: Evidence) -> bool:
    """Whether the verdict of check carries conclusions about the matrix pipe."""
    return evidence.analysis.quality.questions["matrix"] != "do not conclude"


def capture_hash(timeline: Timeline) -> str:
    """SHA-256 of the decoded waves and instructions: names and places of files do not count."""
    digest = hashlib.sha256()
    for table in (timeline.waves, timeline.executed):
        for name in sorted(table.columns):
            column = table[name].to_numpy()
            if column.dtype.kind in "iub":
                digest.update(np.ascontiguousarray(column.astype(np.int64)).tobytes())
    return digest.hexdigest()


def _scope(evidence: Evidence) -> Scope:
    simds = [one.simd for one in evidence.simds]
    cycles = [one.window.cycles for one in evidence.simds]
    waves = {int(wave) for view in evidence.views for wave in view.charges.waves}
    return Scope(
        capture_hash=capture_hash(evidence.timeline),
        dispatches=evidence.dispatches,
        ses=tuple(sorted({simd.se for simd in simds})),
        cus=tuple(sorted({simd.cu for simd in simds})),
        simds=tuple(sorted({simd.simd for simd in simds})),
        waves=len(waves),
        window=", ".join(dict.fromkeys(one.window.label for one in evidence.simds)),
        window_cycles=evidence.window_cycles,
        idle_cycles=evidence.idle,
        simd_cycles_low=min(cycles),
        simd_cycles_high=max(cycles),
        iteration_cycles=evidence.iteration,
    )


def _headline(evidence: Evidence) -> Headline:
    busy = [1 - view.idle / max(view.window.cycles, 1) for view in evidence.views]
    simds = evidence.budget
    best = {name: _mean(simds, name) for name in ("best_1", "best_2", "best")}
    return Headline(
        matrix_share=1 - evidence.idle / max(evidence.window_cycles, 1),
        matrix_low=min(busy),
        matrix_high=max(busy),
        **best,
        limit=_commonest(simds["limit"]),
        verdict=_commonest(simds["verdict"]),
    )


def _mean(table: pd.DataFrame, name: str) -> float | None:
    values = table[name].dropna()
    return float(values.mean()) if len(values) else None


def _commonest(values: Any) -> str:
    known = [str(each) for each in values if isinstance(each, str)]
    return max(sorted(set(known)), key=known.count) if known else ""


def _bytes(evidence: Evidence) -> Bytes | None:
    cus = evidence.memory
    if not len(cus):
        return None
    table = evidence.analysis.memory.iterations
    table = table[table["dispatch"].isin(evidence.dispatches)]
    each = {name: _weighted(table, name) for name in ("memory_bytes", "lds_bytes")}
    most = {name: float(cus[name].max()) for name in (
        "memory_bytes_per_cycle", "memory_share", "lds_bytes_per_cycle", "lds_share",
        "lds_busy_share")}  # fmt: skip
    chip = cus["chip_terabytes_per_second"].dropna()
    return Bytes(
        **most,
        flop_per_byte=_mean(cus, "flop_per_byte"),
        memory_bytes_iteration=each["memory_bytes"],
        lds_bytes_iteration=each["lds_bytes"],
        chip_terabytes_per_second=float(chip.max()) if len(chip) else None,
    )


def _weighted(table: pd.DataFrame, name: str) -> float | None:
    """Mean over all iterations."""
    if not len(table):
        return None
    return float(np.average(table[name], weights=table["iterations"]))


def _wave_time(evidence: Evidence) -> tuple[Doing, ...]:
    found = wave_time(evidence.analysis.charges, evidence.views)
    whole = max(sum(found.values()), 1)
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return tuple(Doing(name, cycles, cycles / whole) for name, cycles in ordered if cycles)
