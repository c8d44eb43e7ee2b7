"""Hypothesis strategies: executed waves, and streams of legal, odd and broken tokens.

``plans`` are what the encoder is for: waves whose records a decoder must give back.
``token_streams`` are bytes with a valid header and anything behind it; two decoders must
agree on them.  A stream is synthesised from one ``st.binary`` draw, a few bytes a token,
because drawing every field on its own is twenty times slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tracekit.gfx9 import REPLAYS, Inst
from tracekit.sqtt import packets
from tracekit.sqtt.encode import header_bytes, pack
from tracekit.sqtt.layout import (
    COMPUTE_DISPATCH_INITIATOR,
    COMPUTE_PGM_HI,
    COMPUTE_PGM_LO,
    FIELDS,
    USERDATA_2,
    USERDATA_3,
    Misc,
    Token,
)
from tracekit.sqtt.serializer import FIRST_TIME, LONGEST_DELTA, ClockModel
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter

# --- Executed waves ----------------------------------------------------------------------

#: Types of normal instructions, with the costs that were measured for some.
TYPES = (
    Inst.SMEM_RD, Inst.SALU_32, Inst.SALU_64, Inst.VMEM_RD, Inst.VMEM_WR, Inst.FLAT_RD,
    Inst.FLAT_WR, Inst.VALU_32, Inst.VALU_64, Inst.VALU_MAI, Inst.LDS, Inst.JUMP, Inst.NEXT,
)  # fmt: skip
COSTS = (4, 4, 4, 8, 12, 20)
#: Idle ticks before an instruction: mostly none, seldom more than deltas can say.
GAPS = (0, 0, 0, 0, 1, 2, 5, 60, 260, 1200)


@dataclass
class Wave:
    simd: int
    slot: int
    begin: int
    records: list[Executed]


@dataclass
class Plan:
    """Waves of the target CU and the clock to write them with."""

    clock: ClockModel
    waves: list[Wave] = field(default_factory=list)
    target_cu: int = 1

    def writer(self) -> StreamWriter:
        writer = StreamWriter(target_cu=self.target_cu, clock=self.clock)
        for wave in self.waves:
            write_wave(writer, wave.simd, wave.slot, wave.begin, wave.records)
        return writer


def clocks() -> st.SearchStrategy[ClockModel]:
    return st.builds(
        ClockModel,
        base=st.integers(1, (1 << 48) - (1 << 24)),
        start=st.sampled_from((4, 256, FIRST_TIME, 5000)),
        phase=st.integers(0, 3),
        subticks=st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple),
        longest_delta=st.sampled_from((LONGEST_DELTA, 2 * LONGEST_DELTA, 1 << 20)),
        tokens_before_time=st.integers(0, 4),
        token_deltas=st.booleans(),
    )


def _steps() -> st.SearchStrategy[tuple[object, int, int, int]]:
    kinds = st.sampled_from((*TYPES, "immediate", "barrier", "jump_pc"))
    return st.tuples(
        kinds, st.sampled_from(GAPS), st.sampled_from(COSTS), st.sampled_from((0, 0, 1, 7))
    )


def _records(steps: list[tuple[object, int, int, int]], now: int) -> list[Executed]:
    records = []
    for kind, gap, cost, refused in steps:
        first = now + 4 * gap
        time = first + 4 * refused
        stall = first if refused else None
        if kind == "immediate":
            record = immediate(time)
        elif kind == "barrier":
            record = barrier(time, release=time + 4 + 4 * gap, stall=stall)
        elif kind == "jump_pc":
            record = Executed(Inst.PC, time, stall=stall, next_pc=0x7F00_0000_1700 + 4 * gap)
        else:
            record = Executed(kind, time, cost, stall)
        records.append(record)
        now = record.end
    return [*records, endpgm(now)]


@st.composite
def plans(draw: st.DrawFn, max_waves: int = 5, max_instructions: int = 12) -> Plan:
    """Waves on few SIMDs and slots, so that they meet in one tick; waves of a slot in turn."""
    plan = Plan(draw(clocks()))
    free: dict[tuple[int, int], int] = {}
    for _ in range(draw(st.integers(1, max_waves))):
        simd, slot = draw(st.integers(0, 3)), draw(st.sampled_from((0, 1, 9)))
        begin = free.get((simd, slot), plan.clock.start) + 4 * draw(st.sampled_from(GAPS))
        steps = draw(st.lists(_steps(), max_size=max_instructions))
        records = _records(steps, begin + 4 * draw(st.sampled_from(GAPS)))
        plan.waves.append(Wave(simd, slot, begin, records))
        free[simd, slot] = records[-1].time + 8  # WAVE_END follows within a tick
    return plan


# --- Streams of any tokens ---------------------------------------------------------------


class Exhausted(Exception):
    """The drawn bytes are used up."""


class Source:
    """Small choices out of drawn bytes."""

    def __init__(self, data: bytes, target_cu: int) -> None:
        self.bytes = iter(data)
        self.target_cu = target_cu
        self.clock = 0x0245_ADF8_7D53

    def below(self, limit: int) -> int:
        for value in self.bytes:
            return value % limit
        raise Exhausted

    def pick(self, options):
        return options[self.below(len(options))]

    def bits(self, width: int) -> int:
        value = 0
        for shift in range(0, width, 8):
            value |= self.below(256) << shift
        return value & (1 << width) - 1

    def slot(self) -> int:
        """Slot 0 or 1 most of the time, another seldom, an illegal one once in 100."""
        value = self.below(200)
        if value < 188:
            return value & 1
        return value - 188 if value < 198 else 10 + self.below(6)

    def cu(self) -> int:
        return self.target_cu if self.below(10) else self.below(16)

    def timestamp(self) -> int:
        """Mostly a little later than the last; sometimes earlier, zero or the maximum."""
        kind = self.below(16)
        if kind == 0:
            return self.pick((0, 1, (1 << 48) - 1))
        if kind == 1:
            return max(self.clock - self.bits(12), 0)
        self.clock += self.bits(12) + 1
        return self.clock


_STATES = (0x2, 0x8, 0xA, 0x1, 0x4, 0x6, 0x9, 0x3, 0xC, 0xE, 0xF, 0x0)
_COMMON_TYPES = (*TYPES, Inst.OTHER_MSG, Inst.PC)
_ODD_TYPES = (*REPLAYS, Inst.GO_TO_TRAP, Inst.FATAL_HALT, Inst.EXPREQ_GDS, *range(26, 32))
_MISC_TYPES = (0, 0, 0, 0, 0, 0, 1, 1, 3, 3, 4, 5, 7, 0, 2, 6)
_REGISTERS = (USERDATA_2, USERDATA_2, USERDATA_3, USERDATA_3, 0xC340, 0xC341, 0x1234)
_CS_REGISTERS = (0x00, 0x07, 0x08, 0x09, 0x0C, 0x0D, 0x12, 0x13, 0x2D, 0x40, 0x7F)
_PACKET_WORDS = (
    0x004, 0x104, 0x204, 0x304, 0x404, 0x504, 0x604, 0x704, 0x10204, 0x5, 0x2005, 0x7, 0x3007,
    0x6, 0x186A0006, 0x240106, 0x434F5200, 0x80201, 0xE, 0xC, 0xD, 0x1000, 0x7F08, 0,
)  # fmt: skip

#: How each field gets its value; other fields (sh, tg_id, ...) are 0 seven times in eight.
_CHOICES = {
    "slot": Source.slot,
    "cu": Source.cu,
    "simd": lambda s: s.pick((0, 0, 0, 1, 1, 2, 3)),
    "count": lambda s: s.pick((64, 64, 64, 1, 65, 100, 127, 0)),
    "inst_type": lambda s: s.pick(_COMMON_TYPES if s.below(4) else _ODD_TYPES),
    "states": lambda s: s.pick(_STATES) if s.below(16) else s.bits(20),
    "misc_type": lambda s: s.pick(_MISC_TYPES),
    "timestamp": Source.timestamp,
    "address": lambda s: s.pick(_REGISTERS),
    "register": lambda s: s.pick(_CS_REGISTERS),
    "data": lambda s: s.pick(_PACKET_WORDS) if s.below(8) else s.bits(32),
    "me_raw": lambda s: s.pick((1, 1, 1, 0, 2)),
    "enable": lambda s: min(s.below(8), 1),
    "reg_type": lambda s: s.pick((3, 3, 3, 0)),
    "pc": lambda s: s.bits(16) if s.below(4) else s.bits(48),
    "c0": lambda s: s.bits(13),
}


def _token(source: Source, token: Token) -> bytes:
    """One token of this type with chosen fields."""
    values = {}
    for name, place in FIELDS[token].items():
        if token == Token.MISC and name == "delta":
            values[name] = source.pick((0, 0, 0, 1, 1, 2, 7, 100, 255))
        elif name in _CHOICES:
            values[name] = _CHOICES[name](source)
        else:
            values[name] = 0 if source.below(8) else source.bits(place.width)
    if token not in (Token.MISC, Token.TIME):
        values["delta"] = source.pick((0, 0, 0, 1))
    return pack(token, **values)


def _wave(source: Source) -> Iterator[bytes]:
    """A wave's life; its start, its end and some INST tokens may be missing."""
    simd, slot = source.pick((0, 0, 1, 3)), source.slot()
    place = {"simd": simd, "slot": slot}
    if source.below(8):
        yield pack(Token.WAVE_START, cu=source.target_cu, count=64, **place)
    for _ in range(source.below(24)):
        kind = source.below(8)
        if slot <= 9 and kind < 7:
            if source.below(4) == 0:
                yield pack(Token.ISSUE, simd=simd, states=1 << 2 * slot, delta=source.below(2))
            state = 3 if kind == 0 else 2
            yield pack(Token.ISSUE, simd=simd, states=state << 2 * slot, delta=source.below(2))
            if kind == 0:
                continue
        if source.below(12):
            inst_type = source.pick(_COMMON_TYPES if source.below(12) else _ODD_TYPES)
            yield pack(Token.INST, inst_type=inst_type, delta=source.below(2), **place)
            if inst_type == Inst.PC and source.below(4):
                yield pack(Token.INST_PC, pc=source.bits(16), **place)
    if source.below(8):
        yield pack(Token.WAVE_END, cu=source.target_cu, **place)


