"""Which part of the GPU a capture shows: engines, CU, SIMDs, waves, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracekit.analysis.checks.findings import QUESTIONS, Finding, Question, ranges
from tracekit.analysis.checks.traced import traced_waves
from tracekit.tables.timeline import Timeline

#: From this share of missing wave files on, the neighbours of most waves are not there.
MOST_MISSING = 0.5
#: Share of rows that cannot be true from which the others are not believed either.
MOST_IMPLAUSIBLE = 0.01

_TARGET = "--att-target-cu"
_MASK = "--att-shader-engine-mask"


def no_waves(timeline: Timeline) -> Iterator[Finding]:
    """No instruction at all; the missing wave files are ``missing_files``'s to report."""
    if len(timeline.executed) or timeline.missing_waves or timeline.damaged_waves:
        return
    targets = sorted({cu for cu in timeline.streams["target_cu"].tolist() if cu >= 0})
    busy = sorted(set(timeline.occupancy["cu"].tolist()))
    traced = f"the traced CU ({ranges(targets)})" if targets else "a traced CU"
    elsewhere = f"; waves ran on CU {ranges(busy)}" if busy else "; no wave ran at all"
    choice = f"try another CU ({_TARGET} {busy[0]})" if busy else f"try another CU ({_TARGET})"
    yield Finding(
        "no_waves", "fatal", 0, f"no wave ran on {traced}{elsewhere}",
        f"{choice}, more engines ({_MASK}) or a larger grid; name the kernel "
        "(--kernel-include-regex) and a launch that runs it (--kernel-iteration-range)",
    )  # fmt: skip


def missing_files(timeline: Timeline) -> Iterator[Finding]:
    """Wave files that a decoded directory names and does not hold, or not whole."""
    listed = timeline.listed_waves
    counts = {"missing": timeline.missing_waves, "damaged": timeline.damaged_waves}
    missing = sum(counts.values())
    if not missing:
        return
    share = missing / listed
    states = " or ".join(state for state, count in counts.items() if count)
    if missing == listed:
        what = "per-line counts of code.json hold, nothing about waves or pipes does"
    else:
        what = "a SIMD may have run waves that are not here, so its pipes were busier than shown"
    yield Finding(
        "missing_wave_files", "fatal" if share >= MOST_MISSING else "warning", share,
        f"{missing} of {listed} wave files are {states}: {what}",
        "copy the whole ui_output directory, or open the .att streams",
        blocks=_kept(share),
    )  # fmt: skip


def _kept(share: float) -> tuple[Question, ...]:
    """Questions that a ``share`` of missing wave files closes: a wave that is there is whole,
    the pipes of its SIMD are shared with those that are not."""
    if share < MOST_MISSING:
        return ()
    return QUESTIONS if share >= 1 else ("matrix", "vector")


def left_out(timeline: Timeline) -> Iterator[Finding]:
    """Streams that should be here and could not be read: as wave files that are missing."""
    names = timeline.streams_left_out
    if not names:
        return
    total = len(names) + len(timeline.streams)
    share = len(names) / total
    first = ", ".join(names[:3]) + (", ..." if names[3:] else "")
    yield Finding(
        "streams_left_out", "fatal" if share >= MOST_MISSING else "warning", share,
        f"{len(names)} of {total} streams could not be read and were left out ({first}): what "
        "ran on their SEs is unknown",
        "copy the streams again, in binary mode; the notes say what each file is",
    )  # fmt: skip


def lacking(timeline: Timeline) -> Iterator[Finding]:
    """Files of a decoded directory without which waves or engines may be unknown."""
    names = timeline.lacking_files
    if names:
        yield Finding(
            "lacking_files", "warning", len(names),
            f"{', '.join(names)}: damaged or not there, so that waves and engines may be missing "
            "without a word",
            "copy the whole ui_output directory, or open the .att streams",
        )  # fmt: skip


