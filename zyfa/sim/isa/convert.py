"""Conversions between number formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa import arithmetic
from zyfa.sim.isa.access import vector_putter
from zyfa.sim.isa.builders import destination, handles, source
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.lanes import SELECT
from zyfa.sim.isa.valu import lanewise
from zyfa.sim.state.wave import Wave

U8 = np.array(0xFF, np.uint32)


def to_int(value: np.ndarray, low: int, high: int) -> np.ndarray:
    """Saturating conversion of already rounded floats to int64; NaN gives 0."""
    value = np.where(np.isnan(value), 0, value).astype(np.float64)
    result: np.ndarray = np.clip(value, low, high).astype(np.int64)
    return result


I32, U32, I16, U16 = (-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**15), 2**15 - 1), (0, 2**16 - 1)

SIMPLE: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("v_cvt_f32_i32", "i", "f", lambda a: a.astype(np.float32)),
    ("v_cvt_f32_u32", "u", "f", lambda a: a.astype(np.float32)),
    ("v_cvt_i32_f32", "f", "i", lambda a: to_int(np.trunc(a), *I32)),
    ("v_cvt_u32_f32", "f", "u", lambda a: to_int(np.trunc(a), *U32)),
    ("v_cvt_rpi_i32_f32", "f", "i", lambda a: to_int(np.floor(a + np.float32(0.5)), *I32)),
    ("v_cvt_flr_i32_f32", "f", "i", lambda a: to_int(np.floor(a), *I32)),
    ("v_cvt_f16_f32", "f", "h", lambda a: a.astype(np.float16)),
    ("v_cvt_f32_f16", "h", "f", lambda a: a.astype(np.float32)),
    ("v_cvt_f64_f32", "f", "d", lambda a: a.astype(np.float64)),
    ("v_cvt_f32_f64", "d", "f", lambda a: a.astype(np.float32)),
    ("v_cvt_f64_i32", "i", "d", lambda a: a.astype(np.float64)),
    ("v_cvt_f64_u32", "u", "d", lambda a: a.astype(np.float64)),
    ("v_cvt_i32_f64", "d", "i", lambda a: to_int(np.trunc(a), *I32)),
    ("v_cvt_u32_f64", "d", "u", lambda a: to_int(np.trunc(a), *U32)),
    ("v_cvt_f16_i16", "S", "h", lambda a: a.astype(np.float16)),
    ("v_cvt_f16_u16", "H", "h", lambda a: a.astype(np.float16)),
    ("v_cvt_i16_f16", "h", "S", lambda a: to_int(np.trunc(a), *I16).astype(np.int16)),
    ("v_cvt_u16_f16", "h", "H", lambda a: to_int(np.trunc(a), *U16).astype(np.uint16)),
    ("v_cvt_f32_bf16", "H", "f", arithmetic.bf16_decode),
    *[
        (f"v_cvt_f32_ubyte{n}", "u", "f",
         lambda a, shift=8 * n: ((a >> np.uint32(shift)) & U8).astype(np.float32))
        for n in range(4)
    ],
]  # fmt: skip
for _name, _kind, _result, _function in SIMPLE:
    handles(_name)(lanewise(_function, _kind, _result))


def _pack16(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(
        np.uint32
    ) << np.uint32(16)


def _toward_zero_f16(a: np.ndarray) -> np.ndarray:
    near = a.astype(np.float16)
    back = near.astype(np.float32)
    beyond = (np.abs(back) > np.abs(a)) & np.isfinite(a)
    return np.where(beyond, np.nextafter(near, np.float16(0)), near)


def _norm(a: np.ndarray, top: int, low: int) -> np.ndarray:
    clipped = np.clip(np.where(np.isnan(a), np.float32(0), a), low, 1)
    return np.rint(clipped * np.float32(top)).astype(np.int64)


def _pk_int(low: int, high: int) -> Callable[..., Any]:
    def pack(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        first, second = np.clip(a, low, high), np.clip(b, low, high)
        result: np.ndarray = (first.astype(np.int64) & 0xFFFF) | (
            second.astype(np.int64) & 0xFFFF
        ) << 16
        return result

    return pack


PACKED: list[tuple[str, str, Callable[..., Any]]] = [
    ("v_cvt_pk_bf16_f32", "ff",
     lambda a, b: _pack16(arithmetic.bf16_encode(a), arithmetic.bf16_encode(b))),
    ("v_cvt_pk_f16_f32", "ff", lambda a, b: _pack16(a.astype(np.float16), b.astype(np.float16))),
    ("v_cvt_pkrtz_f16_f32", "ff",
     lambda a, b: _pack16(_toward_zero_f16(a), _toward_zero_f16(b))),
    ("v_pack_b32_f16", "hh", _pack16),
    ("v_cvt_pknorm_i16_f32", "ff",
     lambda a, b: (_norm(a, 32767, -1) & 0xFFFF) | (_norm(b, 32767, -1) & 0xFFFF) << 16),
    ("v_cvt_pknorm_u16_f32", "ff", lambda a, b: _norm(a, 65535, 0) | _norm(b, 65535, 0) << 16),
    ("v_cvt_pk_u16_u32", "uu", _pk_int(0, 65535)),
    ("v_cvt_pk_i16_i32", "ii", _pk_int(-32768, 32767)),
]  # fmt: skip


def _packed(function: Callable[..., Any], kinds: str) -> Callable[[Instruction], Execute]:
    def build(inst: Instruction) -> Execute:
        put = destination(inst, "u")
        halves = inst.bits("op_sel", 3)
        a, b = (
            source(inst, n + 1, kinds[n], halves[n] if kinds[n] in "hHS" else 0) for n in (0, 1)
        )

        def run(w: Wave) -> None:
            x, y = a(w), b(w)
            put(w, function(np.broadcast_to(x, (64,)), np.broadcast_to(y, (64,))))

        return run

    return build


for _name, _kinds, _function in PACKED:
    handles(_name)(_packed(_function, _kinds))


def power(value: np.ndarray) -> np.ndarray:
    """The power of two that a cvt_scalef32 scale operand stands for: its f32 exponent alone."""
    exponent = (value.view(np.uint32) >> np.uint32(23)) & U8
    return arithmetic.e8m0_decode(exponent)


@handles("v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_scalef32_pk_fp8_f32",
         "v_cvt_scalef32_pk_bf8_f32")  # fmt: skip
def _encode_fp8(inst: Instruction) -> Execute:
    scaled = "scalef32" in inst.syntax.stem
    halves = inst.bits("op_sel", 4)
    half = halves[3] if scaled else halves[2] or halves[3]
    put = vector_putter(inst.operands[0].base, "H", half)
    a, b = source(inst, 1, "f"), source(inst, 2, "f")
    scale = source(inst, 3, "f") if scaled else None
    saturate = inst.kernel.fp16_overflow
    encode = arithmetic.fp8_e4m3_encode if "fp8" in inst.syntax.stem else arithmetic.fp8_e5m2_encode

    def run(w: Wave) -> None:
        low, high = np.broadcast_to(a(w), (64,)), np.broadcast_to(b(w), (64,))
        if scale is not None:
            factor = power(scale(w))
            low, high = (low / factor).astype(np.float32), (high / factor).astype(np.float32)
        first, second = encode(low, saturate), encode(high, saturate)
        put(w, first.astype(np.uint16) | second.astype(np.uint16) << np.uint16(8))

    return run


DECODE = {"fp8": arithmetic.E4M3.astype(np.float32), "bf8": arithmetic.E5M2.astype(np.float32)}


@handles("v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_scalef32_f32_fp8", "v_cvt_scalef32_f32_bf8")
def _decode_byte(inst: Instruction) -> Execute:
    values = DECODE[inst.syntax.stem[-3:]]
    put, a = vector_putter(inst.operands[0].base, "f"), source_bits(inst, 1)
    shift = SELECT[inst.modifier("src0_sel", "BYTE_0")][0]
    scale = source(inst, 2, "f") if "scalef32" in inst.syntax.stem else None
    if scale is not None:
        low, high = inst.bits("op_sel", 2)[:2]
        shift = 8 * (low + 2 * high)
    by = np.uint32(shift)

    def run(w: Wave) -> None:
        value = values[(a(w) >> by) & U8]
        put(w, value if scale is None else value * power(scale(w)))

    return run


@handles("v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8", "v_cvt_scalef32_pk_f32_fp8",
         "v_cvt_scalef32_pk_f32_bf8")  # fmt: skip
def _decode_pair(inst: Instruction) -> Execute:
    stem = inst.syntax.stem
    values = DECODE[stem[-3:]]
    base = inst.operands[0].base
    low, high = vector_putter(base, "f"), vector_putter(base + 1, "f")
    a = source_bits(inst, 1)
    upper = inst.modifier("src0_sel", "") == "WORD_1" or inst.bits("op_sel", 1)[0]
    by = np.uint32(16 if upper else 0)
    scale = source(inst, 2, "f") if "scalef32" in stem else None

    def run(w: Wave) -> None:
        bits = a(w) >> by
        first, second = values[bits & U8], values[(bits >> np.uint32(8)) & U8]
        if scale is not None:
            factor = power(scale(w))
            first, second = first * factor, second * factor
        low(w, first)
        high(w, second)

    return run


def source_bits(inst: Instruction, position: int) -> Callable[[Wave], np.ndarray]:
    """The raw 32 bits of a source, ignoring SDWA selection."""
    from zyfa.sim.isa.access import source_getter

    return source_getter(inst.operands[position], "u")


@handles("v_cvt_pk_u8_f32")
def _pk_u8(inst: Instruction) -> Execute:
    put = destination(inst, "u")
    a, byte, old = source(inst, 1, "f"), source(inst, 2, "u"), source(inst, 3, "u")

    def run(w: Wave) -> None:
        shift = (byte(w) & np.uint32(3)) * np.uint32(8)
        code = arithmetic.u8_encode(a(w)).astype(np.uint32)
        put(w, (old(w) & ~(U8 << shift)) | code << shift)

    return run