def _context_switch(source: Source) -> Iterator[bytes]:
    """Save request, two relaunches, and the token that ends the restore."""
    place = {"simd": source.pick((0, 1)), "slot": source.below(2)}
    yield pack(Token.MISC, misc_type=Misc.SAVE_CONTEXT)
    for _ in range(source.pick((2, 2, 2, 1, 3))):
        yield pack(Token.WAVE_START, cu=source.target_cu, count=source.pick((65, 96)), **place)
    yield pack(Token.INST, inst_type=source.pick((Inst.PC, Inst.PC, Inst.LDS)), **place)
    yield pack(Token.INST_PC, pc=source.bits(16), **place)


def _reset(source: Source) -> Iterator[bytes]:
    """TIME_RESET, some tokens, and its TIME (or another reset)."""
    yield pack(Token.MISC, misc_type=Misc.TIME_RESET, delta=source.pick((255, 255, 0, 3)))
    for _ in range(source.below(4)):
        yield _token(source, source.pick(tuple(Token)))
    if source.below(6):
        yield pack(Token.TIME, timestamp=source.timestamp())


def _packets(source: Source) -> Iterator[bytes]:
    """A code object, a realtime pair or a marker, sometimes on another queue."""
    me_raw, pipe = source.pick((1, 1, 0)), source.pick((0, 0, 1))
    code_object = source.pick((1, 2, 3, packets.FIRST_LONG_ID))
    address, words = source.pick((
        (USERDATA_2, packets.code_object_load(code_object, 0x7F00_0000_0000, 0x2000)),
        (USERDATA_2, packets.code_object_load(code_object, 0x1000, 0x800, from_start=True)),
        (USERDATA_2, packets.code_object_unload(code_object)),
        (USERDATA_2, packets.start_marker()),
        (USERDATA_2, packets.agent_info(100_000, 576)),
        (USERDATA_3, packets.realtime_pair(0x7194_F4F6_6933 + source.bits(8), 0x7194_F4F6_6933)),
        (USERDATA_3, packets.realtime_low(source.bits(32))),
    ))  # fmt: skip
    for word in words:
        yield pack(
            Token.REG, address=address, data=word, reg_type=3, enable=1, me_raw=me_raw, pipe=pipe
        )


