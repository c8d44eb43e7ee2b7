"""The arithmetic of gfx950 instructions on numpy arrays, stated once.

The wave simulator (`zyfa.sim`) and the numerics twin (`zyfa.reference`) both use these functions,
so they cannot drift apart. Conventions:

* Single-precision functions take and return float32; "rounded once" means the exact result rounded
  to nearest even. Integers are unsigned bit patterns unless the name says otherwise.
* Matrix products are the exact dot product plus C in float64, rounded once to float32. The order
  in which the hardware adds is not specified, so comparisons with hardware need a tolerance.
* v_exp, v_log, v_rcp, v_rsq and v_sqrt are the float64 result rounded to float32 (hardware: about
  1 ulp).
* `flush_f32` replaces denormals by zeros; callers use it when the mode bits say so.

Functions may raise numpy's floating-point warnings; wrap a hot loop in `numpy.errstate`.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "ashr_pk_u8_i32",
    "bf16_decode",
    "bf16_encode",
    "e8m0_decode",
    "exp2_f32",
    "flush_f32",
    "fma_f32",
    "fp4_decode",
    "fp6_decode",
    "fp8_e4m3_decode",
    "fp8_e4m3_encode",
    "fp8_e5m2_decode",
    "fp8_e5m2_encode",
    "log2_f32",
    "max_f32",
    "mfma_dot",
    "min_f32",
    "rcp_f32",
    "rsq_f32",
    "small_float_table",
    "sqrt_f32",
    "u8_encode",
]

F32_TINY = 2.0**-126
"""Smallest normal float32."""

# Zero-dimensional arrays: numpy converts them faster than scalars.
TINY64 = np.array(F32_TINY)
TIE_MASK = np.array(0x1FFFFFFF)
TIE = np.array(0x10000000)
LOW19 = np.array(0x7FFFF, np.uint32)
SHIFT19 = np.array(19, np.uint32)
SHIFT1 = np.array(1, np.uint32)


def small_float_table(exponent_bits: int, mantissa_bits: int, kind: str) -> np.ndarray:
    """All values of a small float, float64[2 ** bits], indexed by the code with its sign bit.

    `kind`: "ieee" (top exponent is inf/NaN), "e4m3fn" (only all-ones is NaN), "finite".
    OCP 8-bit and microscaling formats, bias 2**(exponent_bits - 1) - 1.
    """
    bits = 1 + exponent_bits + mantissa_bits
    code = np.arange(1 << bits)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    fraction = mantissa / (1 << mantissa_bits)
    value = np.where(
        exponent == 0,
        np.ldexp(fraction, 1 - bias),
        np.ldexp(1.0 + fraction, np.maximum(exponent, 1) - bias),
    )
    top = exponent == (1 << exponent_bits) - 1
    if kind == "ieee":
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    elif kind == "e4m3fn":
        value = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return np.where(code >> (bits - 1), -value, value)


E4M3 = small_float_table(4, 3, "e4m3fn")
E5M2 = small_float_table(5, 2, "ieee")
E2M3 = small_float_table(2, 3, "finite")
E3M2 = small_float_table(3, 2, "finite")
E2M1 = small_float_table(2, 1, "finite")


def fp8_e4m3_decode(code: np.ndarray) -> np.ndarray:
    """OCP E4M3 codes (uint8) as float64."""
    result: np.ndarray = E4M3[code]
    return result


def fp8_e5m2_decode(code: np.ndarray) -> np.ndarray:
    """OCP E5M2 codes (uint8) as float64."""
    result: np.ndarray = E5M2[code]
    return result


def fp6_decode(code: np.ndarray, e3m2: bool = False) -> np.ndarray:
    """FP6 codes 0..63 as float64; E2M3 unless `e3m2`."""
    result: np.ndarray = (E3M2 if e3m2 else E2M3)[code]
    return result


def fp4_decode(code: np.ndarray) -> np.ndarray:
    """E2M1 codes 0..15 as float64."""
    result: np.ndarray = E2M1[code]
    return result


def _fp8_codes(values: np.ndarray, largest: int, overflow: int, saturate: bool) -> np.ndarray:
    """Code of every float32 class, uint8[2 ** 14]: 13 top bits, then "any lower bit is set".

    Sign, exponent, four mantissa bits and a sticky bit decide the rounding of a format with at
    most three mantissa bits. Each class is represented by one of its members.
    """
    index = np.arange(1 << 13)
    bits = ((index >> 1) << 19) | (index & 1)
    with np.errstate(invalid="ignore"):
        magnitude = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    finite = values[: largest + 1]
    upper = np.searchsorted(finite, magnitude)
    below = np.maximum(upper - 1, 0)
    limit = 2 * finite[-1] - finite[-2]
    ladder = np.append(finite, limit)
    gap = magnitude - ladder[below] - (ladder[np.minimum(upper, largest + 1)] - magnitude)
    up = (gap > 0) | ((gap == 0) & (upper % 2 == 0))
    code = np.where(up, upper, below)
    code = np.where(code > largest, largest if saturate else overflow, code)
    code = np.where(np.isnan(magnitude), 0x7F, code)
    return np.concatenate([code, code | 0x80]).astype(np.uint8)


ENCODE = {
    ("e4m3", True): _fp8_codes(E4M3, 0x7E, 0x7F, True),
    ("e4m3", False): _fp8_codes(E4M3, 0x7E, 0x7F, False),
    ("e5m2", True): _fp8_codes(E5M2, 0x7B, 0x7C, True),
    ("e5m2", False): _fp8_codes(E5M2, 0x7B, 0x7C, False),
}


def _fp8_encode(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    sticky = ((bits & LOW19) + LOW19) >> SHIFT19
    return table.take(((bits >> SHIFT19) << SHIFT1) | sticky)


def fp8_e4m3_encode(x: np.ndarray, saturate: bool = True) -> np.ndarray:
    """float32 to OCP E4M3 (uint8), nearest even.

    Values that round beyond 448 become 448 when `saturate` (MODE.FP16_OVFL = 1), else NaN. NaN
    stays NaN (0x7f with the sign).
    """
    return _fp8_encode(x, ENCODE["e4m3", saturate])


def fp8_e5m2_encode(x: np.ndarray, saturate: bool = True) -> np.ndarray:
    """float32 to OCP E5M2 (uint8), nearest even; overflow to 57344, or to inf unless `saturate`."""
    return _fp8_encode(x, ENCODE["e5m2", saturate])


def bf16_encode(x: np.ndarray) -> np.ndarray:
    """float32 to bfloat16 bits (uint16), nearest even; NaN stays a quiet NaN."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(nan, quiet, rounded).astype(np.uint16)


