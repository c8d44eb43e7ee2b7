import re

import pytest

from tracekit.isa.encoding import encoded_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("s_nop 0", 4),
        ("s_branch 65401", 4),
        ("s_movk_i32 s0, 0x1234", 4),
        ("s_cmpk_eq_i32 s0, 0x100", 4),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0", 8),
        ("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0", 4),
        ("s_mov_b32 s7, 0x27000", 8),
        ("s_mov_b32 s7, 64", 4),
        ("s_add_u32 s0, s0, sym@rel32@lo+4", 8),
        ("v_add_f32_e32 v0, 0.15915494, v1", 4),
        ("v_add_f32_e32 v0, 0x40400000, v1", 8),
        ("v_add_f32_e64 v0, |v1|, v2", 8),
        ("v_or_b32_sdwa v0, v1, v2 dst_sel:DWORD", 8),
        ("v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", 8),
        ("v_fmamk_f32 v0, v1, 0x3fb8aa3b, v2", 8),
        ("v_readfirstlane_b32 s0, v0", 4),
        ("v_accvgpr_mov_b32 a0, a1", 4),
        ("v_accvgpr_write_b32 a0, v1", 8),
        ("v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23]", 16),
        ("v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23]", 8),
        ("ds_read_b128 v[0:3], v4 offset:16", 8),
        (".long 0xffffffff", 4),
        ("; a comment", 0),
    ],
)
def test_encoded_bytes(text, size):
    assert encoded_bytes(text) == size


#: A literal of 0 prints like an inline 0, and 16-bit inline floats print like literals.
AMBIGUOUS = re.compile(r"[ ,]-?\d+\b|_[iu]16|_f16_u16|image_|gpr_idx_on")


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_every_opcode(opcodes, arch):
    wrong = [
        text
        for size, text in opcodes(arch).values()
        if encoded_bytes(text) != size and not AMBIGUOUS.search(text)
    ]
    assert wrong == []
