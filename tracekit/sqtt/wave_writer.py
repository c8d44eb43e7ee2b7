"""Executed waves to tokens: what a simulator or a test hands over, one record an instruction.

write_wave(writer, simd=0, slot=0, begin=1100, instructions=[
    Executed(Inst.SALU_32, 1500),
    Executed(Inst.VALU_MAI, 1508, stall=1504),     # refused once, issues at 1508
    Executed(Inst.VALU_32, 1516, cost=8),          # v_exp_f32
    immediate(1524),                               # s_waitcnt, done at 1524
    barrier(1528, release=1600),
    Executed(Inst.JUMP, 1604),
    endpgm(1624),
])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tracekit.gfx9 import INST_IMMED, TICK, Inst
from tracekit.sqtt.layout import MAX_LANES, IssueState, Token
from tracekit.sqtt.serializer import ISSUED, LONGEST_COST, STATE, Event, inst_lag
from tracekit.sqtt.writer import StreamWriter, check_slot, inst_pc_token, wave_end_token

#: ``end``: at the INST token of the last instruction, as the hardware does.
WITH_LAST: Final = -1

_STALL, _IMMED = IssueState.STALL.value, IssueState.IMMED.value


class Executed(NamedTuple):
    """One executed instruction.

    ``type``: gfx9.Inst, or INST_IMMED for what the stream shows by its completion
    alone (s_waitcnt, s_nop, s_setprio).  ``time``: issue, or that completion.
    ``cost``: cycles until the wave may go on (4, 8, 12, 20).  ``stall``: first refused
    attempt.  ``release``: of an s_barrier (type OTHER_MSG).  ``next_pc``: byte address
    after an indirect jump (type PC).  A v_mfma_scale is one VALU_MAI record, issued with
    its MFMA half.
    """

    type: int
    time: int
    cost: int = TICK
    stall: int | None = None
    release: int | None = None
    next_pc: int | None = None

    @property
    def end(self) -> int:
        """When the next instruction of the wave may issue, at the earliest."""
        if self.release is not None:
            return self.release + TICK
        return self.time + (TICK if self.type == INST_IMMED else self.cost)


def immediate(completion: int) -> Executed:
    """s_waitcnt, s_nop, s_setprio ...: one ISSUE state IMMED when it is done."""
    return Executed(INST_IMMED, completion)


def barrier(arrive: int, release: int, stall: int | None = None) -> Executed:
    """s_barrier: issues like an instruction, released by an IMMED state."""
    return Executed(Inst.OTHER_MSG, arrive, stall=stall, release=release)


def endpgm(issue: int, stall: int | None = None) -> Executed:
    """s_endpgm."""
    return Executed(Inst.OTHER_MSG, issue, stall=stall)


def write_wave(  # noqa: C901, PLR0913, PLR0915 - a wave's tokens in one pass, fields by keyword
    writer: StreamWriter,
    simd: int,
    slot: int,
    begin: int | None,
    instructions: Iterable[Executed],
    *,
    end: int | None = WITH_LAST,
    count: int = MAX_LANES,
    pipe: int = 0,
    me: int = 0,
) -> None:
    """Write one wave of the target CU.

    ``begin``: WAVE_START; None if it ran before the trace began.  ``end``: WAVE_END;
    None if it still runs at the end of the stream.  ``pipe`` and ``me`` say which
    dispatch it belongs to.

    Raises ValueError where the stream could not tell the records apart again: an
    instruction or a STALL before the end of its predecessor, a STALL on or before an
    IMMED, a ``release`` on another type than OTHER_MSG, a ``next_pc`` on another than PC,
    an ``end`` before the last INST token can have come.  Waves that share a slot must
    not overlap; that is not checked.
    """
    check_slot(simd, slot)
    if begin is not None:
        writer.wave_start(begin, simd, slot, count=count, pipe=pipe, me=me)
    records = list(instructions)
    last = records[-1] if records else None
    with_last = end == WITH_LAST and last is not None and _ends_wave(last)
    events: list[Event] = []
    key = simd * 16 + slot
    inst = Token.INST | slot << 5 | simd << 9
    ready = 0 if begin is None else begin
    for record in records:
        kind, time, cost, stall, release, next_pc = record
        if stall is None:
            if time < ready:
                raise _problem(record, ready)
        else:
            if not ready <= stall < time:
                raise _problem(record, ready)
            events.append((stall, key, STATE, _STALL, 0, ()))
        if kind == INST_IMMED:
            if stall is not None or release is not None or next_pc is not None:
                raise _problem(record, ready)
            events.append((time, key, STATE, _IMMED, 0, ()))
            ready = time + TICK
            continue
        if not 0 <= kind < 32 or not TICK <= cost <= LONGEST_COST or cost % TICK:
            raise _problem(record, ready)
        tail: tuple[tuple[int, int], ...] = ()
        if next_pc is not None:
            if kind != Inst.PC:
                raise _problem(record, ready)
            tail = (inst_pc_token(simd, slot, next_pc),)
        if with_last and record is last:
            tail += (wave_end_token(simd, slot, writer.target_cu),)
        events.append((time, key, ISSUED, inst | kind << 11, cost, tail))
        if release is None:
            ready = time + cost
        else:
            if kind != Inst.OTHER_MSG or release < time + cost:
                raise _problem(record, ready)
            events.append((release, key, STATE, _IMMED, 0, ()))
            ready = release + TICK
    writer.extend(events)
    if end is None or with_last:
        return
    if end == WITH_LAST:
        if last is None:
            raise ValueError("a wave without instructions needs the time of its end")
        end = last.end
    elif last is not None and end < _latest_token(last):
        raise ValueError(
            f"end {end}: the INST token of the instruction at {last.time} may come as late "
            f"as {_latest_token(last)}; leave the end to the writer"
        )
    writer.wave_end(end, simd, slot)


def _ends_wave(last: Executed) -> bool:
    """Whether the last token of ``last`` is an INST token, so that WAVE_END can follow it."""
    return last.type != INST_IMMED and last.release is None


def _problem(record: Executed, ready: int) -> ValueError:
    """Why a record cannot be written, given the end of its predecessor."""
    kind, time, cost, stall, release, next_pc = record
    if (time if stall is None else stall) < ready:
        reason = f"begins before its predecessor ended at {ready}"
    elif stall is not None and (stall >= time or kind == INST_IMMED):
        reason = "a STALL comes before an issue, and never before an IMMED"
    elif release is not None and (kind != Inst.OTHER_MSG or release < time + cost):
        reason = "only an s_barrier is released, after it arrived"
    elif next_pc is not None:
        reason = "only an indirect jump (type PC) tells the next address"
    elif not 0 <= kind < 32:
        reason = "its type is no gfx9.Inst and not INST_IMMED"
    else:
        reason = f"an issue costs 4..{LONGEST_COST} cycles, a multiple of 4"
    return ValueError(f"{record}: {reason}")


def _latest_token(record: Executed) -> int:
    """Time of the record's last token in the worst phase."""
    if record.type == INST_IMMED:
        return record.time
    if record.release is not None:
        return max(record.release, record.time + TICK)
    return record.time + inst_lag(3, record.type) + record.cost - TICK
