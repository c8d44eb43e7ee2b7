"""Loops of planned captures: iterations, nesting, the dominant one, while loops."""

import numpy as np
import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.loops import loops
from traces import generate


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
def test_a_sample_has_one_loop_of_eight_iterations(name):
    sample = generate.build(name)
    head = [line.label for line in sample.kernel].index("loop")
    found = loops(tracekit.open(generate.ROOT / name).timeline())
    (row,) = found.rows.to_dict("records")
    assert row["header_vaddr"] == sample.addresses[head]
    assert (row["depth"], row["parent"], row["dominant"]) == (1, -1, True)
    assert (row["waves"], row["entries"], row["iterations"]) == (8, 8, 64)
    assert row["matrix_cycles"] == 64 * 8 * 32
    for wave in sample.waves:
        heads = [step.record.time for step in wave.steps if step.line == head]
        table = found.iterations
        own = table[(table["simd"] == wave.simd) & (table["slot"] == wave.slot)]
        assert own["begin"].tolist() == heads
        assert own["end"].tolist()[:-1] == heads[1:]


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
def test_prologue_loop_and_epilogue_make_up_a_wave(name):
    sample = generate.build(name)
    phases = loops(tracekit.open(generate.ROOT / name).timeline()).phases
    spans = {
        (w.simd, w.slot): w.steps[-1].record.time + 4 - w.steps[0].record.time for w in sample.waves
    }
    for row in phases.to_dict("records"):
        parts = row["prologue_cycles"] + row["loop_cycles"] + row["epilogue_cycles"]
        assert parts == spans[row["simd"], row["slot"]]


NEST = lines(
    "s_mov_b32 s4, 0",
    "outer: v_mul_f32_e32 v0, v0, v0",
    "inner: v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "s_cbranch_scc1 -> inner",
    "v_mul_f32_e32 v1, v1, v1",
    "s_cbranch_scc0 -> outer",
    "s_endpgm",
)


def nest(folder):
    """Two turns of an outer loop around three of an inner one, 100 cycles each."""
    plan = Plan(NEST, 0, 0, 6000).at(6496, 0)
    time = 6500
    for outer in range(2):
        plan.at(time, 1)
        for inner in range(3):
            plan.at(time + 100 * inner + 4, 2).at(time + 100 * inner + 8, 3, taken=inner < 2)
        plan.at(time + 300, 4).at(time + 304, 5, taken=outer < 1)
        time += 400
    plan.at(time, 6)
    return planned.timeline(planned.write(folder, NEST, [plan]))


def test_nested_loops_know_each_other(tmp_path):
    found = loops(nest(tmp_path))
    outer, inner = found.rows.to_dict("records")
    assert (outer["depth"], outer["parent"], outer["iterations"]) == (1, -1, 2)
    assert (inner["depth"], inner["parent"], inner["iterations"]) == (2, outer["loop"], 6)
    assert (outer["entries"], inner["entries"]) == (1, 2)
    assert (outer["dominant"], inner["dominant"]) == (False, True)
    assert inner["cycles_p50"] == 100
    assert (outer["matrix_cycles"], inner["matrix_cycles"]) == (0, 6 * 32)


def test_the_last_iteration_ends_with_the_branch_that_is_not_taken(tmp_path):
    found = loops(nest(tmp_path))
    inner = found.of_dominant(1)
    assert (inner["end"] - inner["begin"]).tolist() == [100, 100, 8] * 2


WHILE = lines(
    "s_mov_b32 s4, 0",
    "head: s_sub_u32 s4, s4, 1",
    "s_cbranch_scc1 -> out",
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "s_cbranch_scc0 -> head",
    "out: s_endpgm",
)


def test_a_loop_that_leaves_at_its_head_has_no_half_iteration(tmp_path):
    plan = Plan(WHILE, 0, 0, 6000).at(6496, 0)
    for turn in range(4):
        time = 6500 + 60 * turn
        plan.at(time, 1).at(time + 8, 2, taken=False).at(time + 12, 3).at(time + 16, 4)
    plan.at(6740, 1).at(6748, 2).at(6768, 5)
    found = loops(planned.timeline(planned.write(tmp_path, WHILE, [plan])))
    assert found.rows["iterations"].tolist() == [4]
    assert found.rows["cycles_p50"].tolist() == [60]
    assert found.phases["epilogue_cycles"].tolist() == [6768 + 4 - 6740]


def test_two_branches_to_one_header_are_one_loop(tmp_path):
    kernel = lines(
        "head: v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
        "s_cbranch_scc1 -> head",
        "v_mul_f32_e32 v1, v1, v1",
        "s_cbranch_scc0 -> head",
        "s_endpgm",
    )
    plan = Plan(kernel, 0, 0, 6000)
    plan.at(6500, 0).at(6508, 1)
    plan.at(6600, 0).at(6608, 1, taken=False).at(6612, 2).at(6616, 3)
    plan.at(6700, 0).at(6708, 1, taken=False).at(6712, 2).at(6716, 3, taken=False).at(6720, 4)
    found = loops(planned.timeline(planned.write(tmp_path, kernel, [plan])))
    assert found.rows["iterations"].tolist() == [3]
    assert found.iterations["end"].tolist() == [6600, 6700, 6720]


def test_without_a_loop_there_is_a_note_and_no_row(tmp_path):
    kernel = lines("s_mov_b32 s4, 0", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)
    found = loops(planned.timeline(planned.write(tmp_path, kernel, [plan])))
    assert len(found.rows) == len(found.iterations) == len(found.phases) == 0
    assert "no loop" in found.notes[0]


def test_positions_name_the_rows_of_the_iteration():
    timeline = tracekit.open(generate.ROOT / "lockstep").timeline()
    table = loops(timeline).iterations
    time = timeline.instructions["time"].to_numpy()
    assert (table["last"] - table["first"] == 46).all()
    assert (np.diff(time)[table["first"].to_numpy()] > 0).all()
