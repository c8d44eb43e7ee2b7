"""Vector ALU on float32, float64 and float16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa import arithmetic
from zyfa.sim.isa.access import scalar_putter
from zyfa.sim.isa.builders import Builder, destination, handles, source
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave, lane_mask, mask_bits

TINY, TWO_PI = np.float32(2.0**-126), 2 * np.pi


def flushing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with denormal inputs and results replaced by zeros."""

    def flushed(*values: np.ndarray) -> np.ndarray:
        return arithmetic.flush_f32(function(*map(arithmetic.flush_f32, values)))

    return flushed


def arithmetic_f32(function: Callable[..., Any], count: int) -> Callable[[Instruction], Execute]:
    """Builder of an f32 instruction with `count` sources that obeys the denormal mode."""

    def build(inst: Instruction) -> Execute:
        act = flushing(function) if inst.flush else function
        put = destination(inst, "f")
        gets = [source(inst, 1 + n, "f") for n in range(count)]
        if count == 1:
            (a,) = gets
            return lambda w: put(w, act(a(w)))
        if count == 2:
            a, b = gets
            return lambda w: put(w, act(a(w), b(w)))
        a, b, c = gets
        return lambda w: put(w, act(a(w), b(w), c(w)))

    return build


def maximum3(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """v_max3_f32: maxNum of three."""
    result: np.ndarray = np.fmax(np.fmax(a, b), c)
    return result


def median3(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """v_med3_f32; with a NaN operand the minimum of the three (maxNum rules)."""
    middle = np.fmax(np.fmin(a, b), np.fmin(np.fmax(a, b), c))
    low = np.fmin(np.fmin(a, b), c)
    result: np.ndarray = np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), low, middle)
    return result


def _ldexp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    exponent = np.clip(b.astype(np.int32), -400, 400)
    return np.ldexp(a.astype(np.float64), exponent).astype(np.float32)


