"""The stream decoder in plain Python: the readable reference, oracle and fallback.

``native/decode.cpp`` does the same and must return the same facts for any bytes.
Rules: docs/timing.md; where AMD's decoder loses waves (a start in an occupied slot, an
end without start) the facts kept here are what the tokens say.
"""

from __future__ import annotations

import numpy as np

from tracekit.gfx9 import (
    DROPPED,
    INST_CONTEXT,
    INST_IMMED,
    INST_UNTYPED,
    REPLAYS,
    SIMDS,
    SLOTS,
    TICK,
    Inst,
)
from tracekit.sqtt.framing import Clock, owed_timestamp, tokens
from tracekit.sqtt.layout import FIELDS, MAX_LANES, TOKEN_BYTES, IssueState, Misc, Token
from tracekit.sqtt.live_wave import NORMAL, REMOVED, REQUESTED, SAVED, WAIT_FOR_PC, Wave
from tracekit.sqtt.raw import LAG_BINS, RawStream, RecordFlag, WaveFlag

WAVE_COLUMNS = (
    "simd", "slot", "index", "begin", "end", "start_offset", "first", "count", "flags",
)  # fmt: skip
EPOCH_COLUMNS = ("offset", "time", "timestamp", "base")


class Decoder:
    """Turns the tokens of one stream into a RawStream."""

    def __init__(self, data: bytes, target_cu: int) -> None:
        self.data = data
        self.target_cu = target_cu
        self.clock = Clock()
        self.live: list[list[Wave | None]] = [[None] * SLOTS for _ in range(SIMDS)]
        self.closed: list[Wave] = []
        self.generation = [[0] * SLOTS for _ in range(SIMDS)]
        self.side: list[tuple[int, int, int]] = []
        self.token_counts = [0] * 16
        self.misc_counts = [0] * 8
        self.inst_counts = [0] * 32
        self.state_counts = [0] * 4
        self.lag_counts = np.zeros((32, 4, LAG_BINS), np.int64)
        self.truncated_at = -1
        self.illegal = 0
        self.orphans = 0
        self.sequence = 0

    def run(self) -> RawStream:
        clock = self.clock
        for offset, kind, word in tokens(self.data):
            if kind < 0:
                self.truncated_at = offset
                break
            self.token_counts[kind] += 1
            if kind == Token.TIME:
                continue
            if kind == Token.MISC:
                self._misc(offset, word)
                continue
            clock.now += (word >> 4 & 1) * TICK
            if kind == Token.ISSUE:
                self._issue(word)
            elif kind == Token.INST:
                self._inst(word)
            else:
                self._side(offset, Token(kind), word)
        for slots in self.live:
            for wave in slots:
                if wave is not None:
                    self._close(wave, clock.now)
        return self._result()

    def _misc(self, offset: int, word: int) -> None:
        misc = FIELDS[Token.MISC]["misc_type"].read(word)
        self.misc_counts[misc] += 1
        self.clock.now += FIELDS[Token.MISC]["delta"].read(word) * TICK
        if misc == Misc.TIME_RESET:
            timestamp = owed_timestamp(self.data, offset + TOKEN_BYTES[Token.MISC])
            if timestamp is not None:
                self.clock.apply(timestamp, offset)
            return
        if misc in (Misc.TIME, Misc.SURF_SYNC):
            return
        self.side.append((offset, self.clock.now, word))
        waves = [wave for slots in self.live for wave in slots if wave is not None]
        if misc == Misc.PACKET_LOST:
            for wave in waves:
                wave.lose()
        elif misc == Misc.SAVE_CONTEXT:
            for wave in waves:
                if wave.phase == NORMAL:
                    wave.phase = REQUESTED

    def _side(self, offset: int, kind: Token, word: int) -> None:
        fields = FIELDS[kind]
        if "slot" in fields and fields["slot"].read(word) >= SLOTS:
            self.illegal += 1
            return
        self.side.append((offset, self.clock.now, word))
        if kind == Token.INST_PC:
            self._inst_pc(word)
        elif kind in (Token.WAVE_START, Token.WAVE_END):
            if fields["cu"].read(word) != self.target_cu or fields["sh"].read(word):
                return
            simd, slot = fields["simd"].read(word), fields["slot"].read(word)
            if kind == Token.WAVE_START:
                self._wave_start(offset, simd, slot, fields["count"].read(word))
            else:
                self._wave_end(simd, slot)

    def _new_wave(self, simd: int, slot: int, offset: int) -> Wave:
        index = self.generation[simd][slot]
        self.generation[simd][slot] += 1
        wave = Wave(simd, slot, index, self.clock.now, offset)
        self.live[simd][slot] = wave
        return wave

    def _wave_start(self, offset: int, simd: int, slot: int, count: int) -> None:
        wave = self.live[simd][slot]
        if count > MAX_LANES:
            if wave is not None and wave.phase == REQUESTED:
                wave.flags |= WaveFlag.CONTEXT
                wave.context = len(wave.records)
                wave.add(INST_CONTEXT, self.clock.now)
                wave.phase = SAVED
            elif wave is not None and wave.phase == SAVED:
                wave.phase = WAIT_FOR_PC
            return
        if wave is not None:
            wave.flags |= WaveFlag.LOST_END
            self._close(wave, self.clock.now)
        self._new_wave(simd, slot, offset)

    def _wave_end(self, simd: int, slot: int) -> None:
        wave = self.live[simd][slot]
        if wave is None or wave.phase != NORMAL:
            return
        if not wave.flags & WaveFlag.NO_START:
            wave.flags |= WaveFlag.COMPLETE
        self._close(wave, self.clock.now)

    def _close(self, wave: Wave, end: int) -> None:
        wave.end = end
        self.live[wave.simd][wave.slot] = None
        self.closed.append(wave)

    def _issue(self, word: int) -> None:
        simd = word >> 5 & 3
        states, slot = word >> 8 & 0xFFFFF, 0
        while states:
            state = states & 3
            if state:
                self._state(simd, slot, state)
            states >>= 2
            slot += 1

    def _state(self, simd: int, slot: int, state: int) -> None:
        self.state_counts[state] += 1
        now = self.clock.now
        wave = self.live[simd][slot]
        if wave is None:
            wave = self._new_wave(simd, slot, -1)
            wave.flags |= WaveFlag.NO_START
        if wave.phase != NORMAL:
            return
        if state == IssueState.STALL:
            wave.stall = now
        elif state == IssueState.INST:
            wave.waiting.append(len(wave.records))
            wave.add(INST_UNTYPED, now)
            wave.records[-1][3] = wave.stall
            wave.stall = -1
        else:
            typed = RecordFlag.PREVIOUS_TYPED if wave.previous_typed() else 0
            wave.add(INST_IMMED, now, typed)

    def _inst(self, word: int) -> None:  # noqa: C901 - the stream's rules, an arm each
        slot, simd, kind = word >> 5 & 15, word >> 9 & 3, word >> 11 & 31
        if slot >= SLOTS:
            self.illegal += 1
            return
        self.inst_counts[kind] += 1
        self.sequence += 1
        now = self.clock.now
        wave = self.live[simd][slot]
        if wave is None:
            self.orphans += 1
            return
        if wave.phase != NORMAL:
            if kind == Inst.PC and wave.phase == WAIT_FOR_PC:
                wave.records[wave.context][2] = now
                wave.expect_pc(len(wave.records))
                wave.waiting.clear()
                wave.phase = NORMAL
            return
        if not wave.waiting:
            self.orphans += 1
            return
        head = wave.waiting.popleft()
        record = wave.records[head]
        if kind in REPLAYS or kind in DROPPED:
            base = wave.last_of_type.get(REPLAYS[Inst(kind)]) if kind in REPLAYS else None
            if base is not None:
                wave.replays.append((base, now))
            record[0] = REMOVED
            return
        record[0], record[2], record[4], record[5] = (
            kind, now, len(self.clock.epochs) - 1, self.sequence,
        )  # fmt: skip
        lag = now - record[1]
        if self.clock.epochs and lag >= 0:
            timestamp = self.clock.epochs[-1][2]
            self.lag_counts[kind, (simd - timestamp) & 3, min(lag >> 2, LAG_BINS - 1)] += 1
        if head == len(wave.records) - 1:
            record[6] |= RecordFlag.NEWEST
        wave.last_of_type[kind] = head
        if kind == Inst.PC:
            wave.expect_pc(head + 1)
        elif kind == Inst.GO_TO_TRAP:
            wave.trap(head)

    def _inst_pc(self, word: int) -> None:
        fields = FIELDS[Token.INST_PC]
        wave = self.live[fields["simd"].read(word)][fields["slot"].read(word)]
        if wave is not None and wave.phase == NORMAL:
            wave.set_pc(fields["pc"].read(word) << 2)

    def _result(self) -> RawStream:
        waves = sorted(self.closed, key=lambda w: (w.simd, w.slot, w.index))
        kept: list[list[int]] = []
        rows: list[tuple[int, ...]] = []
        anchors: list[tuple[int, int, int]] = []
        replays: list[tuple[int, int]] = []
        for number, wave in enumerate(waves):
            first = len(kept)
            position: list[int] = []  # of each record among those kept
            for record in wave.records:
                position.append(len(kept) - first)
                if record[0] != REMOVED:
                    kept.append(record)
            position.append(len(kept) - first)
            rows.append(
                (wave.simd, wave.slot, wave.index, wave.begin, wave.end, wave.start_offset,
                 first, len(kept) - first, int(wave.flags))
            )  # fmt: skip
            anchors += [(number, position[min(i, len(wave.records))], pc) for i, pc in wave.anchors]
            replays += [(first + position[i], time) for i, time in wave.replays]
        return _columns(self, kept, rows, anchors, replays)