def bf16_decode(code: np.ndarray) -> np.ndarray:
    """bfloat16 bits (uint16) as float32."""
    return (code.astype(np.uint32) << np.uint32(16)).view(np.float32)


def e8m0_decode(code: np.ndarray) -> np.ndarray:
    """E8M0 scale bytes as float64: 2 ** (code - 127); 255 is NaN (OCP microscaling)."""
    exponent = np.asarray(code).astype(np.int64)
    return np.where(exponent == 255, np.nan, np.ldexp(1.0, exponent - 127))


def flush_f32(x: np.ndarray) -> np.ndarray:
    """float32 with denormals replaced by zeros of the same sign."""
    return np.where(np.abs(x) < np.float32(F32_TINY), np.copysign(np.float32(0), x), x)


def fma_f32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in float32, rounded once.

    The float64 product is exact and the float64 sum almost always rounds to the right float32.
    Where the sum lies on a tie of float32 (or among its denormals) it is first rounded to odd,
    after which the second rounding cannot go wrong.
    """
    product = np.asarray(a, dtype=np.float64) * np.asarray(b, dtype=np.float64)
    addend = np.asarray(c, dtype=np.float64)
    total = product + addend
    tie = (total.view(np.int64) & TIE_MASK) == TIE
    if np.count_nonzero(tie) or np.count_nonzero(np.abs(total) < TINY64):
        total = _round_to_odd(total, product, addend)
    return total.astype(np.float32)


def _round_to_odd(total: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y rounded to odd, given total = x + y rounded to nearest (Knuth's two-sum error)."""
    virtual = total - x
    error = (x - (total - virtual)) + (y - virtual)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & ((bits & 1) == 0)
    away = (error > 0) == (total > 0)
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64)


def exp2_f32(x: np.ndarray) -> np.ndarray:
    """v_exp_f32: 2 ** x."""
    return np.exp2(x.astype(np.float64)).astype(np.float32)


def log2_f32(x: np.ndarray) -> np.ndarray:
    """v_log_f32: base-2 logarithm; -inf at 0, NaN below."""
    return np.log2(x.astype(np.float64)).astype(np.float32)


def rcp_f32(x: np.ndarray) -> np.ndarray:
    """v_rcp_f32: 1 / x."""
    return (1.0 / x.astype(np.float64)).astype(np.float32)


def rsq_f32(x: np.ndarray) -> np.ndarray:
    """v_rsq_f32: 1 / sqrt(x)."""
    return (1.0 / np.sqrt(x.astype(np.float64))).astype(np.float32)


def sqrt_f32(x: np.ndarray) -> np.ndarray:
    """v_sqrt_f32."""
    return np.sqrt(x.astype(np.float64)).astype(np.float32)


def max_f32(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """v_max_f32: IEEE maxNum, so one NaN operand yields the other operand."""
    result: np.ndarray = np.fmax(a, b)
    return result


def min_f32(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """v_min_f32: IEEE minNum."""
    result: np.ndarray = np.fmin(a, b)
    return result


def ashr_pk_u8_i32(low: np.ndarray, high: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """v_ashr_pk_u8_i32: uint16 of two bytes, each the signed shift saturated to 0..255.

    `low`, `high`: uint32 or int32 bit patterns; `shift` uses its five low bits.
    """
    amount = np.asarray(shift).astype(np.uint32).astype(np.int32) & np.int32(31)
    first = np.clip(np.asarray(low).view(np.int32) >> amount, 0, 255)
    second = np.clip(np.asarray(high).view(np.int32) >> amount, 0, 255)
    result: np.ndarray = (first | (second << 8)).astype(np.uint16)
    return result


def u8_encode(x: np.ndarray) -> np.ndarray:
    """v_cvt_pk_u8_f32's byte: nearest even, saturated to 0..255, NaN gives 0."""
    return np.clip(np.rint(np.where(np.isnan(x), np.float32(0), x)), 0, 255).astype(np.uint8)


def mfma_dot(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    scale_a: np.ndarray | None = None,
    scale_b: np.ndarray | None = None,
) -> np.ndarray:
    """D = A B + C, float32[..., m, n], rounded once from float64.

    a: [..., m, k] and b: [..., k, n] as float64; c: [..., m, n]. Scales are E8M0 bytes, one per 32
    elements of k: scale_a [..., m, k / 32], scale_b [..., k / 32, n]. FP4..FP8 E4M3 products sum
    exactly in float64.
    """
    if scale_a is not None:
        a = a * np.repeat(e8m0_decode(scale_a), 32, axis=-1)
    if scale_b is not None:
        b = b * np.repeat(e8m0_decode(scale_b), 32, axis=-2)
    result: np.ndarray = (a @ b + c).astype(np.float32)
    return result
