"""``--timing amd``: the rows that AMD's decoder ships (ROCm 6.4 to 7.2).

It guesses the phase of the 4-cycle tick with one counter for the whole stream and repairs
what the guess breaks by cutting records.  Re-implemented from the documented behaviour and
equal in every value on the public captures that come with AMD's output.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import (
    CATEGORY_OF_TYPE,
    INST_CONTEXT,
    INST_IMMED,
    INST_UNTYPED,
    Category,
    Inst,
    State,
)
from tracekit.sqtt.phase import OFFSET
from tracekit.sqtt.raw import RawStream, RecordFlag
from tracekit.sqtt.rows import Rows, releases

#: The lag offsets AMD uses: as measured, but 0 for vector memory, PC and replays.
_AMD_OFFSET = OFFSET.astype(np.int64)
_AMD_OFFSET[[Inst.VMEM_RD, Inst.VMEM_WR, Inst.FLAT_RD, Inst.FLAT_WR, Inst.PC, *range(19, 25)]] = 0
_AMD_OFFSET[OFFSET == 255] = 0
#: The phase counter starts here in every stream and is never reset.
_COUNTER_START = 15


@dataclass
class AmdRows:
    """Rows, and the state timeline of each wave as [state, duration] lists."""

    rows: Rows
    timelines: list[list[tuple[int, int]]] = field(default_factory=list)


class _Wave:
    """The records of one wave while AMD's rules go over them."""

    def __init__(self, first: int, count: int, begin: int, end: int) -> None:
        self.first, self.last = first, first + count
        self.begin, self.end = begin, end
        self.done = first  # records before this have had their IMMED handled


