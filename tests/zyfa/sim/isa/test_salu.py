"""Scalar instructions against Python integers: results and SCC."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.examples import examples
from zyfa.sim import run

CHECKS = examples(12, (HealthCheck.function_scoped_fixture,))
EDGES = [0, 1, 31, 32, 63, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00100004, 0x00080010]
word = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**32 - 1))
M = 0xFFFFFFFF


def execute(assemble, text: str, values: list[int]) -> list[int]:
    """s12, s13, SCC after `text` on s8, s9, s10, s11 (SCC starts 0)."""
    body = f"""
s_load_dwordx2 s[4:5], s[0:1], 0x0
s_load_dwordx2 s[6:7], s[0:1], 0x8
s_waitcnt lgkmcnt(0)
s_load_dwordx4 s[8:11], s[4:5], 0x0
s_waitcnt lgkmcnt(0)
s_mov_b64 s[12:13], 0
s_cmp_lg_u32 s0, s0
{text}
s_cselect_b32 s14, 1, 0
v_mov_b32_e32 v2, s12
v_mov_b32_e32 v3, s13
v_mov_b32_e32 v4, s14
v_mov_b32_e32 v1, 0
global_store_dwordx3 v1, v[2:4], s[6:7]
"""
    out = np.zeros(3, np.uint32)
    run(assemble(body, buffers=2), args=[np.array(values, np.uint32), out])
    return out.tolist()


def s(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def over(x: int) -> int:
    return int(not -(2**31) <= x < 2**31)


NARROW = [
    ("s_add_u32", lambda a, b: (a + b, a + b > M)), ("s_sub_u32", lambda a, b: (a - b, b > a)),
    ("s_add_i32", lambda a, b: (a + b, over(s(a) + s(b)))),
    ("s_sub_i32", lambda a, b: (a - b, over(s(a) - s(b)))),
    ("s_mul_i32", lambda a, b: (a * b, 0)), ("s_mul_hi_u32", lambda a, b: (a * b >> 32, 0)),
    ("s_mul_hi_i32", lambda a, b: (s(a) * s(b) >> 32, 0)),
    ("s_and_b32", lambda a, b: (a & b, a & b != 0)),
    ("s_andn2_b32", lambda a, b: (a & ~b, a & ~b & M != 0)),
    ("s_xnor_b32", lambda a, b: (~(a ^ b), ~(a ^ b) & M != 0)),
    ("s_lshl_b32", lambda a, b: (a << (b & 31), (a << (b & 31)) & M != 0)),
    ("s_lshr_b32", lambda a, b: (a >> (b & 31), a >> (b & 31) != 0)),
    ("s_ashr_i32", lambda a, b: (s(a) >> (b & 31), s(a) >> (b & 31) != 0)),
    ("s_min_i32", lambda a, b: (min(s(a), s(b)), s(a) < s(b))),
    ("s_max_u32", lambda a, b: (max(a, b), a > b)),
    ("s_lshl2_add_u32", lambda a, b: ((a << 2) + b, (a << 2) + b > M)),
    ("s_pack_lh_b32_b16", lambda a, b: (a & 0xFFFF | b & 0xFFFF0000, 0)),
    ("s_bfm_b32", lambda a, b: (((1 << (a & 31)) - 1) << (b & 31), 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "formula"), NARROW, ids=[n for n, _ in NARROW])
@given(a=word, b=word)
@CHECKS
def test_two_operands(assemble, name, formula, a, b):
    value, scc = formula(a, b)
    assert execute(assemble, f"{name} s12, s8, s9", [a, b, 0, 0]) == [value & M, 0, int(scc)]


@given(a=word, offset=st.integers(0, 31), width=st.integers(0, 32))
@CHECKS
def test_bit_fields(assemble, a, offset, width):
    control = width << 16 | offset
    value = a >> offset & ((1 << width) - 1)
    found = execute(assemble, "s_bfe_u32 s12, s8, s9", [a, control, 0, 0])
    assert found == [value, 0, int(value != 0)]
    top = value >> (width - 1) & 1 if width and offset + width <= 32 else 0
    signed = (value | (-1 << width if top else 0)) & M
    assert execute(assemble, "s_bfe_i32 s12, s8, s9", [a, control, 0, 0])[0] == signed


WIDE = [
    ("s_lshl_b64 s[12:13], s[8:9], s10", lambda a, n: a << (n & 63)),
    ("s_lshr_b64 s[12:13], s[8:9], s10", lambda a, n: a >> (n & 63)),
    ("s_ashr_i64 s[12:13], s[8:9], s10", lambda a, n: s(a, 64) >> (n & 63)),
    ("s_not_b64 s[12:13], s[8:9]", lambda a, n: ~a),
    ("s_mov_b64 s[12:13], -5", lambda a, n: -5),
    ("s_bcnt1_i32_b64 s12, s[8:9]", lambda a, n: a.bit_count()),
    ("s_ff1_i32_b64 s12, s[8:9]", lambda a, n: (a & -a).bit_length() - 1 if a else M),
    ("s_flbit_i32_b64 s12, s[8:9]", lambda a, n: 64 - a.bit_length() if a else M),
    ("s_brev_b64 s[12:13], s[8:9]", lambda a, n: int(f"{a:064b}"[::-1], 2)),
    ("s_sext_i32_i8 s12, s8", lambda a, n: s(a & 255, 8) & M),
]


@pytest.mark.parametrize(("text", "formula"), WIDE, ids=[t.split()[0] for t, _ in WIDE])
@given(low=word, high=word, n=word)
@CHECKS
def test_wide(assemble, text, formula, low, high, n):
    value = formula(high << 32 | low, n) & (2**64 - 1)
    found = execute(assemble, text, [low, high, n, 0])
    assert found[0] | found[1] << 32 == value


@given(a=word, b=word, c=word, d=word)
@CHECKS
def test_carry_chain(assemble, a, b, c, d):
    text = "s_add_u32 s12, s8, s10\ns_addc_u32 s13, s9, s11"
    total = (b << 32 | a) + (d << 32 | c)
    found = execute(assemble, text, [a, b, c, d])
    assert found == [total & M, total >> 32 & M, total >> 64]
    text = "s_sub_u32 s12, s8, s10\ns_subb_u32 s13, s9, s11"
    total = (b << 32 | a) - (d << 32 | c)
    assert execute(assemble, text, [a, b, c, d]) == [total & M, total >> 32 & M, int(total < 0)]


@pytest.mark.parametrize(
    ("name", "relation"),
    [("eq", int.__eq__), ("lg", int.__ne__), ("gt", int.__gt__), ("ge", int.__ge__),
     ("lt", int.__lt__), ("le", int.__le__)],
)  # fmt: skip
@given(a=word, b=word)
@CHECKS
def test_compare(assemble, name, relation, a, b):
    assert execute(assemble, f"s_cmp_{name}_u32 s8, s9", [a, b, 0, 0])[2] == relation(a, b)
    assert execute(assemble, f"s_cmp_{name}_i32 s8, s9", [a, b, 0, 0])[2] == relation(s(a), s(b))


def test_saveexec_and_branches(assemble):
    text = """
s_mov_b64 vcc, 0xff
s_and_saveexec_b64 s[16:17], vcc
s_mov_b64 s[12:13], exec
s_mov_b64 exec, s[16:17]
s_mov_b64 exec, 0
s_cbranch_execz good
s_mov_b64 s[12:13], 0
good:
s_mov_b64 exec, -1
s_cmp_eq_u32 s0, s0
"""
    assert execute(assemble, text, [0] * 4) == [0xFF, 0, 1]


def test_identity_registers(assemble):
    text = "s_getreg_b32 s12, hwreg(HW_REG_XCC_ID)\ns_getreg_b32 s13, hwreg(HW_REG_MODE, 4, 4)"
    assert execute(assemble, text, [0] * 4) == [0, 15, 0]
