"""Every rule fires on the stream that has its cause, names it, and not on one that has not."""

import re

import pytest

import tracekit
from tests.analysis.explain.planted import (
    LATER_LOAD,
    LATER_MUL,
    LOAD,
    MFMA,
    MUL,
    PACKED,
    READ,
    WAIT,
    fired,
    looped,
    page,
    texts,
)
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.checks.findings import Finding, Quality
from traces import generate

SLOW = "v_mfma_f32_16x16x16_bf16 v[0:3], v[64:65], v[68:69], v[0:3]"
LATE = [(MFMA, 4), (LOAD, 40), (WAIT, 400), (MUL, 4)]
SPARE = [(MFMA, 4), (LOAD, 40), (LATER_LOAD, 8), (WAIT, 400), (MUL, 4), (MFMA, 8),
         (LATER_MUL, 200)]  # fmt: skip
LDS_WAIT, READER = "s_waitcnt lgkmcnt(0)", "v_mul_f32_e32 v42, v24, v24"
BUSY = [(MFMA, 4), *[(MUL, 20)] * 12]
#: Rule -> (steps that fire it, instructions that it names, steps that do not).
PLANTED = {
    "prefetch_distance": (
        LATE, [WAIT, LOAD],
        [(MFMA, 4), (LOAD, 40), (MUL.replace("v4", "v50"), 360), (WAIT, 60), (MUL, 4)]),
    "wait_with_count": (
        SPARE, [WAIT], [*SPARE[:4], (MUL, 4), (LATER_MUL, 8), (MFMA, 200)]),
    "lds_read_ahead": (
        [(MFMA, 4), (READ, 40), (LDS_WAIT, 60), (READER, 4)], [LDS_WAIT],
        [(MFMA, 4), (READ, 8), (MUL, 60), (LDS_WAIT, 4), (READER, 4)]),
    "lds_bursts": ([(MFMA, 4), (READ, 200, 148)], [READ], [(MFMA, 4), (LOAD, 200, 148)]),
    "vmem_pressure": ([(MFMA, 4), (LOAD, 200, 148)], [LOAD], [(MFMA, 4), (READ, 200, 148)]),
    "packed_beside_mfma": (
        [(MFMA, 4), (PACKED, 40, 8), (MUL, 60)], [PACKED],
        [(MFMA, 4), (MUL, 40, 8), (MUL, 60)]),
    "nops": ([(MFMA, 4), ("s_nop 7", 100)], ["s_nop 7"], [(MFMA, 4), (MUL, 100)]),
    "half_rate": ([(SLOW, 4), (MUL, 100)], [], [(MFMA, 4), (MUL, 100)]),
    "few_waves": (BUSY, [], None),
    "outside_loop": (None, [], [(MFMA, 4), (MUL, 100)]),
}  # fmt: skip


@pytest.mark.parametrize("rule", [rule for rule, (steps, *_) in PLANTED.items() if steps])
def test_it_fires_and_names_the_instruction(tmp_path, rule):
    steps, named, _ = PLANTED[rule]
    advice = fired(looped(tmp_path, *steps))[rule]
    assert texts(advice) == named
    assert advice.numbers


@pytest.mark.parametrize("rule", [rule for rule, (*_, steps) in PLANTED.items() if steps])
def test_it_does_not_fire_without_its_cause(tmp_path, rule):
    assert rule not in fired(looped(tmp_path, *PLANTED[rule][2]))


def test_a_busy_lds_is_no_burst_but_a_bound(tmp_path):
    steps = [(MFMA, 4), *[("ds_write_b128 v28, v[24:27]", 64, 36)] * 6, (MUL, 24)]
    found = fired(looped(tmp_path, *steps, simds=range(4)))
    assert "lds_bandwidth" in found
    assert "lds_bursts" not in found
    assert "lds_bandwidth" not in fired(looped(tmp_path / "one", *steps))


def test_prefetching_is_no_advice_where_the_path_has_no_room(tmp_path):
    steps = [(MFMA, 4), *[(LOAD, 12)] * 8, (WAIT, 300), (MUL, 4)]
    assert "prefetch_distance" in fired(looped(tmp_path / "one", *steps))
    assert "prefetch_distance" not in fired(looped(tmp_path / "four", *steps, simds=range(4)))


def test_the_cost_of_prefetching_is_registers_or_lds(tmp_path):
    advice = fired(looped(tmp_path / "registers", *LATE))["prefetch_distance"]
    assert (advice.numbers["buffer_vgprs"], advice.numbers["buffer_lds_bytes"]) == (4, 0)


def test_a_count_says_how_many_may_be_outstanding(tmp_path):
    assert "vmcnt(1)" in fired(looped(tmp_path, *SPARE))["wait_with_count"].text


def test_two_waves_are_not_few(tmp_path):
    assert "few_waves" not in fired(looped(tmp_path, *BUSY, slots=(0, 1)))


def test_a_long_prologue_outweighs_the_loop(tmp_path):
    advice = fired(looped(tmp_path, (MFMA, 4), (MUL, 100), begin=9000))["outside_loop"]
    assert advice.numbers["outside_cycles"] > 3000 > advice.numbers["loop_cycles"]


def test_lock_step_is_told_and_turns_are_not():
    advice = fired(Analysis(tracekit.open(generate.ROOT / "lockstep").timeline()))
    assert advice["lock_step"].numbers["lock_step_simds"] == 4
    advice = fired(Analysis(tracekit.open(generate.ROOT / "pingpong").timeline()))
    assert list(advice) == ["nothing_left"]


def test_something_is_left_where_the_bound_is_far(tmp_path):
    assert "nothing_left" not in fired(looped(tmp_path, *LATE))


def test_no_advice_where_nothing_can_be_concluded(tmp_path):
    judged = Quality.of([Finding("planted", "fatal", None, "for the test")])
    found = page(looped(tmp_path, *LATE, judged=judged))
    assert (found.conclude, found.advice) == (False, ())
    assert found.causes


def test_no_advice_speaks_of_a_gain(tmp_path):
    for at, (steps, *_) in enumerate(PLANTED.values()):
        if steps:
            for advice in fired(looped(tmp_path / str(at), *steps)).values():
                assert not re.search(r"gain|speed.?up|faster", advice.text)
