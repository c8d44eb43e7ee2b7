"""Vector instructions against independent formulas, with edge values in every draw."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.examples import examples
from zyfa.sim import run

EDGES = np.array(
    [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
     0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x4B000000, 0x437F0000,
     0x43E00000, 0x43E80000, 0x477FE000, 0x33000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x4F000000],
    np.uint32,
)  # fmt: skip
LOADS = "v_lshlrev_b32_e32 v1, 2, v0\n" + "".join(
    f"s_load_dwordx2 s[4:5], s[0:1], {8 * n}\ns_waitcnt lgkmcnt(0)\n"
    f"global_load_dword v{2 + n}, v1, s[4:5]\n"
    for n in range(4)
)
STORE = (
    "s_nop 7\ns_mov_b64 exec, -1\ns_load_dwordx2 s[4:5], s[0:1], 32\ns_waitcnt lgkmcnt(0)\n"
    "global_store_dwordx2 v1, v[6:7], s[4:5]\n"
)
draws = st.integers(0, 2**32 - 1)
CHECKS = examples(8, (HealthCheck.function_scoped_fixture,))


def inputs(seed: int, small: bool = False) -> list[np.ndarray]:
    """Three uint32[64] operands: bit patterns and ordinary floats, edges first."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(3):
        x = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
        ordinary = rng.normal(size=64).astype(np.float32) * np.float32(8)
        x = np.where(rng.random(64) < 0.5, ordinary.view(np.uint32), x)
        x[: len(EDGES)] = rng.permutation(EDGES)
        out.append(ordinary.view(np.uint32) if small else x)
    return out


def execute(assemble, text: str, operands, old=None, **options) -> np.ndarray:
    """uint32[2, 64] of v6, v7 after `text` on v2, v3, v4; v6 starts as `old`."""
    old = np.zeros(64, np.uint32) if old is None else old
    body = LOADS + "s_waitcnt vmcnt(0)\nv_mov_b32_e32 v6, v5\nv_mov_b32_e32 v7, v5\ns_nop 7\n"
    # The store addresses two dwords a lane.
    store = STORE.replace("global_store", "v_lshlrev_b32_e32 v1, 3, v0\nglobal_store")
    out = np.zeros((64, 2), np.uint32)
    run(assemble(body + text + "\n" + store, buffers=5, **options), args=[*operands, old, out])
    return out.T.copy()


def f32(bits: np.ndarray) -> np.ndarray:
    return bits.view(np.float32)


