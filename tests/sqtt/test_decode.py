"""The native decoder and its twin return the same facts for any bytes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given

from tests.support.examples import examples
from tests.support.strategies import token_streams
from tracekit.gfx9 import INST_CONTEXT, INST_UNTYPED, Inst
from tracekit.sqtt import header
from tracekit.sqtt.decode import decode, native_core
from tracekit.sqtt.encode import header_bytes, pack
from tracekit.sqtt.layout import IssueState, Misc, Token
from tracekit.sqtt.raw import RawStream, WaveFlag

needs_native = pytest.mark.skipif(
    native_core() is None, reason="the native decoder was not built or is switched off"
)
IMPLEMENTATIONS = ["python", pytest.param("native", marks=needs_native)]


def differences(one: RawStream, other: RawStream) -> list[str]:
    """Names of the facts that differ."""
    found = []
    for name, value in vars(one).items():
        theirs = getattr(other, name)
        pairs = (
            [(f"{name}.{key}", value[key], theirs[key]) for key in value]
            if isinstance(value, dict)
            else [(name, value, theirs)]
        )
        found += [
            label
            for label, a, b in pairs
            if not np.array_equal(a, b) or getattr(a, "dtype", None) != getattr(b, "dtype", None)
        ]
    return found


@pytest.mark.slow
@needs_native
@examples(2000, tuple(HealthCheck))
@given(stream=token_streams())
def test_native_equals_python(stream):
    cu = header.parse(stream).target_cu if len(stream) > 8 else 0
    assert differences(decode(stream, cu, "python"), decode(stream, cu, "native")) == []


@pytest.mark.slow
@needs_native
@examples(200)
@given(stream=token_streams(max_tokens=60))
def test_native_equals_python_at_every_cut(stream):
    cu = header.parse(stream).target_cu if len(stream) > 8 else 0
    for end in range(8, min(len(stream), 64)):
        cut = stream[:end]
        assert differences(decode(cut, cu, "python"), decode(cut, cu, "native")) == []


def _stream(*tokens):
    return header_bytes(target_cu=1) + b"".join(tokens)


def _start(slot=0, count=64):
    return pack(Token.WAVE_START, cu=1, slot=slot, simd=0, count=count)


def _end(slot=0):
    return pack(Token.WAVE_END, cu=1, slot=slot, simd=0)


def _issue(state, slot=0, delta=1):
    return pack(Token.ISSUE, delta=delta, simd=0, states=int(state) << 2 * slot)


def _inst(kind, slot=0):
    return pack(Token.INST, slot=slot, simd=0, inst_type=int(kind))


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
class TestWaves:
    def test_a_lost_end_closes_the_wave_as_broken(self, implementation):
        raw = decode(_stream(_start(), _start(), _end()), 1, implementation)
        assert raw.waves["flags"].tolist() == [WaveFlag.LOST_END, WaveFlag.COMPLETE]

    def test_an_issue_without_start_proves_a_running_wave(self, implementation):
        raw = decode(_stream(_issue(IssueState.IMMED), _end()), 1, implementation)
        assert raw.waves["flags"].tolist() == [WaveFlag.NO_START]
        assert raw.waves["begin"].tolist() == [4]

    def test_a_wave_open_at_the_end_is_not_complete(self, implementation):
        raw = decode(_stream(_start(), _issue(IssueState.IMMED)), 1, implementation)
        assert raw.waves["flags"].tolist() == [0]
        assert raw.waves["end"].tolist() == [raw.last_time]

    def test_a_replay_extends_its_instruction_and_is_none_itself(self, implementation):
        raw = decode(
            _stream(
                _start(),
                _issue(IssueState.INST), _inst(Inst.VMEM_RD),
                _issue(IssueState.INST), _inst(Inst.VMEM_RD_REPLAY),
                _issue(IssueState.INST), _inst(Inst.SALU_32),
                _end(),
            ),
            1,
            implementation,
        )  # fmt: skip
        assert raw.type.tolist() == [Inst.VMEM_RD, Inst.SALU_32]
        assert raw.replays.tolist() == [[0, 8]]

    def test_lost_packets_forget_what_was_issued(self, implementation):
        lost = pack(Token.MISC, delta=0, misc_type=Misc.PACKET_LOST)
        raw = decode(
            _stream(_start(), _issue(IssueState.INST), lost, _inst(Inst.SALU_32), _end()),
            1,
            implementation,
        )
        assert raw.type.tolist() == [INST_UNTYPED]
        assert raw.orphan_tokens == 1
        assert raw.anchors.tolist() == [[0, 1, -1]]
        assert raw.waves["flags"][0] & WaveFlag.PACKETS_LOST

    def test_a_context_switch_keeps_the_wave(self, implementation):
        save = pack(Token.MISC, delta=0, misc_type=Misc.SAVE_CONTEXT)
        raw = decode(
            _stream(
                _start(),
                _issue(IssueState.INST), _inst(Inst.SALU_32),
                save, _end(), _start(count=65), _start(count=65), _inst(Inst.PC),
                pack(Token.INST_PC, slot=0, simd=0, pc=0x100 >> 2),
                _issue(IssueState.INST), _inst(Inst.VALU_32),
                _end(),
            ),
            1,
            implementation,
        )  # fmt: skip
        assert raw.type.tolist() == [Inst.SALU_32, INST_CONTEXT, Inst.VALU_32]
        assert raw.anchors.tolist() == [[0, 2, 0x100]]
        assert raw.waves["flags"].tolist() == [WaveFlag.COMPLETE | WaveFlag.CONTEXT]

    def test_other_cus_are_not_traced_but_counted(self, implementation):
        other = pack(Token.WAVE_START, cu=2, slot=0, simd=0, count=64)
        raw = decode(_stream(other), 1, implementation)
        assert len(raw.waves["simd"]) == 0
        assert len(raw.side_raw) == 1

    def test_a_cut_token_ends_the_stream_where_it_begins(self, implementation):
        whole = _stream(_start(), _issue(IssueState.IMMED))
        raw = decode(whole[:-1], 1, implementation)
        assert raw.truncated_at == 12
        assert raw.records == 0


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
class TestTime:
    def test_deltas_are_four_cycles(self, implementation):
        wait = pack(Token.MISC, delta=255, misc_type=Misc.TIME)
        raw = decode(_stream(wait, _start()), 1, implementation)
        assert raw.waves["begin"].tolist() == [1020]

    def test_a_reset_takes_the_next_timestamp_at_its_own_place(self, implementation):
        reset = pack(Token.MISC, delta=255, misc_type=Misc.TIME_RESET)
        raw = decode(
            _stream(
                reset, pack(Token.TIME, timestamp=5000),
                reset, _start(), pack(Token.TIME, timestamp=9003), _end(),
            ),
            1,
            implementation,
        )  # fmt: skip
        # base = 5000 - 1020 + 4; the second reset puts the clock at (9003 - base) & ~3.
        assert raw.epochs["base"].tolist() == [3984, 3984]
        assert raw.waves["begin"].tolist() == [(9003 - 3984) & ~3]
        assert raw.epochs["offset"].tolist() == [8, 18]

    def test_of_two_resets_in_a_row_the_first_gets_nothing(self, implementation):
        reset = pack(Token.MISC, delta=1, misc_type=Misc.TIME_RESET)
        raw = decode(_stream(reset, reset, pack(Token.TIME, timestamp=999)), 1, implementation)
        assert len(raw.epochs["offset"]) == 1

    def test_long_runs_of_zeros_cost_no_time(self, implementation):
        raw = decode(_stream(b"\0" * 100_000, _start()), 1, implementation)
        assert raw.waves["begin"].tolist() == [0]
