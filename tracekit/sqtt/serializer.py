"""Timed events to bytes: the clock of a stream (deltas, resets) and the order of its tokens.

Times are cycles of the stream's own clock, multiples of 4: what a decoder returns.
``base`` turns them into the 48-bit shader clock: absolute = time + base.

A gap of one tick is the ``delta`` bit of the next token, a longer one a MISC TIME, and
one beyond ``ClockModel.longest_delta`` what the hardware writes::

    f0 2f                      MISC TIME_RESET, delta 255
    (0..k tokens of the new time)
    01 00 53 7d f8 ad 45 02    TIME 0x0245adf87d53
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import itemgetter

from tracekit.gfx9 import SIMDS, TICK
from tracekit.sqtt.layout import TOKEN_BYTES, IssueState, Misc, Token
from tracekit.sqtt.phase import OFFSET, expected_ticks

#: Longest gap that one MISC token can express.
LONGEST_DELTA = 255 * TICK
#: Time of the first token when the stream opens with TIME_RESET (delta 255), TIME: the
#: first timestamp moves the clock back by one tick.
FIRST_TIME = LONGEST_DELTA - TICK
#: The write pointer counts blocks of 32 bytes.
BLOCK_BYTES = 32
#: Cycles an instruction may hold the issue stage; measured: 4, 8, 12, 20, once 28.
LONGEST_COST = 512

_INST = IssueState.INST.value
_OUT_OF_ORDER = (
    "SIMD {} slot {}: the INST token of the issue at {} would come before that of an "
    "earlier issue, which costs longer"
)
_PADDING = (int(Token.MISC), TOKEN_BYTES[Token.MISC])
_DELTA_SHIFT, _MISC_TYPE_SHIFT = 4, 13
_RESET = Token.MISC | 255 << _DELTA_SHIFT | Misc.TIME_RESET << _MISC_TYPE_SHIFT

#: Offsets of the phase rule; types outside it are written like the memory ones.
_OFFSET = [1 if offset == 255 else int(offset) for offset in OFFSET[:32]]


def inst_lag(phase: int, inst_type: int) -> int:
    """Cycles from the issue of a 4-cycle instruction to its INST token (rule: ``phase``).

    ``phase`` = phase constant of the stream - timestamp of the epoch + SIMD, taken mod 4.
    """
    return TICK * expected_ticks(phase % 4, _OFFSET[inst_type])


_LAGS = [
    [[inst_lag(phase + simd, kind) for kind in range(32)] for simd in range(SIMDS)]
    for phase in range(4)
]


@dataclass(frozen=True)
class ClockModel:
    """How the stream tells its time.

    ``base``: shader clock at time 0.  None starts the stream in mid-air, as cuts of
    longer streams do: no TIME token, gaps by deltas alone, time from 0.
    ``start``: time of the opening TIME token, at least 4 (hardware: FIRST_TIME).
    ``phase``: the constant c of this stream, 0..3; it decides the lag of INST tokens.
    ``subticks``: low bits added to the timestamps after the first, in turn; each moves
    the phase of the epoch that it opens.
    ``longest_delta``: longer gaps are a TIME_RESET; LONGEST_DELTA like the hardware, or
    more to chain MISC deltas up to there.  ``tokens_before_time``: tokens (at most) that
    stand between a TIME_RESET and its TIME.  ``token_deltas``: False writes a MISC even
    for a gap of one tick.
    """

    base: int | None = 1 << 40
    start: int = FIRST_TIME
    phase: int = 0
    subticks: tuple[int, ...] = (0,)
    longest_delta: int = LONGEST_DELTA
    tokens_before_time: int = 1
    token_deltas: bool = True

    def __post_init__(self) -> None:
        if self.base is not None and not 0 <= self.base < (1 << 48) - self.start:
            raise ValueError(f"base {self.base} + start is no 48-bit clock value")
        if self.start < TICK or self.start % TICK:
            raise ValueError(f"start {self.start} is not a multiple of {TICK} from {TICK} on")
        if not 0 <= self.phase < 4:
            raise ValueError(f"phase constant {self.phase} is not 0..3")
        if not self.subticks or not all(0 <= s < TICK for s in self.subticks):
            raise ValueError(f"subticks {self.subticks} are not values 0..3")
        if self.longest_delta < LONGEST_DELTA:
            raise ValueError(f"longest_delta {self.longest_delta} is below {LONGEST_DELTA}")

    @property
    def first_time(self) -> int:
        """Earliest time that an event may have."""
        return 0 if self.base is None else self.start


#: (time, slot, kind, value, size or cost, tail), plain because there are millions:
#:
#: ======  =======================  ===========  ====  ==============================
#: kind    slot                     value        5th   tail
#: FIXED   of the slot concerned,   token word   its   ()
#:         ANY_SLOT if more             bytes
#: STATE   of the wave              ISSUE state  0     ()
#: ISSUED  of the wave              INST word    cost  tokens right behind that INST
#: ======  =======================  ===========  ====  ==============================
#:
#: A slot is simd * 16 + wave slot.  ISSUED is the ISSUE state INST at ``time`` and the
#: INST token at the distance that phase and cost ask for.
Event = tuple[int, int, int, int, int, tuple[tuple[int, int], ...]]
FIXED, STATE, ISSUED = range(3)
ANY_SLOT = -1
_Tokens = list[tuple[int, int]]


def serialize(header: bytes, events: Sequence[Event], clock: ClockModel) -> bytes:
    """Header, tokens and padding; events may come in any order.

    Within one tick the order of ``events`` holds, with two exceptions: INST tokens of
    earlier issues come first, and the states of one SIMD share an ISSUE token (no token
    passes one of the same wave slot, none but INST and ISSUE passes any other).
    Raises ValueError for a time before ``clock.first_time``, INST tokens of a wave that
    would come out of issue order, and a clock beyond 48 bits.
    """
    stream = _Stream(header, clock)
    stream.run(sorted(events, key=itemgetter(0)))
    return bytes(stream.out)


class _Stream:
    def __init__(self, header: bytes, clock: ClockModel) -> None:
        self.out = bytearray(header)
        self.clock = clock
        self.now = 0
        self.epochs = 0
        self.lags = _LAGS[clock.phase]
        self.due: dict[int, _Tokens] = {}  # INST tokens to come, by time
        self.due_times: list[int] = []  # heap of the keys
        self.last_typed = [0] * (SIMDS * 16)

    def run(self, events: list[Event]) -> None:
        at, count = 0, len(events)
        if count and events[0][0] < self.clock.first_time:
            raise ValueError(f"time {events[0][0]} is before {self.clock.first_time}")
        if self.clock.base is not None:
            self._open(self.clock.base)
        while at < count or self.due_times:
            if self.due_times and (at == count or self.due_times[0] <= events[at][0]):
                time = heappop(self.due_times)
                tokens = self.due.pop(time)
            else:
                time, tokens = events[at][0], []
            carry, timestamp = self._advance(time)
            first = at
            while at < count and events[at][0] == time:
                at += 1
            self._tick(time, events[first:at], tokens)
            if carry:
                tokens[0] = (tokens[0][0] | 1 << _DELTA_SHIFT, tokens[0][1])
            if timestamp >= 0:
                place = min(self.clock.tokens_before_time, len(tokens))
                tokens.insert(place, (Token.TIME | timestamp << 16, TOKEN_BYTES[Token.TIME]))
            self._write(tokens)
        self._write([_PADDING] * (-(len(self.out) - 8) % BLOCK_BYTES // _PADDING[1]))

    def _write(self, tokens: _Tokens) -> None:
        out = self.out
        for word, size in tokens:
            out += word.to_bytes(size, "little")

    def _misc(self, delta: int, kind: Misc = Misc.TIME) -> None:
        word = Token.MISC | delta << _DELTA_SHIFT | kind << _MISC_TYPE_SHIFT
        self.out += word.to_bytes(2, "little")

    def _open(self, base: int) -> None:
        """The first TIME: base = timestamp - now + 4, so it moves the clock back a tick."""
        target = self.clock.start + TICK
        while target > LONGEST_DELTA:
            step = min(target - LONGEST_DELTA, LONGEST_DELTA)
            self._misc(step // TICK)
            target -= step
        self._misc(target // TICK, Misc.TIME_RESET)
        timestamp = base + self.clock.start
        self._write([(Token.TIME | timestamp << 16, TOKEN_BYTES[Token.TIME])])
        self.lags = _LAGS[(self.clock.phase - timestamp) % 4]
        self.now = self.clock.start

    def _advance(self, time: int) -> tuple[bool, int]:
        """Move the clock: (the next token carries a delta, timestamp still owed or -1)."""
        gap = time - self.now
        self.now = time
        if gap == 0:
            return False, -1
        if gap % TICK:
            raise ValueError(f"time {time} is not a multiple of {TICK}")
        clock = self.clock
        if gap == TICK and clock.token_deltas:
            return True, -1
        if gap <= clock.longest_delta or clock.base is None:
            while gap > LONGEST_DELTA:
                self._misc(LONGEST_DELTA // TICK)
                gap -= LONGEST_DELTA
            self._misc(gap // TICK)
            return False, -1
        self.out += _RESET.to_bytes(2, "little")
        timestamp = clock.base + time + clock.subticks[self.epochs % len(clock.subticks)]
        if timestamp >> 48:
            raise ValueError(f"time {time} passes the 48 bits of the clock")
        self.epochs += 1
        self.lags = _LAGS[(clock.phase - timestamp) % 4]
        return False, timestamp

    def _tick(self, time: int, events: Sequence[Event], tokens: _Tokens) -> None:
        """The events of one time: gather the states of each SIMD, keep all else in order."""
        states: dict[int, int] = {}  # by SIMD
        behind: _Tokens = []  # tokens that must follow those states
        busy = 0  # wave slots (bits) with a state or a token in there
        ordered = False  # a token in `behind` that no other may pass

        for _, slot, kind, value, extra, tail in events:
            if kind == FIXED:
                if slot != ANY_SLOT:
                    typing = value & 15 == Token.INST
                    if busy >> slot & 1 or (ordered and not typing):
                        behind.append((value, extra))
                        busy |= 1 << slot
                        ordered = ordered or not typing
                    else:
                        tokens.append((value, extra))
                    continue
                _flush(tokens, states, behind)
                busy, ordered = 0, False
                tokens.append((value, extra))
                continue
            bit = 1 << slot
            if busy & bit:
                _flush(tokens, states, behind)
                busy, ordered = 0, False
            busy |= bit
            simd = slot >> 4
            state = value if kind == STATE else _INST
            states[simd] = states.get(simd, 0) | state << 8 + 2 * (slot & 15)
            if kind == ISSUED:
                due = time + self.lags[simd][value >> 11] + extra - TICK
                if due < self.last_typed[slot]:
                    raise ValueError(_OUT_OF_ORDER.format(simd, slot & 15, time))
                self.last_typed[slot] = due
                if due == time:
                    behind.append((value, 2))
                    behind += tail
                    ordered = ordered or bool(tail)
                else:
                    self._later(due, value, tail)
        if states:
            _flush(tokens, states, behind)

    def _later(self, time: int, word: int, tail: tuple[tuple[int, int], ...]) -> None:
        waiting = self.due.get(time)
        if waiting is None:
            waiting = self.due[time] = []
            heappush(self.due_times, time)
        waiting.append((word, 2))
        waiting += tail


def _flush(tokens: _Tokens, states: dict[int, int], behind: _Tokens) -> None:
    tokens += [(Token.ISSUE.value | simd << 5 | word, 4) for simd, word in states.items()]
    tokens += behind
    states.clear()
    behind.clear()
