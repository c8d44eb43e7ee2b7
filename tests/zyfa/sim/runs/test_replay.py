"""Fidelity against real captures, with the table's parameters and nothing tuned per capture."""

from __future__ import annotations

import pytest

from zyfa.sim.runs.recorded import Recorded, workgroups
from zyfa.sim.runs.replay import replay

LIMITS = [
    ("flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44", 1.5, 0.5),
    ("flash_attn_bf16_gfx950/ui_output_agent_58550_dispatch_44", 1.5, 0.5),
    ("aiter_fp4_gemm_gfx950_before", 5.5, 0.5),
    ("aiter_fp4_gemm_gfx950_after", 2.5, 0.5),
    ("gemm_bf16_gfx942", 9.0, 3.0),
]
"""Capture, percent of median error per loop iteration, points of matrix occupancy."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "error", "points"), LIMITS, ids=[row[0][:32] for row in LIMITS])
def test_fidelity(captures, name, error, points):
    found = replay(captures / name)
    assert 100 * found.median_error <= error
    measured, predicted = found.occupancy.mean(axis=0)
    assert abs(predicted - measured) <= points


@pytest.mark.slow
def test_rules_beat_the_naive_model(captures):
    path = captures / LIMITS[1][0]
    naive = replay(path, {"ports": 0}, lds_given=True)
    assert naive.median_error > 5 * replay(path).median_error


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", ["mfma_packed_block", "war_interlock", "block_after_mfma", "transcendental_port"]
)
def test_each_rule_earns_its_place(captures, rule):
    path = captures / LIMITS[0][0]
    without = replay(path, {rule: 4 if rule.endswith("port") else 0})
    assert without.median_error > replay(path).median_error


def test_waves_are_grouped_by_start_and_barriers():
    def wave(start: int, barriers: int) -> Recorded:
        return Recorded(
            (0, 0, 0, 0), start, start, None, [], None, None, None, None, None, barriers
        )

    groups = workgroups([wave(0, 3), wave(8, 3), wave(200, 3), wave(204, 5)])
    assert [len(group) for group in groups] == [2, 1, 1]