def _dispatch(source: Source) -> Iterator[bytes]:
    token = source.pick((Token.REG_CS_PRIV, Token.REG_CS))
    for register, data in (
        (COMPUTE_PGM_LO, 0x17 + source.below(4)),
        (COMPUTE_PGM_HI, source.pick((0x7F, 0))),
        (COMPUTE_DISPATCH_INITIATOR, source.pick((0x825, 0x824))),
    ):
        yield pack(token, register=register, data=data, me_raw=1)


def _zeros(source: Source) -> Iterator[bytes]:
    yield bytes(2 * source.below(64))


_EPISODES = (
    _wave, _wave, _wave, _wave, _reset, _packets, _dispatch, _context_switch, _zeros,
)  # fmt: skip


def synthesize(data: bytes, target_cu: int) -> bytes:
    """Tokens (no header) out of any bytes: whole episodes interleaved with single tokens."""
    source = Source(data, target_cu)
    active: list[Iterator[bytes]] = []
    out = bytearray()
    try:
        while True:
            choice = source.below(16)
            if choice == 0:
                out += _token(source, source.pick(tuple(Token)))
            elif choice < 3 or not active:
                active.append(source.pick(_EPISODES)(source))
            else:
                index = source.below(len(active))
                piece = next(active[index], None)
                if piece is None:
                    del active[index]
                else:
                    out += piece
    except Exhausted:
        return bytes(out)


