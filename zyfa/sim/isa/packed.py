"""VOP3P: packed float32, packed 16-bit, dot products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa import arithmetic
from zyfa.sim.isa.access import DTYPES, Getter, source_getter, vector_putter
from zyfa.sim.isa.builders import adjusted, handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.syntax import Operand
from zyfa.sim.isa.valu_float import flushing, fma_f16
from zyfa.sim.state.wave import Wave


def _dword(item: Operand, index: int, kind: str) -> Getter:
    """Dword `index` of a two-dword operand; constants repeat."""
    if item.base < 0:
        return source_getter(Operand(item.text, value=item.value), kind)
    return source_getter(Operand(item.text, item.base + min(index, item.count - 1), 1), kind)


def _negated(get: Getter, neg: int) -> Getter:
    return (lambda w: -get(w)) if neg else get


def _pk_f32(function: Callable[..., Any], count: int) -> Callable[[Instruction], Execute]:
    def build(inst: Instruction) -> Execute:
        act = flushing(function) if inst.flush else function
        low_pick, high_pick = inst.bits("op_sel", count), inst.bits("op_sel_hi", count, 1)
        low_neg, high_neg = inst.bits("neg_lo", count), inst.bits("neg_hi", count)
        items = inst.operands[1 : 1 + count]
        low = [
            _negated(_dword(item, p, "f"), n)
            for item, p, n in zip(items, low_pick, low_neg, strict=False)
        ]
        high = [
            _negated(_dword(item, p, "f"), n)
            for item, p, n in zip(items, high_pick, high_neg, strict=False)
        ]
        base = inst.operands[0].base
        put_low, put_high = (adjusted(inst, "f", vector_putter(base + i, "f")) for i in range(2))

        def run(w: Wave) -> None:
            first = act(*[get(w) for get in low])
            second = act(*[get(w) for get in high])
            put_low(w, first)
            put_high(w, second)

        return run

    return build


handles("v_pk_fma_f32")(_pk_f32(arithmetic.fma_f32, 3))
handles("v_pk_mul_f32")(_pk_f32(lambda a, b: a * b, 2))
handles("v_pk_add_f32")(_pk_f32(lambda a, b: a + b, 2))


@handles("v_pk_mov_b32")
def _pk_mov(inst: Instruction) -> Execute:
    picks = inst.bits("op_sel", 2)
    a, b = (_dword(item, pick, "u") for item, pick in zip(inst.operands[1:3], picks, strict=False))
    base = inst.operands[0].base
    low, high = vector_putter(base, "u"), vector_putter(base + 1, "u")

    def run(w: Wave) -> None:
        first, second = np.array(a(w)), np.array(b(w))
        low(w, first)
        high(w, second)

    return run


def _half(item: Operand, pick: int, kind: str, neg: int) -> Getter:
    if item.value is not None:
        # A packed inline constant sits in the low half; op_sel 1 then reads the zero high half.
        get = source_getter(Operand(item.text, value=item.value), kind)
        if pick and isinstance(item.value, int) and abs(item.value) < 65536:
            zero = np.zeros((), DTYPES[kind])
            return lambda w: zero
        return _negated(get, neg)
    return _negated(source_getter(Operand(item.text, item.base, 1), kind, pick), neg)


def _pk16(function: Callable[..., Any], kind: str, count: int) -> Callable[[Instruction], Execute]:
    def build(inst: Instruction) -> Execute:
        picks = inst.bits("op_sel", count), inst.bits("op_sel_hi", count, 1)
        negs = inst.bits("neg_lo", count), inst.bits("neg_hi", count)
        items = inst.operands[1 : 1 + count]
        low, high = (
            [_half(item, picks[h][n], kind, negs[h][n]) for n, item in enumerate(items)]
            for h in (0, 1)
        )
        put = vector_putter(inst.operands[0].base, "u")
        dtype = DTYPES[kind]
        clamp = "clamp" in inst.syntax.modifiers

        def run(w: Wave) -> None:
            first = np.broadcast_to(function(*[get(w) for get in low]), (64,)).astype(dtype)
            second = np.broadcast_to(function(*[get(w) for get in high]), (64,)).astype(dtype)
            if clamp and kind == "h":
                first, second = np.clip(first, 0, 1), np.clip(second, 0, 1)
            bits = first.view(np.uint16).astype(np.uint32)
            put(w, bits | second.view(np.uint16).astype(np.uint32) << np.uint32(16))

        return run

    return build


for _name, _kind, _function in (
    ("v_pk_add_f16", "h", lambda a, b: a + b), ("v_pk_mul_f16", "h", lambda a, b: a * b),
    ("v_pk_max_f16", "h", np.fmax), ("v_pk_min_f16", "h", np.fmin),
    ("v_pk_add_u16", "H", lambda a, b: a + b), ("v_pk_sub_u16", "H", lambda a, b: a - b),
    ("v_pk_add_i16", "S", lambda a, b: a + b), ("v_pk_sub_i16", "S", lambda a, b: a - b),
    ("v_pk_mul_lo_u16", "H", lambda a, b: a * b),
    ("v_pk_lshlrev_b16", "H", lambda a, b: b << (a & np.uint16(15))),
    ("v_pk_lshrrev_b16", "H", lambda a, b: b >> (a & np.uint16(15))),
    ("v_pk_ashrrev_i16", "S", lambda a, b: b >> (a & np.int16(15))),
    ("v_pk_max_u16", "H", np.maximum), ("v_pk_min_u16", "H", np.minimum),
    ("v_pk_max_i16", "S", np.maximum), ("v_pk_min_i16", "S", np.minimum),
):  # fmt: skip
    handles(_name)(_pk16(_function, _kind, 2))
handles("v_pk_fma_f16")(_pk16(fma_f16, "h", 3))
handles("v_pk_mad_u16")(_pk16(lambda a, b, c: a * b + c, "H", 3))
handles("v_pk_mad_i16")(_pk16(lambda a, b, c: a * b + c, "S", 3))
handles("v_pk_maximum3_f16")(_pk16(lambda a, b, c: np.maximum(np.maximum(a, b), c), "h", 3))
handles("v_pk_minimum3_f16")(_pk16(lambda a, b, c: np.minimum(np.minimum(a, b), c), "h", 3))


def _bytes(bits: np.ndarray, signed: bool) -> np.ndarray:
    whole = np.ascontiguousarray(np.broadcast_to(bits, (64,)))
    return whole.view(np.int8 if signed else np.uint8).reshape(64, 4).astype(np.int64)


def _halves(bits: np.ndarray, dtype: type) -> np.ndarray:
    return np.ascontiguousarray(np.broadcast_to(bits, (64,))).view(dtype).reshape(64, 2)


def _bf16_pair(bits: np.ndarray) -> np.ndarray:
    return arithmetic.bf16_decode(_halves(bits, np.uint16)).astype(np.float64)


DOTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "f32_f16": (lambda a: _halves(a, np.float16).astype(np.float64),) * 2 + ("f",),
    "f32_bf16": (_bf16_pair, _bf16_pair, "f"),
    "i32_i16": (lambda a: _halves(a, np.int16).astype(np.int64),) * 2 + ("i",),
    "u32_u16": (lambda a: _halves(a, np.uint16).astype(np.int64),) * 2 + ("i",),
    "i32_i8": (lambda a: _bytes(a, True),) * 2 + ("i",),
    "u32_u8": (lambda a: _bytes(a, False),) * 2 + ("i",),
}  # fmt: skip


def _dot(name: str, accumulate: bool) -> Callable[[Instruction], Execute]:
    split_a, split_b, kind = DOTS[name]

    def build(inst: Instruction) -> Execute:
        a, b = source_getter(inst.operands[1], "u"), source_getter(inst.operands[2], "u")
        c = source_getter(inst.operands[0 if accumulate else 3], kind)
        put = vector_putter(inst.operands[0].base, kind)

        def run(w: Wave) -> None:
            total = (split_a(a(w)) * split_b(b(w))).sum(axis=1) + c(w)
            put(w, total.astype(np.float32) if kind == "f" else total)

        return run

    return build


for _name in DOTS:
    _lanes = 4 if _name.endswith("8") else 2
    handles(f"v_dot{_lanes}_{_name}")(_dot(_name, False))
    handles(f"v_dot{_lanes}c_{_name}")(_dot(_name, True))
