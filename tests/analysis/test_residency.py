"""Resident waves, their limits and the tail of a launch."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.simds import each_simd
from tracekit.analysis.model.window import Windows
from tracekit.analysis.residency import LIMIT_COLUMNS, limits, residents, tail


def shares(timeline, window, simd=None):
    """Share of the windows of SE 0 by the number of resident waves."""
    windows = Windows(timeline, window)
    table = residents(timeline, [(one, windows.of(one)) for one in each_simd(timeline)])
    sums = table.groupby(["se", "simd", "dispatch"])["share"].sum()
    assert sums.to_numpy() == pytest.approx(1)
    own = table[(table["se"] == 0) & (True if simd is None else table["simd"] == simd)]
    cycles = own.groupby("waves")["cycles"].sum()
    return {n: round(100 * c / cycles.sum(), 1) for n, c in cycles.items() if c}


def test_flash_attention_has_two_waves_for_39_per_cent_of_steady(captures):
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    timeline = tracekit.open(path).timeline()
    assert shares(timeline, "steady") == {1: 61.0, 2: 39.0}
    assert shares(timeline, "span", 0) == {1: 48.5, 2: 51.5}


def test_preshuffle_has_one_or_three_waves(captures):
    path = captures / "fp8_preshuffle_gemm_gfx950" / "ui_output_agent_58177_dispatch_135"
    assert shares(tracekit.open(path).timeline(), "steady", 0) == {1: 38.5, 3: 61.5}


def test_limits_come_from_the_dispatch_registers(captures):
    path = captures / "aiter_fp4_gemm_gfx950_after" / "att"
    (row,) = limits(tracekit.open(path).timeline()).to_dict("records")
    assert (row["waves_per_workgroup"], row["vgprs"], row["lds_bytes"]) == (8, 200, 139520)
    assert (row["possible"], row["observed"], row["limiter"]) == (2, 2, "vgprs+lds")


def test_fewer_waves_than_possible_are_the_grids_doing(captures):
    (row,) = limits(tracekit.open(captures / "wave_gemm_bf16_gfx950" / "att").timeline()).to_dict(
        "records"
    )
    assert (row["possible"], row["observed"], row["limiter"]) == (8, 2, "grid")


def test_without_dispatch_registers_the_limiter_is_unknown(captures):
    table = limits(tracekit.open(captures / "gemm_bf16_gfx942").timeline())
    assert list(table.columns) == list(LIMIT_COLUMNS)
    assert not len(table)


def test_the_tail_runs_from_the_first_cu_that_is_done(captures):
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    table = tail(tracekit.open(path).timeline())
    row = table[table["se"] == 0].iloc[0]
    assert (row["cus"], row["waves"], row["tail_cycles"]) == (8, 64, 284800 - 213972)
    assert row["tail_share"] == pytest.approx(0.4014, abs=1e-4)


def test_planned_waves_are_counted_to_the_cycle(tmp_path):
    kernel = lines("v_mul_f32_e32 v1, v2, v2", "s_endpgm")
    plans = [Plan(kernel, 0, 0, 6000), Plan(kernel, 0, 1, 6200)]
    for plan, times in zip(plans, ((6100, 6600), (6300, 6400)), strict=True):
        plan.at(times[0], 0).at(times[1], 1)
    timeline = planned.timeline(planned.write(tmp_path, kernel, plans))
    ends = timeline.waves.sort_values("slot")["end"].tolist()
    windows = Windows(timeline, f"5900:{ends[0] + 60}")
    table = residents(timeline, [(one, windows.of(one)) for one in each_simd(timeline)])
    both = ends[1] - 6200
    assert table["cycles"].tolist() == [100 + 60, ends[0] - 6000 - both, both]
