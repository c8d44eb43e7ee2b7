import pytest

from tracekit.isa.costs import Pipe
from tracekit.isa.valu import CLASSES, RATES, cost


@pytest.mark.parametrize(
    ("name", "klass", "gfx942", "gfx950"),
    [
        ("v_add_f32_e32", "full_rate", 4, 4),
        ("v_fma_f32", "full_rate", 4, 4),
        ("v_max3_f32", "full_rate", 4, 4),
        ("v_cmp_gt_f32_e64", "full_rate", 4, 4),
        ("v_pk_add_f16", "full_rate", 4, 4),
        ("v_or_b32_sdwa", "full_rate", 4, 4),
        ("v_bitop3_b32", "full_rate", 4, 4),
        ("v_bitop3_b16", "full_rate", 4, 8),
        ("v_fma_mixlo_f16", "full_rate", 4, 8),
        ("v_fma_mix_f32", "full_rate", 4, 4),
        ("v_pk_fma_f32", "packed", 4, 4),
        ("v_pk_mov_b32", "packed", 4, 4),
        ("v_exp_f32_e32", "transcendental", 16, 8),
        ("v_rcp_iflag_f32_e32", "transcendental", 16, 8),
        ("v_rcp_f64_e32", "transcendental", 16, 16),
        ("v_cvt_pk_bf16_f32", "conversion", 4, 4),
        ("v_cvt_pk_fp8_f32", "conversion", 4, 8),
        ("v_cvt_pk_f32_fp8_e32", "conversion", 4, 4),
        ("v_cvt_f64_f32_e32", "conversion", 4, 4),
        ("v_permlane32_swap_b32_e32", "cross_lane", 4, 8),
        ("v_readfirstlane_b32", "cross_lane", 4, 4),
        ("v_mov_b32_dpp", "cross_lane", 4, 4),
        ("v_add_f32_e64_dpp", "cross_lane", 4, 4),
        ("v_lshl_add_u64", "64bit", 4, 4),
        ("v_mad_u64_u32", "64bit", 4, 4),
        ("v_fma_f64", "64bit", 4, 4),
        ("v_cmp_gt_i64_e32", "64bit", 4, 4),
        ("v_mul_lo_u32", "integer_multiply", 4, 4),
        ("v_mul_u32_u24_e32", "full_rate", 4, 4),
        ("v_dot2_f32_f16", "dot", 4, 4),
        ("v_accvgpr_write_b32", "accvgpr", 4, 4),
    ],
)
def test_class_and_cycles(name, klass, gfx942, gfx950):
    for arch, cycles in (("gfx942", gfx942), ("gfx950", gfx950)):
        found = cost(arch, name)
        assert (found.pipe, found.klass, found.cycles) == (Pipe.VECTOR, klass, cycles)


def test_what_was_not_measured_says_so():
    assert cost("gfx950", "v_cvt_pk_fp8_f32").confidence == "high"
    assert cost("gfx950", "v_cvt_pk_bf8_f32").confidence == "low"
    assert cost("gfx90a", "v_exp_f32_e32").confidence == "medium"


def test_each_class_has_rates():
    assert {klass for klass, _ in CLASSES} == set(RATES)
