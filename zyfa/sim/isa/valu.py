"""Vector ALU on 32- and 64-bit integers, and moves. Functions take and return lane arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa import arithmetic
from zyfa.sim.isa.access import scalar_getter, scalar_putter, vector_putter
from zyfa.sim.isa.builders import adjusted, destination, handles, source
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave, lane_mask, mask_bits

U5, U6 = np.array(31, np.uint32), np.array(63, np.uint64)
B24 = np.array(0xFFFFFF, np.uint32)
BYTE = np.array(0xFF, np.uint32)


def table(kind: str, functions: dict[str, Callable[..., Any]], result: str = "") -> None:
    """Register functions whose sources and result are all of `kind`."""
    for name, function in functions.items():
        handles(name)(lanewise(function, kind * function.__code__.co_argcount, result or kind))


def lanewise(
    function: Callable[..., Any], kinds: str, result: str
) -> Callable[[Instruction], Execute]:
    """Builder of `dst = function(src0, src1, ...)`; one kind per source."""

    def build(inst: Instruction) -> Execute:
        put = destination(inst, result)
        gets = [source(inst, 1 + n, kind) for n, kind in enumerate(kinds)]
        if len(gets) == 1:
            (a,) = gets
            return lambda w: put(w, function(a(w)))
        if len(gets) == 2:
            a, b = gets
            return lambda w: put(w, function(a(w), b(w)))
        a, b, c = gets
        return lambda w: put(w, function(a(w), b(w), c(w)))

    return build


def sign24(a: np.ndarray) -> np.ndarray:
    """Sign-extended low 24 bits as int64."""
    return ((a.astype(np.int64) & 0xFFFFFF) ^ 0x800000) - 0x800000


def _wide(a: np.ndarray) -> np.ndarray:
    return a.astype(np.uint64)


def _bfe(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    width = c & U5
    result: np.ndarray = (a >> (b & U5)) & ((np.uint32(1) << width) - np.uint32(1))
    return result


def _bfe_signed(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    value = _bfe(a, b, c).astype(np.int64)
    width = (c & U5).astype(np.int64)
    sign = np.where(width > 0, np.int64(1) << np.maximum(width - 1, 0), 0)
    return (value ^ sign) - sign


def _perm(a: np.ndarray, b: np.ndarray, selector: np.ndarray) -> np.ndarray:
    pool = _wide(b) | _wide(a) << np.uint64(32)
    out = np.zeros(np.broadcast(a, b, selector).shape, np.uint64)
    for byte in range(4):
        pick = (selector >> np.uint32(8 * byte)) & BYTE
        value = (pool >> ((_wide(pick) & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        for code, bit in ((8, 15), (9, 31), (10, 47), (11, 63)):
            sign = (pool >> np.uint64(bit)) & np.uint64(1)
            value = np.where(pick == code, sign * np.uint64(0xFF), value)
        value = np.where(pick == 12, np.uint64(0), value)
        value = np.where(pick > 12, np.uint64(0xFF), value)
        out |= value << np.uint64(8 * byte)
    return out


def _popcount(a: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.bitwise_count(a).astype(np.uint32)
    return result


def _ffbh(a: np.ndarray) -> np.ndarray:
    bits = np.frexp(a.astype(np.float64))[1]
    return np.where(a == 0, -1, 32 - bits)


def _ffbl(a: np.ndarray) -> np.ndarray:
    low = a & (~a + np.uint32(1))
    return np.where(a == 0, -1, np.frexp(low.astype(np.float64))[1] - 1)


def _ffbh_signed(a: np.ndarray) -> np.ndarray:
    top = np.where(a.view(np.int32) < 0, ~a, a)
    return np.where(top == 0, -1, 32 - np.frexp(top.astype(np.float64))[1])


def _reverse(a: np.ndarray) -> np.ndarray:
    for step, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        keep, by = np.uint32(mask), np.uint32(step)
        a = ((a >> by) & keep) | ((a & keep) << by)
    return a.byteswap()


def _median(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    return result


table("u", {
    "v_mov_b32": lambda a: a, "v_not_b32": lambda a: ~a, "v_bfrev_b32": _reverse,
    "v_accvgpr_read_b32": lambda a: a, "v_accvgpr_write_b32": lambda a: a,
    "v_accvgpr_mov_b32": lambda a: a, "v_accvgpr_read": lambda a: a,
    "v_ffbh_u32": _ffbh, "v_ffbl_b32": _ffbl, "v_ffbh_i32": _ffbh_signed,
    "v_add_u32": lambda a, b: a + b, "v_sub_u32": lambda a, b: a - b,
    "v_subrev_u32": lambda a, b: b - a,
    "v_and_b32": lambda a, b: a & b, "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b, "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": lambda a, b: b << (a & U5), "v_lshrrev_b32": lambda a, b: b >> (a & U5),
    "v_min_u32": lambda a, b: np.minimum(a, b), "v_max_u32": lambda a, b: np.maximum(a, b),
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: (_wide(a) * _wide(b)) >> np.uint64(32),
    "v_mul_u32_u24": lambda a, b: (a & B24) * (b & B24),
    "v_mul_hi_u32_u24": lambda a, b: (_wide(a & B24) * _wide(b & B24)) >> np.uint64(32),
    "v_bfm_b32": lambda a, b: ((np.uint32(1) << (a & U5)) - np.uint32(1)) << (b & U5),
    "v_bcnt_u32_b32": lambda a, b: _popcount(a) + b,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & U5)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & U5),
    "v_lshl_or_b32": lambda a, b, c: (a << (b & U5)) | c,
    "v_and_or_b32": lambda a, b, c: (a & b) | c, "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfe_u32": _bfe, "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_perm_b32": _perm,
    "v_alignbit_b32":
        lambda a, b, c: (_wide(b) | _wide(a) << np.uint64(32)) >> _wide(c & U5),
    "v_alignbyte_b32":
        lambda a, b, c: (_wide(b) | _wide(a) << np.uint64(32)) >> _wide((c & np.uint32(3)) * 8),
    "v_mad_u32_u24": lambda a, b, c: (a & B24) * (b & B24) + c,
    "v_min3_u32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
    "v_max3_u32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
    "v_med3_u32": _median,
    "v_sad_u32": lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c,
})  # fmt: skip
table("u", {"v_bfe_i32": _bfe_signed}, "i")
table("i", {
    "v_ashrrev_i32": lambda a, b: b >> (a & np.int32(31)),
    "v_min_i32": lambda a, b: np.minimum(a, b), "v_max_i32": lambda a, b: np.maximum(a, b),
    "v_mul_i32_i24": lambda a, b: sign24(a) * sign24(b),
    "v_mul_hi_i32": lambda a, b: (a.astype(np.int64) * b) >> np.int64(32),
    "v_mul_hi_i32_i24": lambda a, b: (sign24(a) * sign24(b)) >> 32,
    "v_mad_i32_i24": lambda a, b, c: sign24(a) * sign24(b) + c,
    "v_min3_i32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
    "v_max3_i32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
    "v_med3_i32": _median,
})  # fmt: skip
table("U", {"v_mov_b64": lambda a: a})
for _name, _kinds, _result, _function in (
    ("v_lshlrev_b64", "uU", "U", lambda a, b: b << (a & U6)),
    ("v_lshrrev_b64", "uU", "U", lambda a, b: b >> (a & U6)),
    ("v_ashrrev_i64", "iI", "I", lambda a, b: b >> (a & np.int64(63))),
    ("v_lshl_add_u64", "UuU", "U", lambda a, b, c: (a << (b & np.uint64(7))) + c),
):
    handles(_name)(lanewise(_function, _kinds, _result))

U15 = np.array(15, np.uint16)
table("H", {
    "v_add_u16": lambda a, b: a + b, "v_sub_u16": lambda a, b: a - b,
    "v_subrev_u16": lambda a, b: b - a, "v_mul_lo_u16": lambda a, b: a * b,
    "v_lshlrev_b16": lambda a, b: b << (a & U15), "v_lshrrev_b16": lambda a, b: b >> (a & U15),
    "v_min_u16": lambda a, b: np.minimum(a, b), "v_max_u16": lambda a, b: np.maximum(a, b),
    "v_mad_u16": lambda a, b, c: a * b + c, "v_mad_legacy_u16": lambda a, b, c: a * b + c,
})  # fmt: skip
table("S", {
    "v_ashrrev_i16": lambda a, b: b >> (a & np.int16(15)),
    "v_min_i16": lambda a, b: np.minimum(a, b), "v_max_i16": lambda a, b: np.maximum(a, b),
})  # fmt: skip
handles("v_mad_u32_u16")(lanewise(
    lambda a, b, c: (a & np.uint32(0xFFFF)) * (b & np.uint32(0xFFFF)) + c, "uuu", "u"))  # fmt: skip


@handles("v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32")
def _mbcnt(inst: Instruction) -> Execute:
    put = destination(inst, "u")
    a, b = source(inst, 1, "u"), source(inst, 2, "u")
    lane = np.arange(64)
    high = "_hi_" in inst.syntax.stem
    count = np.clip(lane - 32, 0, 32) if high else np.minimum(lane, 32)
    below = np.array([(1 << int(n)) - 1 for n in count], np.uint32)
    return lambda w: put(w, _popcount(a(w) & below) + b(w))


@handles("v_bitop3_b32", "v_bitop3_b16")
def _bitop3(inst: Instruction) -> Execute:
    put = destination(inst, "u" if inst.syntax.stem.endswith("32") else "H")
    kind = "u" if inst.syntax.stem.endswith("32") else "H"
    gets = [source(inst, n, kind) for n in (1, 2, 3)]
    truth = int(inst.modifier("bitop3", 0))

    def run(w: Wave) -> None:
        a, b, c = (get(w) for get in gets)
        out = a & ~a
        for row in range(8):
            if truth >> row & 1:
                term = a if row & 4 else ~a
                term = term & (b if row & 2 else ~b)
                out = out | term & (c if row & 1 else ~c)
        put(w, out)

    return run


def _carry(inst: Instruction, with_carry: bool) -> Execute:
    stem = inst.syntax.stem
    put = destination(inst, "u")
    put_carry = scalar_putter(inst.operands[1], True)
    a, b = source(inst, 2, "u"), source(inst, 3, "u")
    carry = scalar_getter(inst.operands[4], True) if with_carry else None
    subtract = "_sub" in stem
    reverse = "rev" in stem

    def run(w: Wave) -> None:
        x, y = a(w).astype(np.int64), b(w).astype(np.int64)
        if reverse:
            x, y = y, x
        extra = lane_mask(carry(w)).astype(np.int64) if carry else 0
        total = x - y - extra if subtract else x + y + extra
        out = (total < 0) if subtract else total > 0xFFFFFFFF
        out = np.broadcast_to(out, (64,))
        put(w, total)
        put_carry(w, mask_bits(out & w.lanes))

    return run


@handles("v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32")
def _carry_out(inst: Instruction) -> Execute:
    return _carry(inst, False)


@handles("v_addc_co_u32", "v_subb_co_u32", "v_subbrev_co_u32")
def _carry_in(inst: Instruction) -> Execute:
    return _carry(inst, True)


@handles("v_mad_u64_u32", "v_mad_i64_i32")
def _mad64(inst: Instruction) -> Execute:
    sign = "_i64" in inst.syntax.stem
    put = vector_putter(inst.operands[0].base, "U")
    put_carry = scalar_putter(inst.operands[1], True)
    kind, wide = ("i", "I") if sign else ("u", "U")
    a, b = source(inst, 2, kind), source(inst, 3, kind)
    c = source(inst, 4, wide)
    dtype = np.int64 if sign else np.uint64

    def run(w: Wave) -> None:
        product = a(w).astype(dtype) * b(w).astype(dtype)
        addend = c(w)
        total = np.broadcast_to(product + addend, (64,))
        put(w, total.view(np.uint64))
        over = total < product if not sign else (total < product) != (addend < 0)
        put_carry(w, mask_bits(over & w.lanes))

    return run


@handles("v_cndmask_b32")
def _cndmask(inst: Instruction) -> Execute:
    put = destination(inst, "u")
    float_modifiers = any(item.neg or item.absolute for item in inst.operands[1:3])
    kind = "f" if float_modifiers else "u"
    if float_modifiers:
        put = adjusted(inst, "f", vector_putter(inst.operands[0].base, "f"))
    a, b = source(inst, 1, kind), source(inst, 2, kind)
    mask = scalar_getter(inst.operands[3], True)
    return lambda w: put(w, np.where(lane_mask(mask(w)), b(w), a(w)))


@handles("v_swap_b32")
def _swap(inst: Instruction) -> Execute:
    a, b = (item.base for item in inst.operands)

    def run(w: Wave) -> None:
        lanes = w.lanes
        kept = w.u[a].copy()
        np.copyto(w.u[a], w.u[b], where=lanes)
        np.copyto(w.u[b], kept, where=lanes)

    return run


@handles("v_ashr_pk_u8_i32", "v_ashr_pk_i8_i32")
def _ashr_pk(inst: Instruction) -> Execute:
    signed_bytes = inst.syntax.stem.endswith("i8_i32")
    half = inst.bits("op_sel", 4)[3]
    put = vector_putter(inst.operands[0].base, "H", half)
    a, b, c = source(inst, 1, "i"), source(inst, 2, "i"), source(inst, 3, "u")

    def run(w: Wave) -> None:
        if signed_bytes:
            shift = (c(w) & U5).astype(np.int32)
            low = np.clip(a(w) >> shift, -128, 127) & 0xFF
            high = np.clip(b(w) >> shift, -128, 127) & 0xFF
            put(w, (low | high << 8).astype(np.uint16))
        else:
            put(w, arithmetic.ashr_pk_u8_i32(a(w), b(w), c(w)))

    return run


@handles("s_set_gpr_idx_on")
def _index_on(inst: Instruction) -> Execute:
    get = scalar_getter(inst.operands[0])

    def run(w: Wave) -> None:
        w.s[124] = (w.s[124] & ~0xFF) | (get(w) & 0xFF)

    return run


@handles("v_mov_b32 gpr_idx(SRC0)")
def _mov_from_indexed(inst: Instruction) -> Execute:
    put, base = destination(inst, "u"), inst.operands[1].base
    return lambda w: put(w, w.u[base + (w.s[124] & 0xFF)])


@handles("v_mov_b32 gpr_idx(DST)")
def _mov_to_indexed(inst: Instruction) -> Execute:
    get, base = source(inst, 1, "u"), inst.operands[0].base

    def run(w: Wave) -> None:
        np.copyto(w.u[base + (w.s[124] & 0xFF)], get(w), where=w.lanes)

    return run