def headers(target_cu: int) -> st.SearchStrategy[bytes]:
    return st.builds(
        header_bytes,
        target_cu=st.just(target_cu),
        se=st.integers(0, 63),
        simd_mask=st.sampled_from((0xF, 0xF, 0x1, 0x0)),
        legacy_version=st.sampled_from((0x11, 0)),
        gfx9_version2=st.integers(4, 6),
    )


@st.composite
def token_streams(draw: st.DrawFn, max_tokens: int = 400) -> bytes:
    """A stream with a valid header: legal tokens in any order, cut or corrupted at times.

    Covers every token id and MISC type, replays, context switches, packet loss, illegal
    wave slots, truncation at any byte, random bytes, and streams the encoder wrote.
    """
    target_cu = draw(st.sampled_from((1, 0)))
    flavour = draw(st.sampled_from(("tokens", "tokens", "tokens", "written", "noise")))
    if flavour == "written":
        plan = draw(plans(max_waves=3, max_instructions=6))
        plan.target_cu = target_cu
        body = plan.writer().finish()[8:]
    else:
        # Left alone, hypothesis draws about ten bytes: no wave would live long.
        least = draw(st.sampled_from((8, max_tokens, 2 * max_tokens, 3 * max_tokens)))
        body = draw(st.binary(min_size=least, max_size=4 * max_tokens))
        body = body[: max_tokens * 2] if flavour == "noise" else synthesize(body, target_cu)
    body = body or bytes(32)
    if draw(st.integers(0, 3)) == 0:
        body = body[: draw(st.integers(1, len(body)))]
    if draw(st.integers(0, 3)) == 0:
        damaged = bytearray(body)
        positions = st.integers(0, len(body) - 1)
        for at, value in draw(st.lists(st.tuples(positions, st.integers(0, 255)), max_size=8)):
            damaged[at] = value
        body = bytes(damaged)
    return draw(headers(target_cu)) + body
