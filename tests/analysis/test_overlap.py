"""Overlap and the ping-pong verdict: planned waves on each side of each threshold."""

import numpy as np
import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.intervals import union
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.overlap import alternation, overlap, verdict
from traces import generate

KERNEL = lines(
    "loop: v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_mul_f32_e32 v80, v80, v80",
    "s_cbranch_scc1 -> loop",
    "s_endpgm",
)
PERIOD, TURNS = 256, 12


def wave(slot, begin, first, refused=()):
    """One MFMA and one VALU a turn; ``refused[turn]``: cycles for which the MFMA waits."""
    plan = Plan(KERNEL, 0, slot, begin)
    for turn in range(TURNS):
        time = first + PERIOD * turn
        stall = refused[turn] if refused else 0
        plan.at(time, 0, stall=time - stall if stall else None)
        plan.at(time + 8, 1).at(time + 12, 2, taken=turn < TURNS - 1)
    return plan.at(first + PERIOD * TURNS, 3)


def of(folder, *plans, window="steady"):
    return overlap(planned.timeline(planned.write(folder, KERNEL, plans)), window)


@pytest.mark.parametrize(
    ("name", "expected"), [("pingpong", "alternating"), ("lockstep", "lock_step")]
)
def test_the_samples(name, expected):
    result = overlap(tracekit.open(generate.ROOT / name).timeline())
    assert set(result.rows["verdict"]) == set(result.simds["verdict"]) == {expected}


def test_one_wave_is_no_pair(tmp_path):
    result = of(tmp_path, wave(0, 6000, 6500))
    assert len(result.rows) == 0
    assert result.simds["verdict"].tolist() == ["single_wave"]
    assert result.simds["pairs"].tolist() == [0]


def test_lag_is_how_far_the_second_wave_is_behind(tmp_path):
    (row,) = of(tmp_path, wave(0, 6000, 6500), wave(1, 6016, 6564)).rows.to_dict("records")
    assert row["lag_cycles"] == pytest.approx(64)
    assert row["lag"] == pytest.approx(0.25)
    assert row["jitter_cycles"] == pytest.approx(0, abs=1e-6)


def test_matrix_under_vector_is_counted_both_ways(tmp_path):
    # B's VALU at +24 falls into A's MFMA, A's at +8 into none of B's.
    plans = wave(0, 6000, 6500), wave(1, 6016, 6516)
    (row,) = of(tmp_path, *plans, window="6500:9572").rows.to_dict("records")
    assert row["a_matrix_cycles"] == 32 * TURNS
    assert row["a_matrix_under_b_vector_cycles"] == 4 * TURNS
    assert row["b_matrix_under_a_vector_cycles"] == 0


def _wanting(both):
    """Turns of B in which its MFMA is refused all the while that A's runs."""
    return [64 if turn in both else 0 for turn in range(TURNS)]


@pytest.mark.parametrize("count", range(TURNS + 1))
def test_the_score_is_its_formula(tmp_path, count):
    """B wants the pipe while A has it in ``count`` of the turns."""
    plans = wave(0, 6000, 6500), wave(1, 6016, 6564, _wanting(range(count)))
    (row,) = of(tmp_path, *plans, window="6500:9572").rows.to_dict("records")
    cycles = PERIOD * TURNS
    matrix = 32 * TURNS
    phase_b = matrix + 64 * count
    apart = 1 - 32 * count / (2 * matrix)
    chance = 1 - (matrix * phase_b + matrix * matrix) / (cycles * 2 * matrix)
    scale = 1 - chance if apart >= chance else chance
    assert row["window_cycles"] == cycles
    assert row["alternation"] == pytest.approx((apart - chance) / scale)


def test_each_side_of_each_threshold():
    """Cycles 0-1000; A's matrix phase is 400, B's moves over it."""

    def score(start):
        a, b = union([0], [400]), union([start], [start + 400])
        return alternation([a, b], [a, b], 1000)

    # S = 1 - together / 400 and C = 0.6; alternating when S >= 0.8, lock_step when S <= 0.3.
    assert [verdict(score(start)) for start in (320, 319)] == ["alternating", "partial"]
    assert [verdict(score(start)) for start in (121, 119)] == ["partial", "lock_step"]


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.5, "alternating"), (0.499, "partial"), (-0.499, "partial"), (-0.5, "lock_step"),
     (None, "single_wave")],
)  # fmt: skip
def test_thresholds(score, expected):
    assert verdict(score) == expected


def test_streams_just_on_each_side_of_the_alternating_threshold(tmp_path):
    def run(count):
        plans = wave(0, 6000, 6500), wave(1, 6016, 6564, _wanting(range(count)))
        return of(tmp_path / str(count), *plans, window="6500:9572").rows.iloc[0]

    verdicts = [run(count)["verdict"] for count in range(TURNS + 1)]
    edge = verdicts.index("partial")
    assert verdicts == ["alternating"] * edge + ["partial"] * (TURNS + 1 - edge)
    assert run(edge - 1)["alternation"] >= 0.5 > run(edge)["alternation"]


PAIR = lines(
    "loop: v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_mfma_f32_32x32x16_bf16 v[16:31], v[64:67], v[68:71], v[16:31]",
    "s_cbranch_scc1 -> loop",
    "s_endpgm",
)


def pair(slot, begin, together):
    """Two MFMAs a turn; in ``together`` turns both waves wait for each other's, A first."""
    plan = Plan(PAIR, 0, slot, begin)
    for turn in range(TURNS):
        time = 6500 + 2 * PERIOD * turn
        if turn < together:
            first, second = (time, time + 64) if slot == 0 else (time + 32, time + 96)
            plan.at(first, 0, stall=time if slot else None)
            plan.at(second, 1, stall=first + 32)
        else:
            first = time + 200 * slot
            plan.at(first, 0).at(first + 32, 1)
            second = first + 32
        plan.at(second + 4, 2, taken=turn < TURNS - 1)
    return plan.at(6500 + 2 * PERIOD * TURNS, 3)


def test_streams_just_on_each_side_of_the_lock_step_threshold(tmp_path):
    def run(count):
        plans = [pair(0, 6000, count), pair(1, 6016, count)]
        timeline = planned.timeline(planned.write(tmp_path / str(count), PAIR, plans))
        return overlap(timeline, f"6500:{6500 + 2 * PERIOD * TURNS}").rows.iloc[0]

    rows = [run(count) for count in range(TURNS + 1)]
    verdicts = [row["verdict"] for row in rows]
    edge = verdicts.index("lock_step")
    assert verdicts[0] == "alternating"
    assert verdicts[edge - 1] == "partial"
    assert verdicts[edge:] == ["lock_step"] * (TURNS + 1 - edge)
    assert rows[edge - 1]["alternation"] > -0.5 >= rows[edge]["alternation"]


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
@pytest.mark.parametrize("window", ["steady", "span", "10%:70%"])
def test_both_views_of_overlap_agree(name, window):
    timeline = tracekit.open(generate.ROOT / name).timeline()
    simds = overlap(timeline, window).simds
    rows = occupancy(timeline, window).rows
    assert simds["overlap_cycles"].tolist() == rows["overlap_cycles"].tolist()
    assert (simds["across_cycles"] + simds["own_cycles"] == simds["overlap_cycles"]).all()


def test_without_matrix_work_there_is_no_score():
    none = union(np.empty(0, np.int64), np.empty(0, np.int64))
    assert alternation([none, union([0], [4])], [none, union([0], [4])], 10) is None