def implausible(timeline: Timeline) -> Iterator[Finding]:
    """Rows of decoded JSON that cannot be true."""
    count = timeline.implausible_rows
    if count:
        total = count + len(timeline.executed)
        yield Finding(
            "implausible_rows", "fatal" if count > MOST_IMPLAUSIBLE * total else "warning", count,
            f"{count} rows cannot be true (order, stall or time) and were left out: the files "
            "are damaged",
            "copy the ui_output directory again, or open the .att streams",
        )  # fmt: skip


def engines(timeline: Timeline) -> Iterator[Finding]:
    """Shader engines that were traced and have no instruction."""
    per_engine = timeline.streams.groupby("se")["instructions"].sum()
    having = per_engine.index[per_engine > 0].tolist()
    if not having or len(having) == len(per_engine):
        return
    empty = sorted(set(per_engine.index.tolist()) - set(having))
    cus = timeline.occupancy["cu"].to_numpy()[timeline.occupancy["se"].isin(empty).to_numpy()]
    where = f"; waves of the others ran on CU {ranges(cus.tolist())}" if len(cus) else ""
    if timeline.damaged_waves:
        where += "; wave files of the others may be among the damaged"
    yield Finding(
        "engines_without_instructions", "warning", len(empty),
        f"{len(having)} of {len(per_engine)} SEs have instructions (SE {ranges(having)}){where}",
        f"numbers hold for these SEs; for others set {_TARGET} to a CU on which their waves "
        f"ran, or leave them out of {_MASK}",
    )  # fmt: skip


def sampled(timeline: Timeline) -> Iterator[Finding]:
    """Which SE, CU and SIMDs of how many, and which share of all waves."""
    waves, occupancy = traced_waves(timeline), timeline.occupancy
    if not len(waves):
        return
    places = waves[["se", "cu"]].drop_duplicates().sort_values(["se", "cu"]).to_numpy().tolist()
    shown = ", ".join(f"SE {se} CU {cu if cu >= 0 else 'unknown'}" for se, cu in places[:4])
    more = f" and {len(places) - 4} more" if len(places) > 4 else ""
    started = int(occupancy["start"].sum())
    share = min(len(waves) / started, 1.0) if started else None
    of_all = f"{len(waves)} of {started} waves" if started else f"{len(waves)} waves"
    cus = occupancy[["se", "cu"]].drop_duplicates()
    of_cus = f", on {len(places)} of {len(cus)} CUs that ran waves" if len(cus) else ""
    yield Finding(
        "sampling", "info", share,
        f"{of_all} traced: {shown}{more}, SIMD {ranges(waves['simd'].tolist())}{of_cus}",
        f"{_MASK}, {_TARGET} and --att-simd-select choose others",
    )  # fmt: skip


def simulated(timeline: Timeline) -> Iterator[Finding]:
    """Not from a GPU."""
    if timeline.simulated or timeline.synthetic:
        kind = "synthetic" if timeline.synthetic else "simulated"
        yield Finding("simulated", "info", None, f"a {kind} trace: no GPU ran this")


def zero_counters(timeline: Timeline) -> Iterator[Finding]:
    """SQ counters that were asked for and count nothing, as some gfx950 drivers give them."""
    table = timeline.counters
    if len(table) and not table[["c0", "c1", "c2", "c3"]].to_numpy().any():
        yield Finding(
            "zero_counters", "warning", 0,
            f"all {len(table)} samples of the SQ counters are 0",
            "a newer driver and firmware; check the names (--att-perfcounters) and the rate "
            "(--att-perfcounter-ctrl)",
        )  # fmt: skip
    elif timeline.counter_names and not len(table):
        yield Finding(
            "no_counter_samples", "warning", 0,
            f"{len(timeline.counter_names)} SQ counters are named and none was sampled",
            "a shorter interval (--att-perfcounter-ctrl)",
        )  # fmt: skip


CHECKS: tuple[Callable[[Timeline], Iterator[Finding]], ...] = (
    no_waves, missing_files, left_out, lacking, implausible, engines, sampled, zero_counters,
    simulated,
)  # fmt: skip
