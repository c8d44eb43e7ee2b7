"""Registers read and written, by the kinds of operands that the captures show."""

import pytest

from tracekit.analysis.waits.registers import usage


def bits(*names):
    base = {"v": 0, "a": 512, "s": 1024}
    return sum(1 << (base[name[0]] + int(name[1:])) for name in names)


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("v_mul_f32_e32 v1, v6, s7", ("v6", "s7"), ("v1",)),
        ("v_fmac_f32_e32 v1, v6, v7", ("v1", "v6", "v7"), ("v1",)),
        ("ds_read_b64 v[4:5], v8 offset:16", ("v8",), ("v4", "v5")),
        ("ds_write_b32 v8, v9", ("v8", "v9"), ()),
        ("buffer_load_dword v6, s[16:17], 0 offen lds", ("v6", "s16", "s17"), ()),
        ("global_load_lds_dwordx4 v[2:3], off", ("v2", "v3"), ()),
        ("global_store_dwordx2 v[8:9], v[4:5], off", ("v8", "v9", "v4", "v5"), ()),
        ("s_load_dword s4, s[0:1], 0x3c", ("s0", "s1"), ("s4",)),
        ("s_cmp_eq_u32 s4, 0", ("s4",), ()),
        ("v_permlane32_swap_b32_e32 v1, v2", ("v1", "v2"), ("v1", "v2")),
        ("v_mfma_f32_4x4x1_16b_f32 a[0:1], v2, v3, a[0:1]", ("v2", "v3", "a0", "a1"), ("a0", "a1")),
        ("global_atomic_add v1, v[2:3], v4, off sc0", ("v2", "v3", "v4"), ("v1",)),
        ("global_atomic_add v[2:3], v4, off", ("v2", "v3", "v4"), ()),
    ],
)
def test_usage(text, read, written):
    assert usage(text) == (bits(*read), bits(*written))
