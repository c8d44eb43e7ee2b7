import pytest

from tracekit.isa.classify import Expect, accept_mask, expected, strict_mask


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("s_waitcnt vmcnt(0)", Expect.IMMED),
        ("s_nop 0", Expect.IMMED),
        ("s_setprio 1", Expect.IMMED),
        ("s_ttracedata", Expect.IMMED),
        ("s_sendmsg sendmsg(MSG_INTERRUPT)", Expect.IMMED),
        ("s_barrier", Expect.BARRIER),
        ("s_endpgm", Expect.ENDPGM),
        ("s_load_dwordx2 s[2:3], s[0:1], 0x0", Expect.SMEM),
        ("s_memtime s[0:1]", Expect.SMEM),
        ("s_memrealtime s[0:1]", Expect.SMEM),
        ("s_dcache_inv", Expect.SMEM),
        ("s_mov_b32 s0, 1", Expect.SALU),
        ("s_bitset0_b32 s0, 1", Expect.SALU),
        ("s_getpc_b64 s[0:1]", Expect.SALU),
        ("s_setpc_b64 s[30:31]", Expect.PC),
        ("s_swappc_b64 s[30:31], s[4:5]", Expect.PC),
        ("s_call_b64 s[30:31], 12", Expect.PC),
        ("s_rfe_b64 s[0:1]", Expect.PC),
        ("v_add_f32_e32 v0, v1, v2", Expect.VALU),
        ("v_accvgpr_read_b32 v1, a0", Expect.VALU),
        ("v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", Expect.MFMA),
        ("v_smfmac_f32_16x16x64_bf16 a[0:3], v[0:3], v[4:11], v12", Expect.MFMA),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7]", Expect.MFMA_SCALE),
        ("buffer_load_dwordx4 v1, s[4:7], 0 offen lds", Expect.VMEM),
        ("global_store_dword v0, v1, s[0:1]", Expect.VMEM),
        ("scratch_load_dword v0, off, s0", Expect.VMEM),
        ("flat_load_dword v0, v[2:3]", Expect.FLAT),
        ("ds_read_b128 v[0:3], v4", Expect.LDS),
        ("s_branch 4", Expect.BRANCH),
        ("s_cbranch_execz 4", Expect.BRANCH),
        (".long 0xffffffff", Expect.UNKNOWN),
        ("", Expect.UNKNOWN),
    ],
)
def test_expected(text, kind):
    assert expected(text) is kind


def types(mask):
    return {bit for bit in range(64) if mask >> bit & 1}


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("v_mov_b32_e32 v0, v1", {5, 18, 28}),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[0:15]", {5, 18, 28}),
        ("global_load_dword v0, v[2:3], off", {2, 3, 4, 14, 21, 22, 23, 24}),
        ("flat_load_dword v0, v[2:3]", {4, 14, 23, 24}),
        ("s_waitcnt vmcnt(0)", {15, 33}),
        ("s_barrier", {15, 33}),
        ("s_endpgm", {15, 33}),
        ("s_setpc_b64 s[0:1]", {1, 7, 17}),
        ("s_mov_b32 s0, s1", {1, 17}),
        ("s_load_dword s0, s[0:1], 0x0", {0, 16, 19, 20}),
        ("s_memtime s[0:1]", {0, 1, 16, 17, 19, 20}),
        ("s_branch 3", {12, 13}),
        ("ds_add_u32 v0, v1", {6}),
        (".long 0x0", set()),
    ],
)
def test_accept_mask(text, accepted):
    assert types(accept_mask(expected(text), text)) == accepted


@pytest.mark.parametrize(
    ("text", "size", "accepted"),
    [
        ("v_and_b32_e32 v8, 0x3ff, v0", 8, {18}),
        ("v_mov_b32_e32 v0, v1", 4, {5}),
        ("v_mov_b32_e32 v0, v1", 0, {5, 18, 28}),
        ("v_accvgpr_read_b32 v0, a0", 8, {28}),
        ("v_accvgpr_mov_b32 a1, a0", 4, {5}),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3]", 16, {28}),
        ("s_and_b32 s6, s13, 0xffff", 8, {17}),
        ("s_mov_b32 s0, s1", 4, {1}),
        ("s_swappc_b64 s[0:1], s[2:3]", 4, {7}),
        ("s_load_dword s0, s[0:1], 0x0", 8, {0, 19}),
        ("s_store_dword s0, s[0:1], 0x0", 8, {16, 20}),
        ("buffer_load_dword v0, s[0:3], 0 offen lds", 8, {2, 21}),
        ("buffer_store_dword v0, s[0:3], 0", 8, {3, 22}),
        ("buffer_atomic_add v0, s[0:3], 0", 8, {2, 3, 21, 22}),
        ("global_load_dword v0, v[2:3], off", 8, {14, 24}),
        ("global_store_dword v[2:3], v0, off", 8, {4, 23}),
        ("buffer_inv sc1", 8, {2, 3, 4, 14, 21, 22, 23, 24}),
        ("s_branch 3", 4, {12}),
        ("s_cbranch_scc0 3", 4, {12, 13}),
        ("s_endpgm", 4, {15}),
        ("s_waitcnt lgkmcnt(0)", 4, {33}),
        ("s_sendmsg sendmsg(MSG_INTERRUPT)", 4, {15, 33}),
    ],
)
def test_strict_mask(text, size, accepted):
    assert types(strict_mask(expected(text), size, text)) == accepted


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_strict_is_within_lenient_for_every_opcode(opcodes, arch):
    for size, text in opcodes(arch).values():
        kind = expected(text)
        strict, lenient = strict_mask(kind, size, text), accept_mask(kind, text)
        assert kind is not Expect.UNKNOWN, text
        assert strict, text
        assert strict & ~lenient == 0, text
