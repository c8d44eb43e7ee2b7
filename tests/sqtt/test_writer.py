"""StreamWriter's methods, seen through a framing reader of its own."""

import pytest

from tests.support.framing import events
from tracekit.gfx9 import Inst
from tracekit.sqtt import packets
from tracekit.sqtt.layout import (
    COMPUTE_DISPATCH_INITIATOR,
    COMPUTE_PGM_HI,
    COMPUTE_PGM_LO,
    USERDATA_2,
    USERDATA_3,
    IssueState,
    Misc,
    Token,
)
from tracekit.sqtt.writer import StreamWriter


def fields(data: bytes, *names: str) -> list[tuple[int, ...]]:
    return [(s.time, *(s.field(name) for name in names)) for s in events(data)]


def test_dispatch_writes_what_real_captures_have():
    """wave_gemm_bf16_gfx950: registers 7 8 9 c d 2d 12 13 40... 0, the entry shifted by 8."""
    stream = StreamWriter()
    stream.dispatch(
        2000, 0x7F081DC6B700, (256, 2, 1), rsrc1=0xAF0083, rsrc3=7, user_data=(5, 6), pipe=1
    )
    seen = events(stream.finish())
    assert {s.token for s in seen} == {Token.REG_CS_PRIV}
    assert {(s.field("pipe"), s.field("me_raw")) for s in seen} == {(1, 1)}
    writes = [(s.field("register"), s.field("data")) for s in seen]
    assert [register for register, _ in writes] == [
        0x07, 0x08, 0x09, 0x0C, 0x0D, 0x2D, 0x12, 0x13, 0x40, 0x41, 0x00,
    ]  # fmt: skip
    values = dict(writes)
    assert values[COMPUTE_PGM_LO] == 0x081DC6B7
    assert values[COMPUTE_PGM_HI] == 0x7F
    assert values[COMPUTE_DISPATCH_INITIATOR] == 0x825


def test_waves_default_to_the_target_cu():
    stream = StreamWriter(target_cu=5)
    stream.wave_start(2000, 1, 2, count=16, pipe=1, me=1, tg_id=3)
    stream.wave_start(2000, 0, 0, cu=7)
    stream.wave_end(2004, 1, 2)
    seen = events(stream.finish())
    assert [(s.token, s.field("cu"), s.field("simd"), s.field("slot")) for s in seen] == [
        (Token.WAVE_START, 5, 1, 2),
        (Token.WAVE_START, 7, 0, 0),
        (Token.WAVE_END, 5, 1, 2),
    ]
    start = seen[0]
    assert [start.field(n) for n in ("count", "pipe", "me", "tg_id")] == [16, 1, 1, 3]


def test_an_instruction_is_stall_issue_type_and_pc():
    stream = StreamWriter()
    stream.instruction(2008, 1, 3, Inst.PC, stall=2000, next_pc=0x7F0000001700, end=True)
    seen = events(stream.finish())
    assert [s.token for s in seen] == [
        Token.ISSUE, Token.ISSUE, Token.INST, Token.INST_PC, Token.WAVE_END,
    ]  # fmt: skip
    assert (seen[0].time, seen[0].states()) == (2000, {3: IssueState.STALL})
    assert (seen[1].time, seen[1].states()) == (2008, {3: IssueState.INST})
    assert seen[3].field("pc") == 0x7F0000001700 >> 2
    assert seen[2].time == seen[3].time == seen[4].time


def test_markers_counters_and_registers():
    stream = StreamWriter()
    stream.userdata(2000, 1, 2, 0xDEADBEEF, cu=3)
    stream.perf(2004, 4, 1, (1, 2, 3, 0x1FFF))
    stream.reg(2008, 0xC340, 42, pipe=2, me=1)
    stream.reg_cs(2012, 0x7F, 7, privileged=False)
    stream.inst_pc(2016, 1, 2, 0x1704, err=1)
    marker, sample, register, event, pc = events(stream.finish())
    assert [marker.field(n) for n in ("cu", "simd", "slot", "data")] == [3, 1, 2, 0xDEADBEEF]
    assert [sample.field(n) for n in ("cu", "bank", "c0", "c3")] == [4, 1, 1, 0x1FFF]
    assert [register.field(n) for n in ("me_raw", "pipe", "enable", "address", "data")] == [
        0, 2, 1, 0xC340, 42,
    ]  # fmt: skip
    assert (event.token, event.field("register"), event.field("data")) == (Token.REG_CS, 0x7F, 7)
    assert (pc.field("pc"), pc.field("err")) == (0x1704 >> 2, 1)


def test_packets_go_to_their_registers():
    stream = StreamWriter()
    stream.roc_marker(2000)
    stream.agent_info(2004, realtime_khz=100_000)
    stream.code_object_load(2008, 1, 0x1000, 0x2000, from_start=True)
    stream.code_object_unload(2012, 1)
    stream.realtime_pair(2016, 99)
    stream.realtime_low(2020, 100)
    expected = [
        *((2000, USERDATA_2, word) for word in packets.start_marker()),
        *((2004, USERDATA_2, word) for word in packets.agent_info(100_000)),
        *(
            (2008, USERDATA_2, word)
            for word in packets.code_object_load(1, 0x1000, 0x2000, from_start=True)
        ),
        *((2012, USERDATA_2, word) for word in packets.code_object_unload(1)),
        *((2016, USERDATA_3, word) for word in packets.realtime_pair(99)),
        *((2020, USERDATA_3, word) for word in packets.realtime_low(100)),
    ]
    assert fields(stream.finish(), "address", "data") == expected


def test_trace_events():
    stream = StreamWriter()
    stream.tt_stall(2000, 2040)
    stream.packet_lost(2020)
    stream.save_context(2060)
    stream.misc(2080, Misc.SURF_SYNC)
    assert fields(stream.finish(), "misc_type") == [
        (2000, Misc.TT_STALL_BEGIN),
        (2020, Misc.PACKET_LOST),
        (2040, Misc.TT_STALL_END),
        (2060, Misc.SAVE_CONTEXT),
        (2080, Misc.SURF_SYNC),
    ]


def test_finish_may_be_called_again():
    stream = StreamWriter()
    stream.packet_lost(2000)
    assert stream.finish() == stream.finish()
    stream.packet_lost(1996)
    assert [s.time for s in events(stream.finish())] == [1996, 2000]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.issue(2000, 4, 0, IssueState.INST), "SIMDs are 0..3"),
        (lambda w: w.inst(2000, 0, 10, Inst.LDS), "slots 0..9"),
        (lambda w: w.instruction(2000, 0, 0, 32), "INST type 32"),
        (lambda w: w.instruction(2000, 0, 0, Inst.LDS, cost=6), "issue cost 6"),
        (lambda w: w.instruction(2000, 0, 0, Inst.PC, next_pc=2), "multiple of 4"),
        (lambda w: w.dispatch(2000, 0x1701, (64, 1, 1)), "aligned to 256"),
        (lambda w: w.reg(2000, 0xC342, 0, me=2), "me 2"),
        (lambda w: w.token(2000, Token.TIME, timestamp=1), "follow from the event times"),
        (lambda w: w.token(2000, Token.INST, delta=1), "follow from the event times"),
        (lambda w: w.token(2000, Token.MISC), "follow from the event times"),
        (lambda w: w.misc(2000, Misc.TIME_RESET), "follow from the event times"),
    ],
)
def test_what_the_format_cannot_say_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(StreamWriter())