def _ldexp64(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.ldexp(a, np.clip(b.astype(np.int32), -3000, 3000))
    return result


def _fract(a: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.minimum(a - np.floor(a), np.nextafter(a.dtype.type(1), a.dtype.type(0)))
    return result


def _frexp_exponent(a: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(a), np.frexp(a)[1], 0)


def _frexp_mantissa(a: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(a), np.frexp(a)[0], a)


UNARY: dict[str, Callable[..., Any]] = {
    "exp": arithmetic.exp2_f32, "log": arithmetic.log2_f32, "rcp": arithmetic.rcp_f32,
    "rcp_iflag": arithmetic.rcp_f32, "rsq": arithmetic.rsq_f32, "sqrt": arithmetic.sqrt_f32,
    "sin": lambda a: np.sin(TWO_PI * a.astype(np.float64)).astype(np.float32),
    "cos": lambda a: np.cos(TWO_PI * a.astype(np.float64)).astype(np.float32),
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rndne": np.rint, "fract": _fract,
    "frexp_mant": _frexp_mantissa,
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "subrev": lambda a, b: b - a,
    "mul": lambda a, b: a * b, "max": np.fmax, "min": np.fmin,
}  # fmt: skip
TERNARY: dict[str, Callable[..., Any]] = {
    "fma": arithmetic.fma_f32, "max3": maximum3,
    "min3": lambda a, b, c: np.fmin(np.fmin(a, b), c), "med3": median3,
    "maximum3": lambda a, b, c: np.maximum(np.maximum(a, b), c),
    "minimum3": lambda a, b, c: np.minimum(np.minimum(a, b), c),
    "fmaak": arithmetic.fma_f32, "fmamk": arithmetic.fma_f32,
}  # fmt: skip
for _name, _function in UNARY.items():
    handles(f"v_{_name}_f32")(arithmetic_f32(_function, 1))
for _name, _function in BINARY.items():
    handles(f"v_{_name}_f32")(arithmetic_f32(_function, 2))
for _name, _function in TERNARY.items():
    handles(f"v_{_name}_f32")(arithmetic_f32(_function, 3))
handles("v_mul_legacy_f32")(
    arithmetic_f32(lambda a, b: np.where((a == 0) | (b == 0), np.float32(0), a * b), 2)
)


def _lanewise(function: Callable[..., Any], kinds: str, result: str) -> Builder:
    def build(inst: Instruction) -> Execute:
        put = destination(inst, result)
        gets = [source(inst, 1 + n, kind) for n, kind in enumerate(kinds)]
        return lambda w: put(w, function(*[get(w) for get in gets]))

    return build


def fma_f64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in float64, in extended precision where numpy has it (not always one rounding)."""
    wide = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    return wide.astype(np.float64)


def fma_f16(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in float16; the float64 sum is exact."""
    wide = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    return wide.astype(np.float16)


for _kind, _suffix in (("d", "f64"), ("h", "f16")):
    for _name, _function in BINARY.items():
        if not (_kind == "d" and _name in ("sub", "subrev")):
            handles(f"v_{_name}_{_suffix}")(_lanewise(_function, _kind * 2, _kind))
    for _name in ("ceil", "floor", "trunc", "rndne", "fract", "frexp_mant"):
        handles(f"v_{_name}_{_suffix}")(_lanewise(UNARY[_name], _kind, _kind))
    for _name, _function in (
        ("rcp", lambda a: (1.0 / a.astype(np.float64)).astype(a.dtype)),
        ("rsq", lambda a: (1.0 / np.sqrt(a.astype(np.float64))).astype(a.dtype)),
        ("sqrt", lambda a: np.sqrt(a.astype(np.float64)).astype(a.dtype)),
        ("exp", lambda a: np.exp2(a.astype(np.float64)).astype(a.dtype)),
        ("log", lambda a: np.log2(a.astype(np.float64)).astype(a.dtype)),
    ):
        if _kind == "h" or _name in ("rcp", "rsq", "sqrt"):
            handles(f"v_{_name}_{_suffix}")(_lanewise(_function, _kind, _kind))
for _name in ("max3", "min3", "med3"):
    handles(f"v_{_name}_f16")(_lanewise(TERNARY[_name], "hhh", "h"))
handles("v_fma_f64")(_lanewise(fma_f64, "ddd", "d"))
handles("v_fma_f16", "v_fmaak_f16", "v_fmamk_f16")(_lanewise(fma_f16, "hhh", "h"))
handles("v_ldexp_f32")(_lanewise(_ldexp, "fi", "f"))
handles("v_ldexp_f64")(_lanewise(_ldexp64, "di", "d"))
handles("v_ldexp_f16")(
    _lanewise(lambda a, b: np.ldexp(a.astype(float), b.astype(int)).astype(np.float16), "hS", "h")
)
handles("v_frexp_exp_i32_f32")(_lanewise(_frexp_exponent, "f", "i"))
handles("v_frexp_exp_i32_f64")(_lanewise(_frexp_exponent, "d", "i"))
handles("v_frexp_exp_i16_f16")(_lanewise(_frexp_exponent, "h", "S"))


def _accumulate(fma: Callable[..., Any], kind: str) -> Callable[[Instruction], Execute]:
    """v_fmac: the destination is the addend."""

    def build(inst: Instruction) -> Execute:
        act = flushing(fma) if inst.flush and kind == "f" else fma
        put = destination(inst, kind)
        a, b = source(inst, 1, kind), source(inst, 2, kind)
        c = source_of_destination(inst, kind)
        return lambda w: put(w, act(a(w), b(w), c(w)))

    return build


def source_of_destination(inst: Instruction, kind: str) -> Callable[[Wave], np.ndarray]:
    """Reader of the destination register as a third source."""
    from zyfa.sim.isa.access import source_getter

    return source_getter(inst.operands[0], kind)


handles("v_fmac_f32", "v_mac_f32")(_accumulate(arithmetic.fma_f32, "f"))
handles("v_fmac_f64")(_accumulate(fma_f64, "d"))
handles("v_fmac_f16")(_accumulate(fma_f16, "h"))

# Division support, after the pseudo code of the CDNA3 ISA document.
LIMITS = {"f": (np.float32, -126, 96, 23, 150, 64), "d": (np.float64, -1022, 768, 53, 1075, 128)}


def _exponent(a: np.ndarray) -> np.ndarray:
    """Unbiased exponent as the ISA counts it: value = m * 2 ** e with 1 <= m < 2."""
    return np.where(a == 0, -9999, np.frexp(a)[1] - 1)


@handles("v_div_scale_f32", "v_div_scale_f64")
def _div_scale(inst: Instruction) -> Execute:
    kind = "f" if inst.syntax.stem.endswith("32") else "d"
    dtype, lowest, gap, small, _, step = LIMITS[kind]
    put = destination(inst, kind)
    put_mask = scalar_putter(inst.operands[1], True)
    gets = [source(inst, n, kind) for n in (2, 3, 4)]
    tiny = dtype(2.0**lowest)

    def run(w: Wave) -> None:
        value, den, num = (np.broadcast_to(get(w), (64,)) for get in gets)
        up, down = np.ldexp(value, step), np.ldexp(value, -step)
        is_den, is_num = value == den, value == num
        inverse, ratio = dtype(1) / den, num / den
        inverse_tiny = np.abs(inverse) < tiny
        ratio_tiny = (np.abs(ratio) < tiny) & (num != 0)
        zero = (num == 0) | (den == 0)
        bias = -lowest + 1
        conditions = [
            zero,
            _exponent(num) - _exponent(den) >= gap,
            np.abs(den) < tiny,
            inverse_tiny & ratio_tiny,
            inverse_tiny,
            ratio_tiny,
            _exponent(num) + bias <= small,
        ]
        results = [
            np.full(64, np.nan, dtype), np.where(is_den, up, value), up,
            np.where(is_den, up, value), down, np.where(is_num, up, value), up,
        ]  # fmt: skip
        flag = np.select(conditions, [np.full(64, n in (1, 3, 5)) for n in range(7)], False)
        put(w, np.select(conditions, results, value))
        put_mask(w, mask_bits(flag & w.lanes))

    return run


@handles("v_div_fmas_f32", "v_div_fmas_f64")
def _div_fmas(inst: Instruction) -> Execute:
    kind = "f" if inst.syntax.stem.endswith("32") else "d"
    fma = arithmetic.fma_f32 if kind == "f" else fma_f64
    step = LIMITS[kind][5]
    put = destination(inst, kind)
    gets = [source(inst, n, kind) for n in (1, 2, 3)]

    def run(w: Wave) -> None:
        a, b, c = (np.broadcast_to(get(w), (64,)) for get in gets)
        value = fma(a, b, c)
        scaled = np.ldexp(value, np.where(_exponent(c) > 0, step, -step))
        put(w, np.where(lane_mask(w.vcc()), scaled, value))

    return run


@handles("v_div_fixup_f32", "v_div_fixup_f64")
def _div_fixup(inst: Instruction) -> Execute:
    kind = "f" if inst.syntax.stem.endswith("32") else "d"
    dtype, _, _, _, under, _ = LIMITS[kind]
    put = destination(inst, kind)
    gets = [source(inst, n, kind) for n in (1, 2, 3)]
    nan, inf, zero = dtype(np.nan), dtype(np.inf), dtype(0)

    def run(w: Wave) -> None:
        quotient, den, num = (np.broadcast_to(get(w), (64,)) for get in gets)
        negative = np.signbit(den) != np.signbit(num)
        both_zero, both_inf = (den == 0) & (num == 0), np.isinf(den) & np.isinf(num)
        magnitude: np.ndarray = np.select(
            [np.isnan(num) | np.isnan(den) | both_zero | both_inf,
             (den == 0) | np.isinf(num), np.isinf(den) | (num == 0),
             _exponent(num) - _exponent(den) < -under],
            [np.asarray(x) for x in (nan, inf, zero, zero)], np.abs(quotient),
        )  # fmt: skip
        put(w, np.where(negative, -magnitude, magnitude))

    return run
