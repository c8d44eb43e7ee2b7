"""Golden values: AMD's timing of the tinygrad capture, phase constants of all streams."""

import numpy as np
import pytest

import tracekit
from tracekit.sqtt import phase
from tracekit.sqtt.decode import decode

# simd: begin, end, duration, stall, sum of the timeline (AMD timing).
TINYGRAD = {
    0: (496116, 500124, 3212, 2796, 4008),
    1: (496372, 500044, 3080, 2552, 3676),
    2: (496244, 500048, 3084, 2620, 3804),
    3: (496496, 500104, 3136, 2692, 3608),
}
# capture, SE: constant c, negative shares for c = 0..3 in per cent, typed records.
PHASES = {
    ("wave_gemm_bf16_gfx950", 0): (1, (25.0, 0, 25.0, 39.3), 1536),
    ("wave_gemm_bf16_gfx950", 22): (0, (0, 25.0, 39.3, 25.0), 1536),
    ("aiter_fp4_gemm_gfx950_before", 0): (2, (38.7, 25.0, 0, 25.0), 180_792),
    ("aiter_fp4_gemm_gfx950_after", 0): (0, (0, 25.0, 38.7, 25.0), 181_080),
    ("tinygrad_gemm_gfx950", 0): (3, (24.5, 39.5, 24.5, 0), 200),
}
# Issue costs above 4 cycles that the exact phase shows: mnemonic -> (cost, executions).
LONG = {
    "wave_gemm_bf16_gfx950": {},
    "aiter_fp4_gemm_gfx950_before": {
        "v_rcp_iflag_f32_e32": {8: 72}, "ds_write2_b64": {20: 96},
    },
    "aiter_fp4_gemm_gfx950_after": {
        "v_rcp_iflag_f32_e32": {8: 72}, "ds_write2_b64": {20: 96},
    },
    "tinygrad_gemm_gfx950": {"ds_write_b32": {8: 4}},
}  # fmt: skip


def test_tinygrad_waves_in_amd_timing(captures):
    timeline = tracekit.open(captures / "tinygrad_gemm_gfx950").timeline("amd")
    found = {}
    for _, wave in timeline.waves.iterrows():
        rows = timeline.instructions[timeline.instructions["simd"] == wave["simd"]]
        states = timeline.states[timeline.states["simd"] == wave["simd"]]
        assert len(rows) == 58
        assert (rows["category"] == "immed").sum() == 8
        found[wave["simd"]] = (
            wave["begin"], wave["end"], rows["duration"].sum(), rows["stall"].sum(),
            states["duration"].sum(),
        )  # fmt: skip
    assert found == TINYGRAD


@pytest.mark.parametrize(("name", "se"), list(PHASES))
def test_phase_constants(captures, name, se):
    constant, negative, typed = PHASES[name, se]
    (stream,) = [s for s in tracekit.open(captures / name).streams if s.se == se]
    raw = decode(stream.read(), stream.header.target_cu)
    found = phase.fit(raw)
    assert found.constant == constant
    assert [round(100 * share, 1) for share in found.negative] == list(negative)
    assert found.instructions == typed


@pytest.mark.parametrize("name", list(LONG))
def test_no_residual_is_negative_and_few_are_long(captures, name):
    timeline = tracekit.open(captures / name).timeline()
    table = timeline.instructions
    cost = (table["duration"] - table["stall"])[table["category"] != "immed"]
    assert cost.min() == 4
    names = table["instruction"].astype(str).str.split().str[0]
    long = cost[cost > 4]
    found = {}
    for mnemonic, group in long.groupby(names[long.index]):
        found[mnemonic] = group.value_counts().to_dict()
    assert found == LONG[name]


@pytest.mark.parametrize("name", list(LONG))
def test_in_exact_timing_no_wave_overlaps_itself(captures, name):
    table = tracekit.open(captures / name).timeline().instructions
    end = (table["time"] + table["duration"]).to_numpy()
    place = table[["se", "simd", "slot", "wave"]].to_numpy()
    same = (place[1:] == place[:-1]).all(axis=1)
    assert (table["time"].to_numpy()[1:][same] >= end[:-1][same]).all()
    assert np.all(table["stall"] >= 0)


@pytest.mark.parametrize("name", list(LONG))
def test_states_sum_to_the_life_of_each_wave(captures, name):
    timeline = tracekit.open(captures / name).timeline()
    spent = timeline.states.groupby(["se", "simd", "slot", "wave"])["duration"].sum()
    waves = timeline.waves
    assert spent.to_numpy().tolist() == (waves["end"] - waves["begin"]).tolist()
