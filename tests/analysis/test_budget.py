"""Budgets of traced loops, the verdict and its limits."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.budget import AT_BOUND, budget, verdict
from traces import generate

MFMA = "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]"
VECTOR = {
    "v_max3_f32 v40, v41, v42, v43": 32,
    "v_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]": 32,
    "v_exp_f32_e32 v40, v41": 64,
    "v_cvt_pk_fp8_f32 v40, v41, v42": 32,
}


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
def test_the_samples_ask_what_their_kernel_says(name):
    result = budget(tracekit.open(generate.ROOT / name).timeline())
    for row in result.rows.to_dict("records"):
        assert row["iterations"] == 6
        assert (row["mfma"], row["matrix_cycles"]) == (8, 256)
        assert (row["full_rate_cycles"], row["transcendental_cycles"]) == (96, 64)
        assert (row["vector_cycles"], row["scalar_cycles"], row["nop_cycles"]) == (160, 12, 4)
        assert row["instructions"] == 46


@pytest.mark.parametrize(
    ("name", "expected"), [("pingpong", "matrix_bound"), ("lockstep", "vector_bound")]
)
def test_the_verdict_of_the_samples(name, expected):
    simds = budget(tracekit.open(generate.ROOT / name).timeline()).simds
    assert set(simds["verdict"]) == {expected}
    assert set(simds["limit"]) == {"matrix"}
    assert set(simds["waves"]) == {2}
    assert (simds["achieved"] <= simds["best"]).all()


def test_the_shares_of_a_simd_sum_to_its_window():
    simds = budget(tracekit.open(generate.ROOT / "lockstep").timeline(), "span").simds
    shares = ["matrix_share", "vector_share", "latency_share", "barrier_share", "outside_share"]
    assert simds[shares].sum(axis=1).tolist() == pytest.approx([1] * 4)


def attention(folder):
    """Four turns of the exact FP8 mix, one instruction after the other."""
    texts = [MFMA] * 16 + [text for text, count in VECTOR.items() for _ in range(count)]
    kernel = lines(f"loop: {texts[0]}", *texts[1:], "s_cbranch_scc1 -> loop", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000)
    time = 6500
    for turn in range(4):
        for at in range(len(texts)):
            plan.at(time, at)
            time += 64 if at < 16 else kernel[at].opcode.cost
        time += 16
        plan.at(time, len(texts), taken=turn < 3)
        time += 20
    plan.at(time, len(texts) + 1)
    return planned.timeline(planned.write(folder, kernel, [plan]))


@pytest.mark.parametrize(("rates", "vector"), [(None, 1024), ({"v_cvt_pk_fp8_f32": 4}, 896)])
def test_the_exact_attention_mix_from_a_trace(tmp_path, rates, vector):
    (row,) = budget(attention(tmp_path), rates=rates).rows.to_dict("records")
    assert row["matrix_cycles"] == 1024
    assert row["vector_cycles"] == vector
    assert row["packed_cycles"] == 128


def test_without_a_loop_the_wave_is_one_iteration(tmp_path):
    kernel = lines(MFMA, "v_exp_f32_e32 v0, v1", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6600, 1).at(6700, 2)
    result = budget(planned.timeline(planned.write(tmp_path, kernel, [plan])))
    (row,) = result.rows.to_dict("records")
    assert (row["matrix_cycles"], row["vector_cycles"], row["iterations"]) == (64, 8, 1)
    assert any("no loop" in note for note in result.notes)


SHARES = {"vector_share": 0.2, "latency_share": 0.1, "barrier_share": 0.1}


@pytest.mark.parametrize(
    ("achieved", "limit", "shares", "expected"),
    [
        (AT_BOUND * 0.8, "matrix", SHARES, "matrix_bound"),
        (AT_BOUND * 0.8 - 1e-9, "matrix", SHARES, "vector_bound"),
        (0.8, "vector", SHARES, "vector_bound"),
        (0.8, "packed", SHARES, "vector_bound"),
        (0.8, "lds", SHARES, "latency_bound"),
        (0.3, "matrix", SHARES | {"barrier_share": 0.201}, "barrier_bound"),
        (0.3, "matrix", SHARES | {"latency_share": 0.201}, "latency_bound"),
    ],
)
def test_each_side_of_the_verdict(achieved, limit, shares, expected):
    assert verdict(achieved, 0.8, limit, shares) == expected


@pytest.mark.parametrize("window", ["steady", "span"])
@pytest.mark.parametrize("name", ["lockstep", "zyfa_gap_exact"])
def test_shares_of_the_window_sum_to_one(name, window):
    simds = budget(tracekit.open(generate.ROOT / name).timeline(), window).simds
    shares = ["matrix_share", "vector_share", "latency_share", "barrier_share", "outside_share"]
    assert simds[shares].sum(axis=1).to_numpy() == pytest.approx(1)
    assert (simds[shares] >= 0).all(axis=None)
