"""Loads, stores, buffers, direct-to-LDS loads and atomics."""

from __future__ import annotations

import numpy as np
import pytest

from zyfa.sim import run

RNG = np.random.default_rng(12)
WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
POINTERS = """
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_lshlrev_b32_e32 v2, 4, v0
s_waitcnt lgkmcnt(0)
"""
SRD = """
s_mov_b32 s8, s4
s_and_b32 s9, s5, 0xffff
s_mov_b32 s10, {records}
s_mov_b32 s11, 0x20000
"""


def execute(assemble, body: str, source: np.ndarray, size: int = 256, **options) -> np.ndarray:
    """uint32[size] written by `body`; s[4:5] source, s[6:7] target, v1 = 4 lane, v2 = 16 lane."""
    out = np.zeros(size, np.uint32)
    run(assemble(POINTERS + body + WAIT, buffers=2, **options), args=[source, out])
    return out


@pytest.fixture
def data() -> np.ndarray:
    return RNG.integers(0, 2**32, 256, dtype=np.uint64).astype(np.uint32)


@pytest.mark.parametrize(
    ("load", "convert"),
    [
        ("ubyte", lambda b: b.astype(np.uint32)),
        ("sbyte", lambda b: b.view(np.int8).astype(np.int32).view(np.uint32)),
    ],
)
def test_narrow_loads(assemble, data, load, convert):
    body = f"global_load_{load} v3, v0, s[4:5] offset:5\n{WAIT}global_store_dword v1, v3, s[6:7]\n"
    found = execute(assemble, body, data, 64)
    np.testing.assert_array_equal(found, convert(data.view(np.uint8)[5:69]))


def test_wide_load_and_64_bit_addresses(assemble, data):
    body = f"""
v_mov_b32_e32 v3, 0
v_lshl_add_u64 v[4:5], s[4:5], 0, v[2:3]
global_load_dwordx4 v[8:11], v[4:5], off
{WAIT}
global_store_dwordx4 v2, v[8:11], s[6:7]
"""
    np.testing.assert_array_equal(execute(assemble, body, data), data)


def test_buffer_range_gives_zero_and_drops_stores(assemble, data):
    srd = SRD.format(records=4 * 40)
    body = (
        f"{srd}buffer_load_dword v3, v1, s[8:11], 0 offen\n{WAIT}"
        "global_store_dword v1, v3, s[6:7]\n"
    )
    want = np.where(np.arange(64) < 40, data[:64], 0)
    np.testing.assert_array_equal(execute(assemble, body, data, 64), want)
    body = f"{srd}s_mov_b32 s8, s6\ns_and_b32 s9, s7, 0xffff\nv_mov_b32_e32 v3, 9\n" + (
        "buffer_store_dword v3, v1, s[8:11], 0 offen\n"
    )
    assert execute(assemble, body, data, 64).tolist() == [9] * 40 + [0] * 24


def test_load_to_lds_is_lane_linear(assemble, data):
    body = f"""{SRD.format(records=4 * 200)}
s_mov_b32 m0, 64
v_xor_b32_e32 v4, 0x30, v2
buffer_load_dwordx4 v4, s[8:11], 0 offen lds
{WAIT}
v_add_u32_e32 v5, 64, v2
ds_read_b128 v[8:11], v5
{WAIT}
global_store_dwordx4 v2, v[8:11], s[6:7]
"""
    found = execute(assemble, body, data, lds=4096).reshape(64, 4)
    rows = np.where(np.arange(256) < 200, data, 0).reshape(64, 4)
    np.testing.assert_array_equal(found, rows[np.arange(64) ^ 3])


@pytest.mark.parametrize("width", ["b32", "b64", "b128"])
def test_lds_round_trip(assemble, data, width):
    count = {"b32": 1, "b64": 2, "b128": 4}[width]
    block = "v8" if count == 1 else f"v[8:{7 + count}]"
    other = "v16" if count == 1 else f"v[16:{15 + count}]"
    store = {1: "dword", 2: "dwordx2", 4: "dwordx4"}[count]
    body = f"""
v_mul_u32_u24_e32 v3, {4 * count}, v0
global_load_{store} {block}, v3, s[4:5]
{WAIT}
ds_write_{width} v3, {block}
ds_read_{width} {other}, v3
{WAIT}
global_store_{store} v3, {other}, s[6:7]
"""
    found = execute(assemble, body, data, lds=4096)
    np.testing.assert_array_equal(found[: 64 * count], data[: 64 * count])


def test_read2_and_write2_strides(assemble, data):
    body = f"""
global_load_dword v8, v1, s[4:5]
global_load_dword v9, v1, s[4:5] offset:256
{WAIT}
ds_write2st64_b32 v1, v8, v9 offset0:0 offset1:1
ds_read2_b32 v[10:11], v1 offset0:64 offset1:0
{WAIT}
global_store_dword v1, v10, s[6:7]
global_store_dword v1, v11, s[6:7] offset:256
"""
    found = execute(assemble, body, data, lds=4096)
    np.testing.assert_array_equal(found[:128], np.concatenate([data[64:128], data[:64]]))


@pytest.mark.parametrize(
    ("text", "pick"),
    [
        ("ds_swizzle_b32 v9, v8 offset:swizzle(SWAP,16)", lambda n: n ^ 16),
        ("ds_swizzle_b32 v9, v8 offset:swizzle(BROADCAST,8,3)", lambda n: n & ~7 | 3),
        ("ds_bpermute_b32 v9, v3, v8", lambda n: 63 - n),
        ("ds_permute_b32 v9, v3, v8", lambda n: 63 - n),
    ],
)
def test_lane_permutes(assemble, data, text, pick):
    body = f"""
global_load_dword v8, v1, s[4:5]
v_sub_u32_e32 v3, 0xfc, v1
{WAIT}
{text}
{WAIT}
global_store_dword v1, v9, s[6:7]
"""
    want = data[[pick(n) for n in range(64)]]
    np.testing.assert_array_equal(execute(assemble, body, data, 64), want)


@pytest.mark.parametrize(
    ("name", "reduce"),
    [("add", lambda x: x.sum(dtype=np.uint32)), ("umax", np.max), ("or", np.bitwise_or.reduce)],
)
def test_atomics_of_all_lanes_at_one_address(assemble, data, name, reduce):
    body = f"""
global_load_dword v8, v1, s[4:5]
v_mov_b32_e32 v3, 0
{WAIT}
global_atomic_{name} v3, v8, s[6:7]
"""
    assert execute(assemble, body, data, 4)[0] == reduce(data[:64])


def test_atomic_returns_the_old_value(assemble, data):
    body = f"""
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v8, 1
global_atomic_add v9, v3, v8, s[6:7] offset:1024 sc0
{WAIT}
global_store_dword v1, v9, s[6:7]
"""
    found = execute(assemble, body, data, 257)
    assert found[:64].tolist() == list(range(64))
    assert found[256] == 64
