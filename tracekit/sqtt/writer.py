"""StreamWriter: collects what happened, in any order, and writes the stream of one SE.

    writer = StreamWriter(target_cu=1, se=0)
    writer.code_object_load(1016, 1, address=0x7F00_0000_0000, size=0x2000, from_start=True)
    writer.dispatch(1020, entry=0x7F00_0000_1700, threads=(512, 1, 1))
    writer.wave_start(1100, simd=0, slot=0)
    writer.instruction(1200, simd=0, slot=0, inst_type=Inst.SALU_32)
    ...
    data = writer.finish()

Every method takes ``time`` first: cycles of the stream's clock, a multiple of 4.
Executed waves as a whole: ``wave_writer.write_wave``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracekit.gfx9 import SIMDS, SLOTS, TICK
from tracekit.sqtt import packets
from tracekit.sqtt.encode import header_bytes, token_word
from tracekit.sqtt.layout import (
    COMPUTE_DISPATCH_INITIATOR,
    COMPUTE_NUM_THREAD_X,
    COMPUTE_NUM_THREAD_Y,
    COMPUTE_NUM_THREAD_Z,
    COMPUTE_PGM_HI,
    COMPUTE_PGM_LO,
    COMPUTE_PGM_RSRC1,
    COMPUTE_PGM_RSRC2,
    MAX_LANES,
    TOKEN_BYTES,
    USERDATA_2,
    USERDATA_3,
    IssueState,
    Misc,
    Token,
)
from tracekit.sqtt.serializer import (
    ANY_SLOT,
    FIXED,
    ISSUED,
    LONGEST_COST,
    STATE,
    ClockModel,
    Event,
    serialize,
)

#: Registers that no reader needs but every real dispatch writes.
COMPUTE_PGM_RSRC3 = 0x2D
COMPUTE_USER_DATA_0 = 0x40
#: What real captures write to COMPUTE_DISPATCH_INITIATOR (bit 0: a dispatch starts).
DISPATCH_INITIATOR = 0x825

_REG_TYPE_USERDATA = 3
_INST_ID, _STALL = Token.INST.value, IssueState.STALL.value
_UNTIMED = (Misc.TIME, Misc.TIME_RESET)


class StreamWriter:
    """Events of one shader engine -> the bytes of its ``.att`` file.

    ``target_cu``: the CU whose instructions are traced; ``cu`` arguments default to it.
    ``clock``: absolute base, phase constant and how gaps are written.
    Arguments that do not fit the format raise ValueError at once; times are checked by
    ``finish``.
    """

    def __init__(
        self,
        *,
        target_cu: int = 1,
        se: int = 0,
        simd_mask: int = 0xF,
        clock: ClockModel | None = None,
    ) -> None:
        self.clock = ClockModel() if clock is None else clock
        self.target_cu = target_cu
        self.header = header_bytes(target_cu=target_cu, se=se, simd_mask=simd_mask)
        self._events: list[Event] = []

    def finish(self) -> bytes:
        """Header, all events so far in time order, padding to blocks of 32 bytes.

        May be called again after more events.  Raises ValueError as ``serialize`` does.
        """
        return serialize(self.header, self._events, self.clock)

    def extend(self, events: Iterable[Event]) -> None:
        """Add events as ``serializer`` describes them (for writers of whole waves)."""
        self._events.extend(events)

    # Waves and instructions.

    def wave_start(  # noqa: PLR0913 - fields of the tokens
        self,
        time: int,
        simd: int,
        slot: int,
        *,
        cu: int | None = None,
        count: int = MAX_LANES,
        pipe: int = 0,
        me: int = 0,
        sh: int = 0,
        tg_id: int = 0,
    ) -> None:
        """A wave of ``count`` lanes; above 64: its relaunch by a context restore."""
        fields = {"count": count, "pipe": pipe, "me": me, "sh": sh, "tg_id": tg_id}
        cu = self.target_cu if cu is None else cu
        self._of_slot(time, Token.WAVE_START, simd, slot, cu=cu, **fields)

    def wave_end(
        self, time: int, simd: int, slot: int, *, cu: int | None = None, sh: int = 0
    ) -> None:
        """The hardware ends a wave no earlier than the INST token of its last instruction."""
        cu = self.target_cu if cu is None else cu
        self._of_slot(time, Token.WAVE_END, simd, slot, cu=cu, sh=sh)

    def issue(self, time: int, simd: int, slot: int, state: IssueState) -> None:
        """One slot's state; those of one SIMD and time become one ISSUE token."""
        check_slot(simd, slot)
        self._events.append((time, simd * 16 + slot, STATE, int(state), 0, ()))

    def inst(self, time: int, simd: int, slot: int, inst_type: int) -> None:
        """An INST token at exactly ``time`` (``instruction`` computes that time)."""
        self._of_slot(time, Token.INST, simd, slot, inst_type=inst_type)

    def instruction(  # noqa: PLR0913 - fields of the tokens
        self,
        time: int,
        simd: int,
        slot: int,
        inst_type: int,
        *,
        cost: int = TICK,
        stall: int | None = None,
        next_pc: int | None = None,
        end: bool = False,
    ) -> None:
        """An instruction that issues at ``time``: ISSUE and INST token, at their distance.

        The INST token comes ``inst_lag`` + ``cost`` - 4 cycles later, so that a decoder
        with the exact phase finds ``cost`` again.  ``stall``: time of the first refused
        attempt (ISSUE state STALL).  ``next_pc``: byte address in an INST_PC token after
        it; ``end``: WAVE_END after it, both at the time of the INST token.
        """
        check_slot(simd, slot)
        if not 0 <= inst_type < 32:
            raise ValueError(f"INST type {inst_type} is not 0..31")
        if cost % TICK or not TICK <= cost <= LONGEST_COST:
            raise ValueError(f"issue cost {cost} is not a multiple of 4 in 4..{LONGEST_COST}")
        tail: tuple[tuple[int, int], ...] = ()
        if next_pc is not None:
            tail += (inst_pc_token(simd, slot, next_pc),)
        if end:
            tail += (wave_end_token(simd, slot, self.target_cu),)
        key = simd * 16 + slot
        if stall is not None:
            self._events.append((stall, key, STATE, _STALL, 0, ()))
        word = _INST_ID | slot << 5 | simd << 9 | inst_type << 11
        self._events.append((time, key, ISSUED, word, cost, tail))

    def inst_pc(self, time: int, simd: int, slot: int, pc: int, *, err: int = 0) -> None:
        """The byte address at which a wave goes on (after a restore, or a lost jump)."""
        self._of_slot(time, Token.INST_PC, simd, slot, pc=_words(pc), err=err)

    def userdata(  # noqa: PLR0913 - fields of the tokens
        self, time: int, simd: int, slot: int, value: int, *, cu: int | None = None, sh: int = 0
    ) -> None:
        """The 32-bit value of an s_ttracedata, from any CU of the engine."""
        cu = self.target_cu if cu is None else cu
        self._of_slot(time, Token.USERDATA, simd, slot, data=value, cu=cu, sh=sh)

    def perf(self, time: int, cu: int, bank: int, counters: Sequence[int], *, sh: int = 0) -> None:
        """Four 13-bit counters of a CU; readers place the sample 4 * ``cu`` cycles earlier."""
        c0, c1, c2, c3 = counters
        self.token(time, Token.PERF, cu=cu, bank=bank, sh=sh, c0=c0, c1=c1, c2=c2, c3=c3)

    # Registers and software packets.  me 0 is coded 1 in register tokens.

    def reg(self, time: int, address: int, data: int, *, pipe: int = 0, me: int = 0) -> None:
        """A UCONFIG register write, such as ``layout.USERDATA_2``."""
        self.token(
            time,
            Token.REG,
            pipe=pipe,
            me_raw=_me_raw(me),
            reg_type=_REG_TYPE_USERDATA,
            enable=1,
            address=address,
            data=data,
        )

    def reg_cs(  # noqa: PLR0913 - fields of the tokens
        self,
        time: int,
        register: int,
        data: int,
        *,
        pipe: int = 0,
        me: int = 0,
        privileged: bool = True,
    ) -> None:
        """A compute register write; dispatches are privileged, event writes (0x7f) are not."""
        token = Token.REG_CS_PRIV if privileged else Token.REG_CS
        self.token(time, token, pipe=pipe, me_raw=_me_raw(me), register=register, data=data)

    def dispatch(  # noqa: PLR0913 - fields of the tokens
        self,
        time: int,
        entry: int,
        threads: tuple[int, int, int],
        *,
        rsrc1: int = 0,
        rsrc2: int = 0,
        rsrc3: int = 0,
        user_data: Sequence[int] = (),
        pipe: int = 0,
        me: int = 0,
    ) -> None:
        """A kernel launch: the register writes of real captures, in their order.

        ``entry``: byte address of the first instruction, 256-byte aligned; ``threads``:
        workgroup size.  Waves that start later on this pipe and me begin at ``entry``.
        """
        if entry % 256 or not 0 <= entry < 1 << 48:
            raise ValueError(f"entry {entry:#x} is no 48-bit address aligned to 256 bytes")
        x, y, z = threads
        writes = [
            (COMPUTE_NUM_THREAD_X, x),
            (COMPUTE_NUM_THREAD_Y, y),
            (COMPUTE_NUM_THREAD_Z, z),
            (COMPUTE_PGM_LO, entry >> 8 & 0xFFFFFFFF),
            (COMPUTE_PGM_HI, entry >> 40),
            (COMPUTE_PGM_RSRC3, rsrc3),
            (COMPUTE_PGM_RSRC1, rsrc1),
            (COMPUTE_PGM_RSRC2, rsrc2),
            *((COMPUTE_USER_DATA_0 + i, value) for i, value in enumerate(user_data)),
            (COMPUTE_DISPATCH_INITIATOR, DISPATCH_INITIATOR),
        ]
        for register, value in writes:
            self.reg_cs(time, register, value, pipe=pipe, me=me)

    def roc_marker(self, time: int) -> None:
        """The start of ROCm's packets (its absence is normal)."""
        self._packet(time, USERDATA_2, packets.start_marker())

    def agent_info(
        self, time: int, *, realtime_khz: int | None = None, counter_interval: int | None = None
    ) -> None:
        """Frequency of the realtime clock; cycles between two samples of a counter."""
        self._packet(time, USERDATA_2, packets.agent_info(realtime_khz, counter_interval))

    def code_object_load(
        self, time: int, code_object: int, address: int, size: int, *, from_start: bool = False
    ) -> None:
        """Code object ``code_object`` (1 or more) lies at [address, address + size)."""
        words = packets.code_object_load(code_object, address, size, from_start=from_start)
        self._packet(time, USERDATA_2, words)

    def code_object_unload(self, time: int, code_object: int) -> None:
        self._packet(time, USERDATA_2, packets.code_object_unload(code_object))

    def realtime_pair(self, time: int, realtime: int, *, earlier: int | None = None) -> None:
        """The realtime counter reads ``realtime`` at ``time``."""
        self._packet(time, USERDATA_3, packets.realtime_pair(realtime, earlier))

    def realtime_low(self, time: int, realtime: int) -> None:
        """The same with the low 32 bits alone, as newer tools do between two pairs."""
        self._packet(time, USERDATA_3, packets.realtime_low(realtime))

    # Trace events.

    def misc(self, time: int, kind: Misc) -> None:
        """A MISC token that is not about time, such as PACKET_LOST or SAVE_CONTEXT."""
        self.token(time, Token.MISC, misc_type=kind)

    def tt_stall(self, begin: int, end: int) -> None:
        """The trace held the shaders back from ``begin`` to ``end``."""
        self.misc(begin, Misc.TT_STALL_BEGIN)
        self.misc(end, Misc.TT_STALL_END)

    def packet_lost(self, time: int) -> None:
        self.misc(time, Misc.PACKET_LOST)

    def save_context(self, time: int) -> None:
        self.misc(time, Misc.SAVE_CONTEXT)

    def token(self, time: int, token: Token, **fields: int) -> None:
        """Any token but those that carry the time (TIME, MISC TIME and TIME_RESET, deltas).

        It keeps its place among the events of its time: nothing is moved past it.
        """
        if token == Token.TIME or "delta" in fields:
            raise ValueError("deltas and TIME tokens follow from the event times")
        if token == Token.MISC and fields.get("misc_type", Misc.TIME) in _UNTIMED:
            raise ValueError("MISC TIME and TIME_RESET follow from the event times")
        word = token_word(token, **fields)
        self._events.append((time, ANY_SLOT, FIXED, word, TOKEN_BYTES[token], ()))

    def _of_slot(self, time: int, token: Token, simd: int, slot: int, **fields: int) -> None:
        check_slot(simd, slot)
        word = token_word(token, simd=simd, slot=slot, **fields)
        self._events.append((time, simd * 16 + slot, FIXED, word, TOKEN_BYTES[token], ()))

    def _packet(self, time: int, register: int, words: Sequence[int]) -> None:
        for word in words:
            self.reg(time, register, word)


def check_slot(simd: int, slot: int) -> None:
    """Raises ValueError for a SIMD or wave slot that the format calls illegal."""
    if not 0 <= simd < SIMDS or not 0 <= slot < SLOTS:
        raise ValueError(f"no SIMD {simd} slot {slot}: SIMDs are 0..3, slots 0..9")


def inst_pc_token(simd: int, slot: int, pc: int) -> tuple[int, int]:
    """INST_PC as (word, bytes); ``pc`` is a byte address."""
    word = token_word(Token.INST_PC, slot=slot, simd=simd, pc=_words(pc))
    return word, TOKEN_BYTES[Token.INST_PC]


def wave_end_token(simd: int, slot: int, cu: int) -> tuple[int, int]:
    """WAVE_END as (word, bytes)."""
    word = token_word(Token.WAVE_END, slot=slot, simd=simd, cu=cu)
    return word, TOKEN_BYTES[Token.WAVE_END]


def _words(pc: int) -> int:
    if pc % 4:
        raise ValueError(f"pc {pc:#x} is not a multiple of 4")
    return pc >> 2


def _me_raw(me: int) -> int:
    if me not in (0, 1):
        raise ValueError(f"me {me} is not 0 or 1")
    return 1 - me