class _Pass:
    def __init__(self, raw: RawStream, released: NDArray[np.bool_], simd: NDArray[np.int64]):
        n = raw.records
        self.kind: list[int] = raw.type.tolist()
        self.issue: list[int] = raw.issue.tolist()
        self.typed: list[int] = raw.typed.tolist()
        self.refused: list[int] = raw.stall.tolist()
        self.flags: list[int] = raw.flags.tolist()
        self.released: list[bool] = released.tolist()
        self.simd: list[int] = simd.tolist()
        self.offset: list[int] = _AMD_OFFSET[raw.type].tolist()
        self.time: list[int] = list(self.issue)
        self.duration: list[int] = [0] * n
        self.stall: list[int] = [0] * n
        self.category: list[int] = np.array(CATEGORY_OF_TYPE)[raw.type].tolist()
        self.stalled = [False] * n  # a pending STALL was consumed by this record
        self.carried = [-1] * len(raw.waves["first"])  # STALL not yet earlier than an issue
        self.counter = _COUNTER_START
        self.replays: dict[int, int] = dict(raw.replays.tolist())

    def end(self, i: int) -> int:
        return self.time[i] + self.duration[i]

    def before(self, wave: _Wave, i: int) -> int:
        """The AMD record before ``i``; -1 when there is none."""
        i -= 1
        if i >= wave.first and self.released[i]:
            i -= 1
        return i if i >= wave.first else -1

    def cut(self, i: int, end: int, least: int) -> None:
        self.duration[i] = max(end - self.time[i], least)
        self.stall[i] = min(self.stall[i], self.duration[i])

    def catch_up(self, wave: _Wave, to: int) -> None:
        """Handle the IMMED tokens that came before record ``to``."""
        for i in range(wave.done, to):
            if self.kind[i] == INST_IMMED:
                self.immed(wave, i)
            elif self.kind[i] == INST_CONTEXT:
                left = self.typed[i] if self.typed[i] >= 0 else self.issue[i]
                self.duration[i] = left + 4 - self.issue[i]
        wave.done = max(wave.done, to)

    def immed(self, wave: _Wave, i: int) -> None:
        t = self.issue[i]
        if self.released[i]:
            arrive = i - 1
            if self.stalled[arrive]:
                self.time[arrive] = self.issue[arrive]
            self.duration[arrive] = self.stall[arrive] = t + 4 - self.time[arrive]
            self.category[arrive] = Category.IMMED
            return
        start = t
        previous = self.before(wave, i)
        if previous >= 0 and self.flags[i] & RecordFlag.PREVIOUS_TYPED:
            if self.end(previous) > t:
                self.cut(previous, t, 0)
            start = self.end(previous)
        self.time[i] = start
        self.duration[i] = self.stall[i] = 4 + t - start

    def inst(self, wave: _Wave, number: int, i: int) -> None:
        """The INST token of record ``i``."""
        self.catch_up(wave, i)
        wave.done = max(wave.done, i + 1)
        issue, previous = self.issue[i], self.before(wave, i)
        if previous >= 0 and self.end(previous) > issue:
            if self.flags[i] & RecordFlag.NEWEST:
                self.counter += 1
            self.cut(previous, issue, 4)
        since = self.end(previous) if previous >= 0 else wave.begin
        message = self.kind[i] == Inst.OTHER_MSG
        lag = 0
        if not message:
            phase = (self.counter + self.simd[i]) & 3
            usual = 4 * ((phase + self.offset[i]) // 4)
            lag = max(self.typed[i] - issue - usual, 0)
        refused = self.carried[number] if self.refused[i] < 0 else self.refused[i]
        self.carried[number] = -1
        if 0 <= refused < issue:
            self.stalled[i] = True
            self.stall[i] = max(issue - max(refused, since), 0)
            self.duration[i] = max(4 + lag + self.stall[i], 4)
            if self.stall[i] > 0:
                self.time[i] = issue - self.stall[i]
            return
        if refused >= 0:
            self.carried[number] = refused
        if message:
            if previous >= 0:
                self.time[i] = min(since, issue)
            self.duration[i] = issue + 4 - self.time[i]
        else:
            self.duration[i] = 4 + lag
        left = self.typed[i]
        if self.kind[i] == Inst.GO_TO_TRAP:
            self.duration[i] = left + 4 - issue

    def replay(self) -> None:
        for i, time in self.replays.items():
            grown = time + 4 - self.time[i] - self.duration[i]
            if grown > 0:
                self.duration[i] += grown
                self.stall[i] += grown


def amd_rows(
    raw: RawStream,
    row: NDArray[np.int32],
    barrier: NDArray[np.bool_],
    scaled: NDArray[np.bool_],
) -> AmdRows:
    """Rows and wave-state timelines in AMD's timing.

    ``row``: listing row per record (-1 unstitched); ``barrier``, ``scaled``: per listing row
    whether it is s_barrier or v_mfma_scale_*, each with one False appended.
    """
    counts, firsts = raw.waves["count"], raw.waves["first"]
    first = np.zeros(raw.records, bool)
    first[firsts[counts > 0]] = True
    released = releases(raw, row, barrier, first, slice(0, raw.records))
    work = _Pass(raw, released, np.repeat(raw.waves["simd"], counts))
    waves = [
        _Wave(f, n, b, e)
        for f, n, b, e in zip(
            firsts.tolist(),
            counts.tolist(),
            raw.waves["begin"].tolist(),
            raw.waves["end"].tolist(),
            strict=True,
        )
    ]
    wave_of = np.repeat(np.arange(len(counts)), counts)
    typed = np.flatnonzero(raw.sequence > 0)
    order = typed[np.argsort(raw.sequence[typed], kind="stable")]
    for number, i in zip(wave_of[order].tolist(), order.tolist(), strict=True):
        work.inst(waves[number], number, i)
    for wave in waves:
        work.catch_up(wave, wave.last)
    timelines = [_timeline(work, wave) for wave in waves]
    work.replay()
    keep = ~released
    for wave in waves:
        _shift_scaled(work, [i for i in range(wave.first, wave.last) if keep[i]], row, scaled)
    wave_counts = np.bincount(wave_of[keep], minlength=len(counts)).astype(np.int64)
    rows = Rows(
        time=np.array(work.time, np.int64)[keep],
        stall=np.array(work.stall, np.int64)[keep],
        duration=np.array(work.duration, np.int64)[keep],
        released=np.empty(0, np.int64),
        release=np.empty(0, np.int64),
        category=np.array(work.category, np.uint8)[keep],
        type=raw.type[keep],
        row=row[keep],
        wave_counts=wave_counts,
    )
    return AmdRows(rows, timelines)


def _shift_scaled(
    work: _Pass, records: list[int], row: NDArray[np.int32], scaled: NDArray[np.bool_]
) -> None:
    """A v_mfma_scale record takes the free ticks around it: both halves in one record."""
    for at, i in enumerate(records):
        if not scaled[row[i]] or work.category[i] != Category.VALU:
            continue
        if at + 1 < len(records) and work.time[records[at + 1]] >= work.end(i) + 4:
            work.duration[i] += 4
        if at and work.end(records[at - 1]) <= work.time[i] - 4:
            work.time[i] -= 4
            work.duration[i] += 4


class _Timeline:
    """[state, duration] entries of a wave, as AMD merges them."""

    def __init__(self, begin: int) -> None:
        self.entries: list[list[int]] = []
        self.state, self.since = State.IDLE, begin

    def until(self, time: int) -> None:
        if time > self.since:
            if self.entries and self.entries[-1][0] == self.state != State.WAIT:
                self.entries[-1][1] += time - self.since
            else:
                self.entries.append([self.state, time - self.since])
            self.since = time

    def enter(self, state: State, time: int) -> None:
        if state != self.state:
            self.until(time)
            self.state = state

    def own(self, state: State, duration: int, then: State, since: int) -> None:
        """An entry that is never merged."""
        self.entries.append([state, duration])
        self.state, self.since = then, since


def _timeline(work: _Pass, wave: _Wave) -> list[tuple[int, int]]:  # noqa: C901 - AMD's rules, an arm each
    line = _Timeline(wave.begin)
    for i in range(wave.first, wave.last):
        if work.kind[i] == INST_IMMED:
            if not work.released[i]:
                line.until(work.time[i])
                line.own(State.WAIT, work.duration[i], State.EXEC, work.end(i))
            continue
        if work.kind[i] in (INST_CONTEXT, INST_UNTYPED):
            line.enter(State.EXEC, work.issue[i])
            continue
        if work.refused[i] >= 0:
            line.enter(State.STALL, work.refused[i])
        line.enter(State.EXEC, work.issue[i])
        if work.kind[i] != Inst.OTHER_MSG:
            continue
        ends = i + 1 < wave.last and work.released[i + 1]
        if work.stalled[i] and ends:
            release = work.issue[i + 1] + 4
            line.own(State.WAIT, release - work.issue[i], State.EXEC, release)
        elif work.stalled[i]:
            if line.entries and line.entries[-1][0] == State.STALL:
                line.entries[-1][1] -= work.stall[i]
            line.own(State.STALL, work.duration[i], State.IDLE, work.end(i))
        elif work.flags[i] & RecordFlag.NEWEST or ends:
            line.until(work.time[i])
            line.own(State.WAIT, work.duration[i], State.EXEC if ends else State.IDLE, work.end(i))
    line.until(wave.end)
    return [(state, duration) for state, duration in line.entries]
