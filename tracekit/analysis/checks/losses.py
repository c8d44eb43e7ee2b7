"""What a stream lost: packets, ends of waves, its own end; and when the trace held shaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracekit.analysis.checks.findings import Finding, percent
from tracekit.sqtt.raw import WaveFlag
from tracekit.tables.timeline import Timeline

#: Share of instructions in waves with lost packets from which most of a trace has holes:
#: PACKET_LOST does not say how many tokens are gone.
MOST_LOST = 0.5
#: Share of waves whose end was lost that makes lives and occupancy meaningless.
MERGED = 0.1
#: Tokens that no stream has, or that fit nothing, as share of the instructions.
WRONG_TOKENS = 0.01

_LESS = (
    "a smaller --att-shader-engine-mask, one SIMD (--att-simd-select), fewer or slower counters "
    "(--att-perfcounters, --att-perfcounter-ctrl), no s_ttracedata in hot loops"
)
_BUFFER = "a larger --att-buffer-size, a smaller --att-shader-engine-mask or --att-simd-select"


def packets(timeline: Timeline) -> Iterator[Finding]:
    """PACKET_LOST tokens."""
    lost = int(timeline.streams["packets_lost"].sum())
    if not lost:
        return
    waves = timeline.waves
    hit = waves["flags"].to_numpy() & WaveFlag.PACKETS_LOST != 0
    inside, total = int(waves["instructions"][hit].sum()), int(waves["instructions"].sum())
    share = inside / total if total else 0.0
    part = f", {percent(inside, total)} of the instructions" if total else ""
    yield Finding(
        "packets_lost", "fatal" if share > MOST_LOST else "warning", lost,
        f"packets were lost {lost} times: {int(hit.sum())} of {len(waves)} waves have holes of "
        f"unknown size{part}", _LESS,
    )  # fmt: skip


def merged(timeline: Timeline) -> Iterator[Finding]:
    """Waves whose WAVE_END is not in the stream though another wave took their slot."""
    waves = timeline.waves
    count = int((waves["flags"].to_numpy() & WaveFlag.LOST_END != 0).sum())
    if count:
        share = count / len(waves)
        yield Finding(
            "merged_waves", "fatal" if share > MERGED else "warning", count,
            f"{count} of {len(waves)} waves lost their end (another wave started in their slot): "
            "they seem to live longer, and may hold instructions of two", _LESS,
        )  # fmt: skip


def incomplete(timeline: Timeline) -> Iterator[Finding]:
    """Waves of which the trace shows a part."""
    waves = timeline.waves
    flags = waves["flags"].to_numpy()
    early = flags & WaveFlag.NO_START != 0
    late = flags & (WaveFlag.COMPLETE | WaveFlag.NO_START | WaveFlag.LOST_END) == 0
    count = int((early | late).sum())
    if count:
        yield Finding(
            "incomplete_waves", "warning", count / len(waves),
            f"{count} of {len(waves)} waves are incomplete ({int(early.sum())} without a start, "
            f"{int(late.sum())} without an end): their lives and counts are lower bounds",
            f"{_BUFFER}; trace from before the launch",
        )  # fmt: skip
    switched = int((flags & WaveFlag.CONTEXT != 0).sum())
    if switched:
        yield Finding(
            "context_switches", "warning", switched,
            f"{switched} of {len(waves)} waves were saved and restored or trapped: their lives "
            "hold time in which they did not run",
            "no debugger, no PC sampling and no second process on the GPU",
        )  # fmt: skip


def truncated(timeline: Timeline) -> Iterator[Finding]:
    """Streams that end within a token."""
    streams = timeline.streams
    count = int((streams["truncated_at"] >= 0).sum())
    if count:
        yield Finding(
            "truncated", "warning", count,
            f"{count} of {len(streams)} streams end within a token (the buffer was probably "
            "full): the rest of the kernel is missing", _BUFFER,
        )  # fmt: skip


def stalls(timeline: Timeline) -> Iterator[Finding]:
    """The trace unit could not keep up and held the shaders back."""
    count = int(timeline.streams["tt_stalls"].sum())
    if count:
        yield Finding(
            "trace_stalls", "warning", count,
            f"the trace stalled the shaders {count} times: nothing is lost, but the kernel ran "
            "slower than without it", _LESS,
        )  # fmt: skip


def wrong_tokens(timeline: Timeline) -> Iterator[Finding]:
    """Tokens that a sound stream does not have."""
    streams = timeline.streams
    total = max(int(streams["instructions"].sum()), 1)
    for name, what in (
        ("illegal_tokens", "name a wave slot that no SIMD has"),
        ("orphan_tokens", "type an instruction that was not issued"),
    ):
        count = int(streams[name].sum())
        if count:
            yield Finding(
                name, "fatal" if count > WRONG_TOKENS * total else "warning", count,
                f"{count} tokens {what}: the stream is damaged or was cut",
                "trace again; copy .att files in binary mode",
            )  # fmt: skip


CHECKS: tuple[Callable[[Timeline], Iterator[Finding]], ...] = (
    packets, merged, incomplete, truncated, stalls, wrong_tokens,
)  # fmt: skip