def same_floats(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits; any NaN equals any NaN."""
    want = np.asarray(want, np.float32)
    both = np.isnan(f32(got)) & np.isnan(want)
    np.testing.assert_array_equal(got[~both], want.view(np.uint32)[~both])


def exact(value: Fraction) -> float:
    """A Fraction rounded once to float32, as a float."""
    if value == 0:
        return 0.0
    exponent = max(math.frexp(float(abs(value)))[1] - 24, -149) if abs(value) > Fraction(
        1, 2**400) else -149  # fmt: skip
    unit = Fraction(2) ** exponent
    rounded = round(value / unit) * unit
    return math.copysign(math.inf, value) if abs(rounded) >= 2**128 else float(rounded)


@given(seed=draws)
@CHECKS
def test_fma_is_rounded_once(assemble, seed):
    a, b, c = inputs(seed)
    got = execute(assemble, "v_fma_f32 v6, v2, v3, v4", (a, b, c))[0]
    x, y, z = (f32(v).astype(np.float64) for v in (a, b, c))
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    want = [
        exact(Fraction(p) * Fraction(q) + Fraction(r))
        for p, q, r in zip(x[finite], y[finite], z[finite], strict=True)
    ]
    np.testing.assert_array_equal(f32(got)[finite], np.array(want, np.float32))
    with np.errstate(all="ignore"):
        special = (x * y + z)[~finite]
    same_floats(got[~finite], special)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("v_add_f32_e32 v6, v2, v3", lambda a, b, c: a + b),
        ("v_sub_f32_e32 v6, v2, v3", lambda a, b, c: a - b),
        ("v_mul_f32_e64 v6, -v2, |v3|", lambda a, b, c: -a * np.abs(b)),
        ("v_add_f32_e64 v6, -|v2|, v3", lambda a, b, c: b - np.abs(a)),
        ("v_mul_f32_e32 v6, 0.5, v2", lambda a, b, c: a * np.float32(0.5)),
        ("v_mul_f32_e32 v6, 0x40490fdb, v2", lambda a, b, c: a * np.float32(np.pi)),
        ("v_add_f32_e64 v6, v2, v3 mul:4", lambda a, b, c: (a + b) * np.float32(4)),
        ("v_add_f32_e64 v6, v2, v3 div:2", lambda a, b, c: (a + b) * np.float32(0.5)),
        ("v_max_f32_e32 v6, v2, v3", lambda a, b, c: np.fmax(a, b)),
        ("v_max3_f32 v6, v2, v3, v4", lambda a, b, c: np.fmax(np.fmax(a, b), c)),
        ("v_ceil_f32_e32 v6, v2", lambda a, b, c: np.ceil(a)),
        ("v_rndne_f32_e32 v6, v2", lambda a, b, c: np.rint(a)),
        ("v_exp_f32_e32 v6, v2", lambda a, b, c: np.exp2(a.astype(np.longdouble))),
        ("v_log_f32_e32 v6, v2", lambda a, b, c: np.log2(a.astype(np.longdouble))),
        ("v_rcp_f32_e32 v6, v2", lambda a, b, c: 1 / a.astype(np.longdouble)),
    ],
)
@given(seed=draws)
@CHECKS
def test_float(assemble, text, formula, seed):
    operands = inputs(seed)
    with np.errstate(all="ignore"):
        want = np.asarray(formula(*map(f32, operands))).astype(np.float32)
    zeros = (want == 0) & (f32(execute(assemble, text, operands)[0]) == 0)
    got = execute(assemble, text, operands)[0]
    same_floats(got[~zeros], want[~zeros])


@given(seed=draws)
@CHECKS
def test_clamp(assemble, seed):
    a, b, c = inputs(seed)
    got = f32(execute(assemble, "v_add_f32_e64 v6, v2, v3 clamp", (a, b, c))[0])
    with np.errstate(all="ignore"):
        want = np.clip(np.nan_to_num(f32(a) + f32(b), nan=0, posinf=2, neginf=-2), 0, 1)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("text", ["v_mul_f32_e32 v6, v2, v3", "v_add_f32_e32 v6, v2, v3"])
@given(seed=draws)
@CHECKS
def test_denormals_are_flushed_when_the_mode_says_so(assemble, text, seed):
    a, b, c = inputs(seed)

    def flush(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x)

    got = flush(f32(execute(assemble, text, (a, b, c), denorm=0)[0]))
    x, y = flush(f32(a)), flush(f32(b))
    with np.errstate(all="ignore"):
        want = flush(x * y if "mul" in text else x + y)
    np.testing.assert_array_equal(got, want)
    assert np.array_equal(got, f32(execute(assemble, text, (a, b, c), denorm=0)[0]), equal_nan=True)


def signed(x: int) -> int:
    return x - 2**32 if x >> 31 else x


INTEGER = [
    ("v_add_u32_e32 v6, v2, v3", lambda a, b, c: a + b),
    ("v_sub_u32_e32 v6, v2, v3", lambda a, b, c: a - b),
    ("v_mul_lo_u32 v6, v2, v3", lambda a, b, c: a * b),
    ("v_mul_hi_u32 v6, v2, v3", lambda a, b, c: a * b >> 32),
    ("v_mul_hi_i32 v6, v2, v3", lambda a, b, c: signed(a) * signed(b) >> 32),
    ("v_mad_u32_u24 v6, v2, v3, v4", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    ("v_lshl_add_u32 v6, v2, v3, v4", lambda a, b, c: (a << (b & 31)) + c),
    ("v_lshl_or_b32 v6, v2, v3, v4", lambda a, b, c: ((a << (b & 31)) & 0xFFFFFFFF) | c),
    ("v_lshrrev_b32_e32 v6, v2, v3", lambda a, b, c: b >> (a & 31)),
    ("v_ashrrev_i32_e32 v6, v2, v3", lambda a, b, c: signed(b) >> (a & 31)),
    ("v_bfe_u32 v6, v2, v3, v4", lambda a, b, c: (a >> (b & 31)) & ((1 << (c & 31)) - 1)),
    ("v_bfi_b32 v6, v2, v3, v4", lambda a, b, c: (a & b) | (~a & c)),
    ("v_bcnt_u32_b32 v6, v2, v3", lambda a, b, c: a.bit_count() + b),
    ("v_ffbh_u32_e32 v6, v2", lambda a, b, c: 32 - a.bit_length() if a else -1),
    ("v_bfrev_b32_e32 v6, v2", lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    ("v_alignbit_b32 v6, v2, v3, v4", lambda a, b, c: ((a << 32 | b) >> (c & 31))),
    ("v_max_i32_e32 v6, v2, v3", lambda a, b, c: max(signed(a), signed(b))),
    ("v_xad_u32 v6, v2, v3, v4", lambda a, b, c: (a ^ b) + c),
    ("v_bitop3_b32 v6, v2, v3, v4 bitop3:0x96", lambda a, b, c: a ^ b ^ c),
    ("v_bitop3_b32 v6, v2, v3, v4 bitop3:0xca", lambda a, b, c: (a & b) | (~a & c)),
    ("v_mul_u32_u24_sdwa v6, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
     "src1_sel:WORD_1", lambda a, b, c: (a >> 8 & 255) * (b >> 16)),
    ("v_ashr_pk_u8_i32 v6, v2, v3, 17", lambda a, b, c:
     min(max(signed(a) >> 17, 0), 255) | min(max(signed(b) >> 17, 0), 255) << 8),
    ("v_perm_b32 v6, v2, v3, s8", lambda a, b, c:
     (b & 255) | (a >> 24) << 8 | (b >> 16 & 255) << 16),
]  # fmt: skip


@pytest.mark.parametrize(("text", "formula"), INTEGER, ids=[t.split()[0] for t, _ in INTEGER])
@given(seed=draws)
@CHECKS
def test_integer(assemble, text, formula, seed):
    operands = inputs(seed)
    got = execute(assemble, "s_mov_b32 s8, 0x0c020700\n" + text, operands)[0]
    rows = zip(*(x.tolist() for x in operands), strict=True)
    assert got.tolist() == [formula(*row) & 0xFFFFFFFF for row in rows]


@given(seed=draws, mask=st.integers(0, 2**64 - 1))
@CHECKS
def test_partial_exec_keeps_the_other_lanes(assemble, seed, mask):
    a, b, c = inputs(seed)
    old = np.arange(64, dtype=np.uint32) + np.uint32(0xABC00)
    set_exec = f"s_mov_b32 exec_lo, {mask & 0xFFFFFFFF}\ns_mov_b32 exec_hi, {mask >> 32}\n"
    got = execute(assemble, set_exec + "v_add_u32_e32 v6, v2, v3", (a, b, c), old)[0]
    lanes = np.array([mask >> n & 1 for n in range(64)], bool)
    np.testing.assert_array_equal(got, np.where(lanes, a + b, old))


@given(seed=draws)
@CHECKS
def test_cvt_pk_fp8(assemble, seed):
    torch = pytest.importorskip("torch")
    a, b, c = inputs(seed)
    old = np.full(64, 0x11223344, np.uint32)
    text = "v_cvt_pk_fp8_f32 v6, v2, v3 op_sel:[0,0,1]"
    got = execute(assemble, text, (a, b, c), old, overflow=1)[0]
    codes = [
        torch.from_numpy(np.clip(f32(x), -448, 448)).to(torch.float8_e4m3fn).view(torch.uint8)
        for x in (a, b)
    ]
    low, high = (code.numpy().astype(np.uint32) for code in codes)
    nans = np.isnan(f32(a)) | np.isnan(f32(b))
    want = (old & 0xFFFF) | low << 16 | high << 24
    np.testing.assert_array_equal(got[~nans], want[~nans])


@given(seed=draws)
@CHECKS
def test_cvt_pk_bf16(assemble, seed):
    torch = pytest.importorskip("torch")
    a, b, c = inputs(seed)
    got = execute(assemble, "v_cvt_pk_bf16_f32 v6, v2, v3", (a, b, c))[0]
    halves = [torch.from_numpy(f32(x).copy()).bfloat16().view(torch.int16) for x in (a, b)]
    low, high = (half.numpy().view(np.uint16).astype(np.uint32) for half in halves)
    nans = np.isnan(f32(a)) | np.isnan(f32(b))
    np.testing.assert_array_equal(got[~nans], (low | high << 16)[~nans])


@given(seed=draws)
@CHECKS
def test_cvt_pk_u8_rounds_to_nearest_and_saturates(assemble, seed):
    a, b, c = inputs(seed)
    got = execute(assemble, "v_cvt_pk_u8_f32 v6, v2, 2, v3", (a, b, c))[0]
    value = np.nan_to_num(f32(a).astype(np.float64), nan=0, posinf=300, neginf=-1)
    byte = np.array([min(max(round(v), 0), 255) for v in value.tolist()], np.uint32)
    np.testing.assert_array_equal(got, (b & 0xFF00FFFF) | byte << 16)


@given(seed=draws)
@CHECKS
def test_packed_f32_and_op_sel(assemble, seed):
    a, b, c = inputs(seed)
    text = (
        "v_pk_fma_f32 v[6:7], v[2:3], v[2:3], v[4:5] op_sel:[0,1,0] op_sel_hi:[0,1,0] "
        "neg_lo:[1,0,0]"
    )
    got = execute(assemble, text, (a, b, c), c)
    x, y, z = (f32(v).astype(np.longdouble) for v in (a, b, c))
    with np.errstate(all="ignore"):
        same_floats(got[0], (-x * y + z).astype(np.float32))
        same_floats(got[1], (x * y + z).astype(np.float32))


@given(seed=draws)
@CHECKS
def test_a_packed_clamp_holds_both_halves_and_makes_nan_zero(assemble, seed):
    a, b, c = inputs(seed)
    got = execute(assemble, "v_pk_mul_f32 v[6:7], v[2:3], v[4:5] op_sel_hi:[1,0] clamp", (a, b, c))
    with np.errstate(all="ignore"):
        for half, x in zip(got, (a, b), strict=True):
            want = np.nan_to_num(f32(x) * f32(c), nan=0, posinf=2, neginf=-2)
            np.testing.assert_array_equal(f32(half), np.clip(want, 0, 1))


@given(seed=draws)
@CHECKS
def test_lane_moves(assemble, seed):
    a, b, c = inputs(seed)
    text = "v_mov_b32_e32 v6, v2\nv_mov_b32_e32 v7, v3\ns_nop 1\nv_permlane{}_swap_b32_e32 v6, v7"
    first, second = execute(assemble, text.format(32), (a, b, c))
    np.testing.assert_array_equal(first, np.concatenate([a[:32], b[:32]]))
    np.testing.assert_array_equal(second, np.concatenate([a[32:], b[32:]]))
    first, second = execute(assemble, text.format(16), (a, b, c))
    rows_a, rows_b = a.reshape(4, 16), b.reshape(4, 16)
    np.testing.assert_array_equal(
        first.reshape(4, 16), [rows_a[0], rows_b[0], rows_a[2], rows_b[2]]
    )
    np.testing.assert_array_equal(
        second.reshape(4, 16), [rows_a[1], rows_b[1], rows_a[3], rows_b[3]]
    )


@pytest.mark.parametrize(
    ("control", "pick"),
    [
        ("quad_perm:[3,1,0,2]", lambda n: n // 4 * 4 + (3, 1, 0, 2)[n % 4]),
        ("row_shr:3", lambda n: n - 3 if n % 16 >= 3 else None),
        ("row_shl:5", lambda n: n + 5 if n % 16 < 11 else None),
        ("row_ror:4", lambda n: n // 16 * 16 + (n - 4) % 16),
        ("row_mirror", lambda n: n // 16 * 16 + 15 - n % 16),
        ("row_half_mirror", lambda n: n // 8 * 8 + 7 - n % 8),
        ("row_newbcast:6", lambda n: n // 16 * 16 + 6),
    ],
)
@pytest.mark.parametrize("bound", [False, True])
def test_dpp(assemble, control, pick, bound):
    a, b, c = inputs(7)
    old = np.full(64, 77, np.uint32)
    text = f"v_mov_b32_dpp v6, v2 {control} row_mask:0xf bank_mask:0xf" + " bound_ctrl:0" * bound
    got = execute(assemble, text, (a, b, c), old)[0]
    source = [pick(n) for n in range(64)]
    want = [(0 if bound else 77) if s is None else int(a[s]) for s in source]
    assert got.tolist() == want


def test_transpose_reads(assemble):
    """16 lanes read 8 rows of 16 bytes (or 4 of 16 halves) and get the columns."""
    rng = np.random.default_rng(3)
    data = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
    more = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
    for form, dtype, rows in (("b8", np.uint8, 8), ("b16", np.uint16, 4)):
        text = (
            "v_lshlrev_b32_e32 v8, 3, v0\nds_write_b64 v8, v[2:3]\ns_waitcnt lgkmcnt(0)\n"
            f"ds_read_b64_tr_{form} v[6:7], v8\ns_waitcnt lgkmcnt(0)"
        )
        got = execute(assemble, text, (data, more, data), lds=512)
        memory = np.stack([data, more], axis=1).reshape(-1).view(dtype).reshape(4, rows, 16)
        want = memory.transpose(0, 2, 1).copy().view(np.uint32).reshape(64, 2)
        np.testing.assert_array_equal(got.T, want)
