"""Executed waves -> bytes -> the same waves, through every decoder there is."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.framing import events, read
from tests.support.strategies import Plan, Wave, plans
from tracekit.gfx9 import INST_IMMED, Inst
from tracekit.sqtt import phase
from tracekit.sqtt.decode import decode, native_core
from tracekit.sqtt.header import parse
from tracekit.sqtt.layout import IssueState, Misc, Token
from tracekit.sqtt.raw import RawStream, WaveFlag
from tracekit.sqtt.serializer import FIRST_TIME, ClockModel, inst_lag
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter

CAPTURES = Path(__file__).resolve().parents[3] / "shared" / "captures"
IMPLEMENTATIONS = ["python"] + (["native"] if native_core() is not None else [])


def costs(raw: RawStream, constant: int) -> list[int]:
    """Issue cost of every record by the exact phase; 0 where it has no INST token."""
    stamps = raw.epochs["timestamp"].tolist()
    simds = np.repeat(raw.waves["simd"], raw.waves["count"]).tolist()
    rows = zip(
        raw.type.tolist(),
        raw.issue.tolist(),
        raw.typed.tolist(),
        raw.epoch.tolist(),
        simds,
        strict=True,
    )
    return [
        typed - issue - inst_lag(constant - stamps[epoch] + simd, kind) + 4 if typed >= 0 else 0
        for kind, issue, typed, epoch, simd in rows
    ]


def executed(raw: RawStream, wave: int, cost: list[int]) -> list[Executed]:
    """The records of a wave as the encoder takes them."""
    pcs = {row: pc for w, row, pc in raw.anchors.tolist() if w == wave}
    first = int(raw.waves["first"][wave])
    result: list[Executed] = []
    for row in range(int(raw.waves["count"][wave])):
        i = first + row
        kind, time = int(raw.type[i]), int(raw.issue[i])
        stall = int(raw.stall[i]) if raw.stall[i] >= 0 else None
        arrived = result and result[-1].type == Inst.OTHER_MSG and result[-1].release is None
        if kind == INST_IMMED and arrived:
            result[-1] = result[-1]._replace(release=time)
        elif kind == INST_IMMED:
            result.append(immediate(time))
        else:
            result.append(Executed(kind, time, cost[i], stall, None, pcs.get(row + 1)))
    return result


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@given(plan=plans())
def test_decoders_give_the_waves_back(implementation, plan):
    raw = decode(plan.writer().finish(), plan.target_cu, implementation)
    cost = costs(raw, plan.clock.phase)
    place = list(zip(raw.waves["simd"].tolist(), raw.waves["slot"].tolist(), strict=True))
    expected = sorted(plan.waves, key=lambda w: (w.simd, w.slot, w.begin))
    assert place == [(w.simd, w.slot) for w in expected]
    assert raw.waves["begin"].tolist() == [w.begin for w in expected]
    assert set(raw.waves["flags"].tolist()) == {WaveFlag.COMPLETE}
    for wave, planned in enumerate(expected):
        assert executed(raw, wave, cost) == planned.records
        assert int(raw.waves["end"][wave]) - planned.records[-1].time in (0, 4)
    assert raw.orphan_tokens == raw.illegal_tokens == 0
    assert raw.truncated_at == -1


@given(plans())
def test_the_bytes_alone_say_when_everything_was(plan):
    """Without any decoder: ISSUE states at their times, at most one token a SIMD and tick."""
    seen = events(plan.writer().finish())
    issues = [s for s in seen if s.token == Token.ISSUE]
    found = sorted(
        (s.time, s.field("simd"), slot, state) for s in issues for slot, state in s.states().items()
    )
    expected = []
    for wave in plan.waves:
        for record in wave.records:
            state = IssueState.IMMED if record.type == INST_IMMED else IssueState.INST
            expected.append((record.time, wave.simd, wave.slot, state))
            if record.stall is not None:
                expected.append((record.stall, wave.simd, wave.slot, IssueState.STALL))
            if record.release is not None:
                expected.append((record.release, wave.simd, wave.slot, IssueState.IMMED))
    assert found == sorted(expected)
    instructions = sum(r.type != INST_IMMED for w in plan.waves for r in w.records)
    assert sum(s.token == Token.INST for s in seen) == instructions


@given(plans(max_waves=8, max_instructions=6))
def test_one_issue_token_a_simd_and_tick(plan):
    """As in every real stream, unless waves start or end in that very tick."""
    seen = events(plan.writer().finish())
    lives = {s.time for s in seen if s.token in (Token.WAVE_START, Token.WAVE_END)}
    ticks = [
        (s.time, s.field("simd")) for s in seen if s.token == Token.ISSUE and s.time not in lives
    ]
    assert len(ticks) == len(set(ticks))


@given(plans(), st.randoms(use_true_random=False))
def test_the_order_of_calls_does_not_matter(plan, random):
    shuffled = Plan(plan.clock, random.sample(plan.waves, len(plan.waves)), plan.target_cu)
    one = decode(plan.writer().finish(), 1, "python")
    other = decode(shuffled.writer().finish(), 1, "python")
    for name in ("type", "issue", "typed", "stall"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("constant", range(4))
def test_the_phase_constant_can_be_fitted(constant):
    """Enough instructions on four SIMDs and only one c leaves no negative residual."""
    clock = ClockModel(base=1 << 40, phase=constant, subticks=(1, 2))
    records = [Executed(Inst.VALU_32, 6000 + 4 * i) for i in range(8)] + [endpgm(6032)]
    plan = Plan(clock, [Wave(simd, 0, 1100, records) for simd in range(4)])
    raw = decode(plan.writer().finish(), 1, "python")
    assert phase.fit(raw).constant == constant


def streams() -> list[Path]:
    return sorted(CAPTURES.glob("*/att/*.att"))


@pytest.mark.skipif(not streams(), reason=f"no shared captures in {CAPTURES}")
@pytest.mark.parametrize(
    "name",
    [
        "wave_gemm_bf16_gfx950/att/3785403_32617_shader_engine_0_3.att",
        "wave_gemm_bf16_gfx950/att/3785403_32617_shader_engine_22_3.att",
        "tinygrad_gemm_gfx950/att/1_1_shader_engine_0_1.att",
    ],
)
def test_waves_of_real_captures_survive(name):
    """Decode, write again with the fitted clock, decode: every time and type is the same."""
    data = (CAPTURES / name).read_bytes()
    target_cu = parse(data).target_cu
    raw = decode(data, target_cu)
    constant = phase.fit(raw).constant
    assert constant is not None
    stamps, times = raw.epochs["timestamp"], raw.epochs["time"]
    base = int(raw.epochs["base"][0])
    low = tuple(int(s) - base - int(t) for s, t in zip(stamps[1:], times[1:], strict=True))
    clock = ClockModel(base=base, phase=constant, subticks=low)
    writer = StreamWriter(target_cu=target_cu, clock=clock)
    cost = costs(raw, constant)
    for time in {s.time for s in read(data) if s.time >= clock.start}:
        writer.misc(time, Misc.SURF_SYNC)  # the same gaps, so the same epochs
    for wave in range(len(raw.waves["begin"])):
        place = (int(raw.waves["simd"][wave]), int(raw.waves["slot"][wave]))
        records, end = executed(raw, wave, cost), int(raw.waves["end"][wave])
        write_wave(writer, *place, int(raw.waves["begin"][wave]), records, end=None)
        writer.wave_end(end, *place)
    again = decode(writer.finish(), target_cu)
    assert again.records == raw.records > 100
    for column in ("type", "issue", "typed", "stall"):
        assert np.array_equal(getattr(again, column), getattr(raw, column)), column
    for column in ("begin", "end", "simd", "slot", "flags"):
        assert np.array_equal(again.waves[column], raw.waves[column]), column


def test_scaled_mfma_and_barrier_and_call():
    """One MAI record; arrive and release; the jump's target in an INST_PC."""
    writer = StreamWriter()
    records = [
        Executed(Inst.VALU_MAI, 1108),
        barrier(1116, release=1200, stall=1112),
        Executed(Inst.PC, 1204, next_pc=0x7F0000001800),
        immediate(1232),
        endpgm(1236),
    ]
    write_wave(writer, 3, 1, 1100, records)
    raw = decode(writer.finish(), 1, "python")
    assert raw.type.tolist() == [
        Inst.VALU_MAI, Inst.OTHER_MSG, INST_IMMED, Inst.PC, INST_IMMED, Inst.OTHER_MSG,
    ]  # fmt: skip
    assert raw.issue.tolist() == [1108, 1116, 1200, 1204, 1232, 1236]
    assert raw.anchors.tolist() == [[0, 4, 0x7F0000001800]]


