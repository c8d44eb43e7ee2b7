"""Bytes of memory instructions by their mnemonic."""

import pytest

from tracekit.isa.traffic import LANES, Traffic, traffic, widths

SAMPLES = {
    "buffer_load_dwordx4 v73, s[16:19], 0 offen sc0 nt lds": Traffic(16, 16),
    "buffer_load_dword v73, s[16:19], 0 offen lds": Traffic(4, 4),
    "global_load_lds_dwordx4 v[2:3], off": Traffic(16, 16),
    "buffer_load_dwordx2 v[0:1], v2, s[4:7], 0 offen": Traffic(8, 0),
    "global_load_dwordx3 v[0:2], v[4:5], off": Traffic(12, 0),
    "global_load_ushort v0, v[4:5], off": Traffic(2, 0),
    "global_load_short_d16_hi v0, v[4:5], off": Traffic(2, 0),
    "global_load_ubyte_d16 v0, v[4:5], off": Traffic(1, 0),
    "buffer_store_byte v0, v2, s[4:7], 0 offen": Traffic(1, 0),
    "flat_store_dwordx4 v[0:1], v[4:7]": Traffic(16, 0),
    "buffer_load_format_xyz v[0:2], v2, s[4:7], 0 offen": Traffic(12, 0),
    "buffer_load_format_d16_xy v0, v2, s[4:7], 0 offen": Traffic(4, 0),
    "global_atomic_add v0, v[4:5], v1, off sc0": Traffic(4, 0),
    "global_atomic_add_f64 v[4:5], v[0:1], off": Traffic(8, 0),
    "buffer_wbl2 sc1": Traffic(),
    "ds_read_b128 v[0:3], v4": Traffic(0, 16),
    "ds_read_b64_tr_b16 v[0:1], v4": Traffic(0, 8),
    "ds_read_b96_tr_b6 v[0:2], v4": Traffic(0, 12),
    "ds_read_u8_d16_hi v0, v4": Traffic(0, 1),
    "ds_read2_b64 v[0:3], v4 offset1:1": Traffic(0, 16),
    "ds_read2st64_b32 v[0:1], v4 offset1:1": Traffic(0, 8),
    "ds_write_b96 v4, v[0:2]": Traffic(0, 12),
    "ds_add_u32 v4, v0": Traffic(0, 4),
    "ds_bpermute_b32 v0, v1, v2": Traffic(0, 4),
    "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,1)": Traffic(0, 4),
    "s_load_dwordx4 s[0:3], s[4:5], 0x0": Traffic(),
    "v_mul_f32_e32 v0, v1, v2": Traffic(),
}


@pytest.mark.parametrize("text", SAMPLES)
def test_a_lane_moves_what_the_mnemonic_says(text):
    assert traffic(text) == SAMPLES[text]


def test_a_wave_moves_64_lanes_and_an_unknown_row_nothing():
    memory, lds = widths(list(SAMPLES))
    assert memory[:1].tolist() == lds[:1].tolist() == [16 * LANES]
    assert (memory[-1], lds[-1]) == (0, 0)
    assert len(memory) == len(SAMPLES) + 1
