"""Times to deltas and resets, and the order of tokens inside a tick."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.framing import events, frames, read
from tests.support.strategies import clocks
from tracekit.gfx9 import Inst
from tracekit.sqtt.layout import IssueState, Misc, Token
from tracekit.sqtt.serializer import FIRST_TIME, LONGEST_DELTA, ClockModel, inst_lag
from tracekit.sqtt.writer import StreamWriter

TICKS = st.integers(0, 3000)


def writer(**clock: object) -> StreamWriter:
    return StreamWriter(clock=ClockModel(**clock))  # type: ignore[arg-type]


@given(clocks(), st.lists(st.tuples(TICKS, st.integers(0, 255)), max_size=30))
def test_any_events_keep_their_time_and_order(clock, marks):
    stream = StreamWriter(clock=clock)
    for tick, value in marks:
        stream.reg_cs(clock.start + 4 * tick, 0x40, value)
    data = stream.finish()
    expected = [(clock.start + 4 * t, v) for t, v in sorted(marks, key=lambda m: m[0])]
    assert [(s.time, s.field("data")) for s in events(data)] == expected
    assert (len(data) - 8) % 32 == 0


@given(clocks(), st.lists(TICKS, min_size=1, max_size=30))
def test_absolute_time_follows_from_base(clock, ticks):
    """Every timestamp is base + time of its reset, low bits as asked."""
    stream = StreamWriter(clock=clock)
    for tick in ticks:
        stream.packet_lost(clock.start + 4 * tick)
    seen = read(stream.finish())
    resets = [s.time for s in seen if s.token == Token.MISC and s.kind == Misc.TIME_RESET]
    stamps = [s.field("timestamp") for s in seen if s.token == Token.TIME]
    assert stamps[0] == clock.base + clock.start
    low = [clock.subticks[i % len(clock.subticks)] for i in range(len(stamps) - 1)]
    assert stamps[1:] == [clock.base + t + s for t, s in zip(resets[1:], low, strict=True)]


def test_opening_equals_the_hardware():
    """tinygrad_gemm_gfx950, SE 0: reset, TIME 2498294742355, clock 1016."""
    data = writer(base=2498294742355 - FIRST_TIME).finish()
    assert data[8:].hex().startswith("f02f" + "0100537df8ad4502" + "0000")
    assert [s.time for s in read(data)][:3] == [FIRST_TIME] * 3


@pytest.mark.parametrize(
    ("gap", "token_deltas", "expected"),
    [
        (0, True, [(Token.REG_CS, 0)]),
        (4, True, [(Token.REG_CS, 1)]),
        (4, False, [(Token.MISC, 1), (Token.REG_CS, 0)]),
        (1020, True, [(Token.MISC, 255), (Token.REG_CS, 0)]),
    ],
)
def test_short_gaps_are_deltas(gap, token_deltas, expected):
    stream = writer(base=None, token_deltas=token_deltas)
    stream.reg_cs(gap, 0x7F, 7, privileged=False)
    found = [(t, w >> 4 & (255 if t == Token.MISC else 1)) for t, w in frames(stream.finish())]
    assert found[: len(expected)] == expected


@pytest.mark.parametrize("before", [0, 1, 2, 5])
def test_long_gaps_are_resets_with_tokens_before_their_time(before):
    stream = writer(tokens_before_time=before)
    for value in range(3):
        stream.reg_cs(FIRST_TIME + 1024, 0x40, value)
    tokens = [token for token, _ in frames(stream.finish())][2:]
    expected = [Token.MISC, *[Token.REG_CS_PRIV] * 3]
    expected.insert(1 + min(before, 3), Token.TIME)
    assert tokens[:5] == expected


def test_longer_gaps_can_be_chained_deltas():
    stream = writer(longest_delta=3 * LONGEST_DELTA)
    stream.reg_cs(FIRST_TIME + 2 * LONGEST_DELTA + 8, 0x40, 0)
    stream.reg_cs(FIRST_TIME + 5 * LONGEST_DELTA + 12, 0x40, 0)
    words = [w for t, w in frames(stream.finish()) if t in (Token.MISC, Token.TIME)][2:]
    assert [w >> 4 & 0xFF for w in words[:3]] == [255, 255, 2]
    assert words[3] >> 13 == Misc.TIME_RESET


def test_a_stream_can_start_in_mid_air():
    stream = writer(base=None)
    stream.reg_cs(8, 0x40, 1)
    stream.reg_cs(9000, 0x40, 2)
    data = stream.finish()
    assert [(s.time, s.field("data")) for s in events(data)] == [(8, 1), (9000, 2)]
    assert Token.TIME not in [token for token, _ in frames(data)]


def test_states_of_one_simd_and_time_share_a_token():
    stream = writer()
    for slot, simd in ((0, 0), (3, 0), (0, 1), (9, 0)):
        stream.issue(2000, simd, slot, IssueState.STALL)
    issues = [(s.field("simd"), s.states()) for s in events(stream.finish())]
    stalled = IssueState.STALL
    assert issues == [(0, {0: stalled, 3: stalled, 9: stalled}), (1, {0: stalled})]


def test_states_are_gathered_across_tokens_of_other_slots():
    """Slot 1's state moves up past slot 0's INST token, but not past slot 1's own tokens."""
    stream = writer()
    stream.issue(2000, 0, 0, IssueState.INST)
    stream.inst(2000, 0, 0, Inst.LDS)
    stream.inst(2000, 0, 1, Inst.SALU_32)
    stream.issue(2000, 0, 1, IssueState.INST)
    stream.inst(2000, 0, 1, Inst.LDS)
    seen = events(stream.finish())
    assert [s.token for s in seen] == [Token.INST, Token.ISSUE, Token.INST, Token.INST]
    assert seen[0].field("inst_type") == Inst.SALU_32
    assert seen[1].states() == {0: IssueState.INST, 1: IssueState.INST}


