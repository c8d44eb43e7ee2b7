"""tracekit on a simulated capture gives exactly the ground truth."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy
from zyfa.sim import run
from zyfa.sim.timing.parameters import Parameters

ZERO = "\n".join(f"v_mov_b32_e32 v{n}, 0" for n in range(80))
BODY = f"""
v_lshlrev_b32_e32 v90, 2, v0
{ZERO}
s_mov_b32 s20, 0
loop:
v_mfma_scale_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47], v16, v17 op_sel_hi:[0,0,0]
v_exp_f32_e32 v70, v71
v_add_f32_e32 v72, v71, v71
v_mfma_f32_32x32x16_bf16 v[48:63], v[0:3], v[8:11], v[48:63]
v_max3_f32 v73, v71, v71, v71
ds_write_b32 v90, v72
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v74, v90
s_setprio 1
s_nop 3
s_add_u32 s20, s20, 1
s_cmp_lt_u32 s20, 12
s_cbranch_scc1 loop
s_mov_b32 m0, 7
s_nop 0
s_ttracedata
s_waitcnt lgkmcnt(0)
"""
KEYS = ["simd", "slot", "wave"]


@pytest.fixture
def made(assemble, tmp_path):
    """(timeline, ground truth, folder) of a run with two waves on each SIMD."""
    run(assemble(BODY, lds=4096), block=512, capture=tmp_path / "c")
    timeline = tracekit.open(tmp_path / "c").timeline("exact")
    truth = pd.read_csv(tmp_path / "c" / "ground_truth.csv", keep_default_na=False)
    return timeline, truth.sort_values(KEYS, kind="stable").reset_index(drop=True), tmp_path / "c"


def test_every_issue_time_and_text(made):
    timeline, truth, _ = made
    table = timeline.instructions
    assert timeline.simulated
    assert table["instruction"].astype(str).tolist() == truth["instruction"].tolist()
    assert table["issue"].tolist() == truth["issue"].tolist()


def test_markers(made):
    timeline, truth, _ = made
    values = timeline.markers["value"].tolist()
    assert values == [7] * 8
    times = truth[truth["instruction"] == "s_ttracedata"]["issue"]
    assert sorted(timeline.markers["time"]) == sorted(times)


def test_realtime_pairs_tell_the_clock(made):
    timeline, _, _ = made
    clock = timeline.clock
    assert len(clock) >= 2
    rate = np.diff(clock["time"]) / np.diff(clock["realtime"])
    np.testing.assert_allclose(rate, 24)


def cycles(intervals: list[tuple[int, int]], low: int, high: int) -> np.ndarray:
    """bool per cycle of low..high-1."""
    busy = np.zeros(high - low, bool)
    for begin, end in intervals:
        busy[max(begin - low, 0) : max(end - low, 0)] = True
    return busy


def test_matrix_vector_and_overlap_cycles(made):
    timeline, truth, _ = made
    rows = occupancy(timeline).rows
    assert len(rows) == 4
    for row in rows.to_dict("records"):
        mine = truth[truth["simd"] == row["simd"]]
        busy = {}
        for pipe in ("matrix", "vector"):
            part = mine[mine["pipe"] == pipe]
            pairs = list(
                zip(part["pipe_begin"].astype(int), part["pipe_end"].astype(int), strict=True)
            )
            busy[pipe] = cycles(pairs, row["start"], row["end"])
        assert row["matrix_busy_cycles"] == busy["matrix"].sum()
        assert row["vector_busy_cycles"] == busy["vector"].sum()
        assert row["overlap_cycles"] == (busy["matrix"] & busy["vector"]).sum()


def test_metadata_names_the_parameters(made):
    _, _, folder = made
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["simulated"] is True
    assert meta["parameters"] == Parameters().digest
