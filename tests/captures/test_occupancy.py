"""Pipe occupancy of the shared captures, and what is said where there is none."""

import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy

# capture: lowest and highest matrix occupancy of a SIMD in per cent, window span.
MATRIX = {
    "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44": (27.1, 27.1),
    "gemm_bf16_gfx942": (22.0, 22.1),
    "aiter_fp4_gemm_gfx950_before": (24.1, 24.1),
    "aiter_fp4_gemm_gfx950_after": (26.9, 26.9),
    "wave_gemm_bf16_gfx950": (5.5, 5.8),
}


@pytest.mark.parametrize("name", list(MATRIX))
def test_matrix_occupancy_over_the_span(captures, name):
    rows = occupancy(tracekit.open(captures / name).timeline(), "span").rows
    shares = [round(100 * share, 1) for share in rows["matrix_occupancy"]]
    assert (min(shares), max(shares)) == MATRIX[name]
    assert rows["violations"].tolist() == [0] * len(rows)


def test_the_issue_window_is_what_other_tools_report(captures):
    name = "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44"
    rows = occupancy(tracekit.open(captures / name).timeline(), "span").rows
    shares = (100 * rows["issue_window_cycles"] / rows["window_cycles"]).round(1)
    assert shares.tolist() == [3.4] * 4


@pytest.mark.parametrize("name", list(MATRIX))
def test_the_cycles_add_up(captures, name):
    rows = occupancy(tracekit.open(captures / name).timeline(), "span").rows
    busy, idle = rows["matrix_busy_cycles"], rows["matrix_idle_cycles"]
    either = busy + rows["vector_busy_cycles"] - rows["overlap_cycles"]
    assert (busy + idle == rows["window_cycles"]).all()
    assert (either + rows["neither_cycles"] == rows["window_cycles"]).all()


def test_a_kernel_that_ran_no_mfma_is_told(captures):
    result = occupancy(tracekit.open(captures / "fp8_mla_no_mfma_gfx950").timeline(), "span")
    assert any("no MFMA was executed" in note and "688" in note for note in result.notes)
    assert result.rows["mfma"].sum() == 0


def test_no_wave_on_the_traced_cu_is_told_with_a_remedy(captures):
    result = occupancy(tracekit.open(captures / "tinygrad_empty_gfx950").timeline(), "span")
    assert len(result.rows) == 0
    (note,) = [note for note in result.notes if "no wave ran" in note]
    assert "--att-target-cu" in note
    assert "--att-shader-engine-mask" in note