def test_two_states_of_one_slot_stay_two_tokens():
    stream = writer()
    stream.issue(2000, 0, 0, IssueState.STALL)
    stream.issue(2000, 0, 0, IssueState.INST)
    states = [s.states() for s in events(stream.finish())]
    assert states == [{0: IssueState.STALL}, {0: IssueState.INST}]


def test_nothing_passes_a_token_that_concerns_all_waves():
    stream = writer()
    stream.issue(2000, 0, 0, IssueState.INST)
    stream.packet_lost(2000)
    stream.issue(2000, 0, 1, IssueState.INST)
    assert [s.token for s in events(stream.finish())] == [Token.ISSUE, Token.MISC, Token.ISSUE]


def test_waves_start_and_end_in_the_given_order():
    stream = writer()
    stream.issue(2000, 0, 0, IssueState.INST)
    stream.inst(2000, 0, 0, Inst.OTHER_MSG)
    stream.wave_end(2000, 0, 0)
    stream.wave_start(2000, 0, 0)
    stream.wave_end(2000, 3, 5, cu=2)
    stream.wave_start(2000, 1, 0)
    tokens = [(s.token, s.field("simd")) for s in events(stream.finish())]
    assert tokens == [
        (Token.ISSUE, 0),
        (Token.INST, 0),
        (Token.WAVE_END, 0),
        (Token.WAVE_START, 0),
        (Token.WAVE_END, 3),
        (Token.WAVE_START, 1),
    ]


@pytest.mark.parametrize("subtick", range(4))
@pytest.mark.parametrize("phase", range(4))
@pytest.mark.parametrize("kind", [Inst.SALU_32, Inst.VALU_MAI, Inst.LDS, Inst.FLAT_RD])
def test_inst_tokens_follow_the_phase_of_their_epoch(phase, subtick, kind):
    """lag = 4 * floor((ph + off) / 4), ph = (c - TS + simd) mod 4, + cost - 4."""
    offset = {Inst.SALU_32: 5, Inst.VALU_MAI: 2, Inst.LDS: 1, Inst.FLAT_RD: 1}[kind]
    stream = writer(base=1 << 40, phase=phase, subticks=(subtick,))
    first, second = FIRST_TIME + 100, FIRST_TIME + 5000
    for time in (first, second):
        for simd in range(4):
            stream.instruction(time, simd, 0, kind, cost=12)
    times = [(s.time, s.field("simd")) for s in events(stream.finish()) if s.token == Token.INST]
    stamps = {first: (1 << 40) + FIRST_TIME, second: (1 << 40) + second + subtick}
    expected = {
        (time + 4 * (((phase - stamp + simd) % 4 + offset) // 4) + 8, simd)
        for time, stamp in stamps.items()
        for simd in range(4)
    }
    assert len(times) == 8
    assert set(times) == expected


def test_lag_of_the_doc_example():
    """tinygrad_gemm_gfx950 SE 0, SIMD 0: c 3, timestamp 2 mod 4: SMEM and SALU 4, VALU 0."""
    phase = 3 - 2498295237422 + 0
    assert inst_lag(phase, Inst.SMEM_RD) == inst_lag(phase, Inst.SALU_32) == 4
    assert inst_lag(phase, Inst.VALU_64) == 0


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ((FIRST_TIME - 4,), "is before 1016"),
        ((FIRST_TIME + 2,), "not a multiple of 4"),
        ((FIRST_TIME + 4, FIRST_TIME + (1 << 48)), "passes the 48 bits"),
    ],
)
def test_impossible_times_are_refused(times, message):
    stream = writer()
    for time in times:
        stream.packet_lost(time)
    with pytest.raises(ValueError, match=message):
        stream.finish()


def test_inst_tokens_out_of_issue_order_are_refused():
    stream = writer()
    stream.instruction(2000, 2, 7, Inst.LDS, cost=20)
    stream.instruction(2004, 2, 7, Inst.LDS)
    with pytest.raises(ValueError, match="SIMD 2 slot 7: the INST token of the issue at 2004"):
        stream.finish()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": -1}, "48-bit"),
        ({"base": (1 << 48) - 8}, "48-bit"),
        ({"start": 0}, "start 0"),
        ({"start": 6}, "start 6"),
        ({"phase": 4}, "phase constant 4"),
        ({"subticks": ()}, "subticks"),
        ({"subticks": (4,)}, "subticks"),
        ({"longest_delta": 1016}, "longest_delta"),
    ],
)
def test_impossible_clocks_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ClockModel(**options)
