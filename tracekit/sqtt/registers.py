"""What register writes in the stream say: code objects, dispatches, start PCs, clock pairs.

REG tokens carry the writes of rocprofv3's software packets to USERDATA_2 and USERDATA_3,
REG_CS and REG_CS_PRIV those of the dispatches.  Both are broadcast: every SE has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import REALTIME_HZ
from tracekit.sqtt import layout
from tracekit.sqtt.layout import FIELDS, Token
from tracekit.sqtt.raw import RawStream

#: Greatest code object id that the tables hold; rocprofiler counts them from 1.
MAX_ID = (1 << 31) - 1
#: Past the end of any stream.
FOREVER = 1 << 62


@dataclass
class LoadedObject:
    """A code object in memory: ``since``/``until`` are byte offsets in the stream."""

    id: int
    address: int
    size: int
    from_start: bool
    since: int
    until: int = FOREVER

    def holds(self, pc: int) -> bool:
        return self.address <= pc < self.address + self.size


@dataclass(frozen=True)
class DispatchRecord:
    """A write to COMPUTE_DISPATCH_INITIATOR with the registers as they stood."""

    offset: int
    time: int
    me: int
    pipe: int
    pc: int
    threads: tuple[int, int, int]
    lds_bytes: int
    vgprs: int
    user_sgprs: int
    scratch: bool


@dataclass
class Registers:
    """Everything found, in stream order."""

    objects: list[LoadedObject] = field(default_factory=list)
    dispatches: list[DispatchRecord] = field(default_factory=list)
    realtime: list[tuple[int, int]] = field(default_factory=list)  # (stream time, counter)
    realtime_hz: int = REALTIME_HZ
    counter_interval: int = 0
    roc_marker: bool = False
    #: (me, pipe) -> (offsets, start PCs in force from there on)
    pcs: dict[tuple[int, int], tuple[list[int], list[int]]] = field(default_factory=dict)

    def start_pcs(self, offset: NDArray[np.int64], raw: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Start PC of WAVE_START tokens: last COMPUTE_PGM of their ME and pipe; 0 unknown."""
        fields = FIELDS[Token.WAVE_START]
        me = (raw >> np.uint64(fields["me"].shift)).astype(np.int64) & 1
        pipe = (raw >> np.uint64(fields["pipe"].shift)).astype(np.int64) & 3
        result = np.zeros(len(offset), np.int64)
        for (at_me, at_pipe), (offsets, pcs) in self.pcs.items():
            mine = (me == at_me) & (pipe == at_pipe)
            at = np.searchsorted(np.array(offsets, np.int64), offset[mine]) - 1
            result[mine] = np.where(at >= 0, np.array(pcs, np.int64)[at], 0)
        return result

    def dispatch_of(self, offset: NDArray[np.int64], raw: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Ordinal of the dispatch that launched each WAVE_START; -1 when before the trace."""
        fields = FIELDS[Token.WAVE_START]
        me = (raw >> np.uint64(fields["me"].shift)).astype(np.int64) & 1
        pipe = (raw >> np.uint64(fields["pipe"].shift)).astype(np.int64) & 3
        result = np.full(len(offset), -1, np.int64)
        for at_me, at_pipe in {(d.me, d.pipe) for d in self.dispatches}:
            own = [i for i, d in enumerate(self.dispatches) if (d.me, d.pipe) == (at_me, at_pipe)]
            offsets = np.array([self.dispatches[i].offset for i in own], np.int64)
            mine = (me == at_me) & (pipe == at_pipe)
            at = np.searchsorted(offsets, offset[mine]) - 1
            result[mine] = np.where(at >= 0, np.array(own, np.int64)[at], -1)
        return result

    def resolve(self, pc: int, offset: int) -> tuple[int, int]:
        """(code object id, vaddr) of an address at a point of the stream.

        Objects loaded then, else those loaded from the start; (0, pc) when none holds it.
        """
        for found in self.objects:
            if found.since <= offset < found.until and found.holds(pc):
                return found.id, pc - found.address
        for found in self.objects:
            if found.from_start and found.holds(pc):
                return found.id, pc - found.address
        return 0, pc


class _CodeObjects:
    """The USERDATA_2 packet machine: load and unload records of code objects.

    Without the start marker only well-formed records count (the order aqlprofile uses),
    because other tools write other words to the same register.
    """

    ORDER = (
        layout.CODE_OBJECT_ADDR_LO, layout.CODE_OBJECT_ADDR_HI,
        layout.CODE_OBJECT_SIZE_LO, layout.CODE_OBJECT_SIZE_HI,
    )  # fmt: skip
    IDS = (layout.CODE_OBJECT_ID_LO, layout.CODE_OBJECT_ID_HI)

    def __init__(self, found: Registers) -> None:
        self.found = found
        self.waiting: int | None = None  # type whose payload comes next
        self.parts: dict[int, int] = {}
        self.active: dict[int, LoadedObject] = {}

    def word(self, word: int, offset: int) -> None:
        if self.waiting is not None:
            kind, self.waiting = self.waiting, None
            if kind == layout.CODE_OBJECT_TAIL:
                self._commit(word, offset)
            else:
                self.parts.pop(kind, None)  # keep the order of last writes
                self.parts[kind] = word
            return
        if word == layout.ROC_MARKER:
            self.found.roc_marker = True
            return
        opcode, kind, value = word & 0xFF, word >> 8 & 0xF, word >> 12
        if opcode == layout.PACKET_CODE_OBJECT and kind <= layout.CODE_OBJECT_ID_HI and not value:
            self.waiting = kind
        elif opcode == layout.PACKET_AGENT_INFO and kind == 0 and value:
            self.found.realtime_hz = value * 1000
        elif opcode == layout.PACKET_AGENT_INFO and kind == 1:
            self.found.counter_interval = value

    def _commit(self, tail: int, offset: int) -> None:
        parts, self.parts = self.parts, {}
        ids = parts.get(layout.CODE_OBJECT_ID_LO, 0) | parts.get(layout.CODE_OBJECT_ID_HI, 0) << 32
        number = tail >> 2 or ids
        if tail & 1:
            if number in self.active:
                self.active.pop(number).until = offset
            return
        order = tuple(parts)
        if not self.found.roc_marker and order not in (self.ORDER, self.ORDER + self.IDS):
            return
        if number in self.active or number > MAX_ID:
            return
        address = parts.get(layout.CODE_OBJECT_ADDR_LO, 0)
        address |= parts.get(layout.CODE_OBJECT_ADDR_HI, 0) << 32
        size = parts.get(layout.CODE_OBJECT_SIZE_LO, 0)
        size |= parts.get(layout.CODE_OBJECT_SIZE_HI, 0) << 32
        loaded = LoadedObject(number, address, size, bool(tail & 2), offset)
        self.active[number] = loaded
        self.found.objects.append(loaded)


class _Realtime:
    """The USERDATA_3 packet machine: pairs of stream time and GPU realtime counter."""

    def __init__(self, found: Registers) -> None:
        self.found = found
        self.skip = 0
        self.wanted = 0
        self.low_only = False
        self.words: list[int] = []
        self.high = 0
        self.previous_low = 0

    def word(self, word: int, time: int) -> None:
        if self.skip:
            self.skip -= 1
        elif self.wanted:
            self.words.append(word)
            if len(self.words) == self.wanted:
                self._commit(time)
        else:
            opcode, count = word & 0xFF, word >> 12
            self.words = []
            if opcode == layout.PACKET_REALTIME:
                self.wanted, self.low_only = count or 3, False
            elif opcode == layout.PACKET_REALTIME_LO32:
                self.wanted, self.low_only = count or 1, True
            else:
                self.skip = count

    def _commit(self, time: int) -> None:
        words, self.wanted = self.words, 0
        if self.low_only:
            low = words[0]
        elif len(words) >= 3:
            self.previous_low, self.high, low = words[0], words[1], words[2]
        else:
            return
        if low < self.previous_low:
            self.high += 1
        self.previous_low = low
        if self.high >> 31:  # no clock runs for 2900 years: words that are no realtime pair
            return
        self.found.realtime.append((time, self.high << 32 | low))


def read_registers(raw: RawStream) -> Registers:
    """Interpret the register writes of a stream."""
    found = Registers()
    packets: dict[tuple[int, int], _CodeObjects] = {}
    clocks: dict[tuple[int, int], _Realtime] = {}
    registers: dict[tuple[int, int], dict[int, int]] = {}
    kind = raw.side_raw & np.uint64(15)
    wanted = np.isin(kind, (Token.REG, Token.REG_CS, Token.REG_CS_PRIV))
    for offset, time, word in zip(
        raw.side_offset[wanted].tolist(),
        raw.side_time[wanted].tolist(),
        raw.side_raw[wanted].tolist(),
        strict=True,
    ):
        token = Token(word & 15)
        fields = FIELDS[token]
        source = ((fields["me_raw"].read(word) + 1) & 1, fields["pipe"].read(word))
        data = fields["data"].read(word)
        if token is Token.REG:
            address = fields["address"].read(word)
            if address == layout.USERDATA_2:
                packets.setdefault(source, _CodeObjects(found)).word(data, offset)
            elif address == layout.USERDATA_3:
                clocks.setdefault(source, _Realtime(found)).word(data, time)
            continue
        register = fields["register"].read(word)
        values = registers.setdefault(source, {})
        values[register] = data
        if register in (layout.COMPUTE_PGM_LO, layout.COMPUTE_PGM_HI):
            offsets, pcs = found.pcs.setdefault(source, ([], []))
            offsets.append(offset)
            pcs.append(_pc(values))
        elif register == layout.COMPUTE_DISPATCH_INITIATOR and data & 1:
            found.dispatches.append(_dispatch(offset, time, source, values))
    return found


def _pc(values: dict[int, int]) -> int:
    high, low = values.get(layout.COMPUTE_PGM_HI, 0), values.get(layout.COMPUTE_PGM_LO, 0)
    return (high << 32 | low) << 8 & (1 << 48) - 1


def _dispatch(
    offset: int, time: int, source: tuple[int, int], values: dict[int, int]
) -> DispatchRecord:
    rsrc1 = values.get(layout.COMPUTE_PGM_RSRC1, 0)
    rsrc2 = values.get(layout.COMPUTE_PGM_RSRC2, 0)
    return DispatchRecord(
        offset=offset,
        time=time,
        me=source[0],
        pipe=source[1],
        pc=_pc(values),
        # Bits 31:16 are the size of a partial workgroup (NUM_THREAD_PARTIAL).
        threads=(
            values.get(layout.COMPUTE_NUM_THREAD_X, 0) & 0xFFFF,
            values.get(layout.COMPUTE_NUM_THREAD_Y, 0) & 0xFFFF,
            values.get(layout.COMPUTE_NUM_THREAD_Z, 0) & 0xFFFF,
        ),
        lds_bytes=(rsrc2 >> 15 & 0x1FF) * 512,
        vgprs=(rsrc1 & 0x3F) * 8 + 8,
        user_sgprs=rsrc2 >> 1 & 0x1F,
        scratch=bool(rsrc2 & 1),
    )