def _columns(
    decoder: Decoder,
    kept: list[list[int]],
    rows: list[tuple[int, ...]],
    anchors: list[tuple[int, int, int]],
    replays: list[tuple[int, int]],
) -> RawStream:
    records = np.array(kept, dtype=np.int64).reshape(-1, 7)
    waves = np.array(rows, dtype=np.int64).reshape(-1, len(WAVE_COLUMNS))
    epochs = np.array(decoder.clock.epochs, dtype=np.int64).reshape(-1, len(EPOCH_COLUMNS))
    return RawStream(
        type=records[:, 0].astype(np.uint8),
        issue=records[:, 1].copy(),
        typed=records[:, 2].copy(),
        stall=records[:, 3].copy(),
        epoch=records[:, 4].astype(np.int32),
        sequence=records[:, 5].astype(np.uint32),
        flags=records[:, 6].astype(np.uint8),
        waves={name: waves[:, i].copy() for i, name in enumerate(WAVE_COLUMNS)},
        anchors=np.array(anchors, dtype=np.int64).reshape(-1, 3),
        replays=np.array(replays, dtype=np.int64).reshape(-1, 2),
        side_offset=np.array([s[0] for s in decoder.side], dtype=np.int64),
        side_time=np.array([s[1] for s in decoder.side], dtype=np.int64),
        side_raw=np.array([s[2] for s in decoder.side], dtype=np.uint64),
        epochs={name: epochs[:, i].copy() for i, name in enumerate(EPOCH_COLUMNS)},
        token_counts=np.array(decoder.token_counts, dtype=np.int64),
        misc_counts=np.array(decoder.misc_counts, dtype=np.int64),
        inst_counts=np.array(decoder.inst_counts, dtype=np.int64),
        state_counts=np.array(decoder.state_counts, dtype=np.int64),
        lag_counts=decoder.lag_counts,
        truncated_at=decoder.truncated_at,
        illegal_tokens=decoder.illegal,
        orphan_tokens=decoder.orphans,
        last_time=decoder.clock.now,
    )


def decode(data: bytes, target_cu: int) -> RawStream:
    """Decode a whole stream (header included; it is skipped, not read)."""
    return Decoder(bytes(data), target_cu).run()
