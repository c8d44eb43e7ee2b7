"""What MFMAs keep out: values measured on captures, and the closed form elsewhere."""

import pytest

from tracekit.isa.blocking import blocking

# instruction, its cycles, first VALU, first packed F32, port cycles before it.
GFX950 = [
    ("v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]", 16, 8, 28, 0),
    ("v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]", 32, 8, 44, 0),
    ("v_mfma_f32_32x32x8_bf16 v[0:15], v[64:65], v[68:69], v[0:15]", 32, 4, 40, 0),
    ("v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[2:3], v[4:5], a[0:3]", 16, 4, 24, 0),
    ("v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]", 64, 12, 76, 0),
    (
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 "
        "op_sel_hi:[0,0,0] cbsz:4 blgp:4",
        16, 8, 28, 4,
    ),
    ("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]", 32, 12, 44, 0),
    ("v_smfmac_f32_16x16x64_bf16 v[0:3], v[4:7], v[8:15], v16", 16, 12, 28, 0),
    ("v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]", 32, 40, 40, 0),
    ("v_mfma_f32_32x32x1_2b_f32 v[0:31], v4, v5, v[0:31]", 64, 72, 72, 0),
    ("v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]", 64, 72, 72, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cycles", "valu", "packed", "before"), GFX950)
def test_on_gfx950(text, cycles, valu, packed, before):
    assert blocking("gfx950", text, cycles) == (valu, packed, before)


def test_gfx90a_runs_valu_beside_f32_and_not_beside_f64():
    f32 = "v_mfma_f32_16x16x4f32 v[0:3], v4, v5, v[0:3]"
    assert blocking("gfx90a", f32, 32).valu == 4
    assert (
        blocking("gfx90a", "v_mfma_f64_16x16x4f64 v[0:7], v[8:9], v[10:11], v[0:7]", 32).valu == 40
    )


def test_operands_that_cannot_be_read_block_the_least():
    assert blocking("gfx950", "v_mfma_f32_16x16x32_bf16", 16) == (4, 24, 0)