def test_waves_without_start_or_end():
    writer = StreamWriter()
    write_wave(writer, 0, 0, None, [Executed(Inst.LDS, 1100), endpgm(1104)])
    write_wave(writer, 1, 0, 1100, [Executed(Inst.LDS, 1104)], end=None)
    write_wave(writer, 2, 0, 1100, [], end=1200)
    write_wave(writer, 3, 0, 1100, [immediate(1120)])
    raw = decode(writer.finish(), 1, "python")
    assert raw.waves["flags"].tolist() == [
        WaveFlag.NO_START, 0, WaveFlag.COMPLETE, WaveFlag.COMPLETE,
    ]  # fmt: skip
    assert raw.waves["end"][2:].tolist() == [1200, 1124]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([Executed(Inst.LDS, 1096)], "before its predecessor ended at 1100"),
        ([Executed(Inst.LDS, 1100, 20), Executed(Inst.LDS, 1116)], "ended at 1120"),
        ([barrier(1100, 1200), endpgm(1200)], "ended at 1204"),
        ([Executed(Inst.LDS, 1108, stall=1096)], "ended at 1100"),
        ([Executed(Inst.LDS, 1108, stall=1108)], "STALL comes before an issue"),
        ([immediate(1108)._replace(stall=1104)], "never before an IMMED"),
        ([Executed(Inst.LDS, 1100, release=1200)], "only an s_barrier is released"),
        ([barrier(1100, 1100)], "only an s_barrier is released"),
        ([Executed(Inst.LDS, 1100, next_pc=4)], "only an indirect jump"),
        ([Executed(40, 1100)], "its type is no gfx9.Inst"),
        ([Executed(Inst.LDS, 1100, 6)], "an issue costs 4..512"),
        ([], "needs the time of its end"),
    ],
)
def test_what_could_not_be_read_back_is_refused(records, message):
    with pytest.raises(ValueError, match=message):
        write_wave(StreamWriter(), 0, 0, 1100, records)


def test_an_end_before_the_last_token_is_refused():
    with pytest.raises(ValueError, match="may come as late as 1104"):
        write_wave(StreamWriter(), 0, 0, 1100, [endpgm(1100)], end=1100)
    writer = StreamWriter()
    write_wave(writer, 0, 0, FIRST_TIME, [barrier(1100, 1104)], end=1104)
    assert decode(writer.finish(), 1, "python").waves["end"].tolist() == [1104]
