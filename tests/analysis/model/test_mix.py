"""Mixes: the two softmax variants of an FP8 attention block, and the bounds of their ports."""

import pytest

from tracekit.analysis.model.mix import bound, parts, total
from tracekit.isa.listing import Listing
from tracekit.isa.listing_costs import Costs

MATRIX = ["v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]"] * 16
SCALED = ["v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15], v32, v33"] * 16
MAX3 = ["v_max3_f32 v40, v41, v42, v43"] * 32
PK_FMA = ["v_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]"] * 32
EXP = ["v_exp_f32_e32 v40, v41"] * 64
CVT = ["v_cvt_pk_fp8_f32 v40, v41, v42"] * 32
ASHR = ["v_ashr_pk_u8_i32 v40, v41, v42, 17"] * 32
EXACT = MATRIX + MAX3 + PK_FMA + EXP + CVT
LEAN = MATRIX + MAX3 + PK_FMA + ASHR
VECTOR = ("full_rate", "packed", "transcendental", "conversion", "cross_lane")


def mix(texts, rates=None):
    listing = Listing.build(1, range(0, 8 * len(texts), 8), texts, size=8)
    found = total(listing, Costs.of(listing.text, "gfx950"), rates)
    return found, sum(found[name] for name in VECTOR)


@pytest.mark.parametrize(
    ("texts", "rates", "vector"),
    [
        (EXACT, None, 1024),
        (EXACT, {"v_cvt_pk_fp8_f32": 4}, 896),
        (LEAN, None, 384),
    ],
)
def test_the_two_mixes_of_an_attention_block(texts, rates, vector):
    found, cycles = mix(texts, rates)
    assert found["matrix"] == 1024
    assert cycles == vector


def test_the_classes_of_the_exact_mix():
    found, _ = mix(EXACT)
    classes = {name: found[name] for name in VECTOR}
    assert classes == {
        "full_rate": 128, "packed": 128, "transcendental": 512, "conversion": 256, "cross_lane": 0,
    }  # fmt: skip


# Bounds of the slot budget with 11 ticks of scalars, scaled and plain, in per cent.
SCALARS = ["v_add_f32_e32 v40, v41, v42"] * 11


@pytest.mark.parametrize(
    ("matrix", "vector", "expected"),
    [
        (SCALED, MAX3 + PK_FMA + EXP + CVT, 77),
        (MATRIX, MAX3 + PK_FMA + EXP + CVT, 81),
        (SCALED, MAX3 + EXP + CVT + 2 * ["v_fma_f32 v1, v2, v3, v4"] * 32, 71),
        (MATRIX, MAX3 + EXP + CVT + 2 * ["v_fma_f32 v1, v2, v3, v4"] * 32, 74),
        (SCALED, MAX3 + PK_FMA + ASHR, 88),
        (SCALED, MAX3 + ASHR + 2 * ["v_fma_f32 v1, v2, v3, v4"] * 32, 100),
    ],
)
def test_bounds_of_two_waves(matrix, vector, expected):
    found, _ = mix(matrix + vector + SCALARS)
    assert round(100 * bound(found, 2).occupancy) == expected


def test_one_wave_is_bound_by_its_own_issues():
    found, _ = mix(["v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]"] + ["s_nop 7"] * 2)
    assert bound(found, 1).limit == "wave"
    assert bound(found, 1).cycles == 4 + 2 * 32
    assert bound(found, 4).occupancy == 64 / 68


def test_pairs_make_more_possible_than_one_instruction_a_tick():
    found, _ = mix([MATRIX[0]] + ["v_fma_f32 v1, v2, v3, v4"] * 64)
    # 12 of 64 matrix cycles are blocked: 204 of 256 vector cycles are left, halved by pairs.
    assert bound(found, 2).cycles == 2 * (256 + 12)
    assert bound(found, 2).paired == 128 / (128 + 204)
    assert bound(found, 1).paired == 64 / (64 + 204)


def test_an_empty_mix_has_no_bound():
    assert bound(dict.fromkeys(mix(MATRIX)[0], 0.0), 2).limit == ""


def test_a_rate_names_an_opcode_whatever_its_encoding():
    listing = Listing.build(1, [0, 8], ["v_exp_f32_e32 v0, v1", "v_exp_f32_e64 v0, v1"], size=8)
    table = parts(listing, Costs.of(listing.text, "gfx950"), {"v_exp_f32": 16})
    assert table["transcendental"].tolist() == [16, 16, 0]


@pytest.mark.parametrize(
    ("arch", "cycles"), [("gfx942", 4 * 2 * 96 * 4), ("gfx950", 4 * 2 * 96 * 2)]
)
def test_waves_of_all_simds_share_the_lds(arch, cycles):
    """The loop of an 8-wave GEMM: 96 reads of 8 bytes a lane beside 512 matrix cycles."""
    texts = ["ds_read_b64 v[4:5], v8"] * 96
    texts += ["v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]"] * 32
    listing = Listing.build(1, range(0, 8 * len(texts), 8), texts, size=8)
    found = bound(total(listing, Costs.of(listing.text, arch)), 2)
    assert found.cycles == max(cycles, 2 * 512)
    assert found.limit == ("lds_data" if cycles > 1024 else "matrix")
