"""Once per workgroup: arguments, the wave's place, constants."""

from __future__ import annotations

import struct

from zyfa.codegen import kernargs, lds
from zyfa.codegen.instruction import Line, op, scalar, wait
from zyfa.codegen.machine import Machine

E4M3_ONE = 0x38
LEAN_TRUNCATING = 56.043
"""Code of 1.0 plus the offset that makes truncated lean codes unbiased (gfx950_kernels 2.1)."""
LEAN_NEAREST = 56.0 - 0.457
"""The same for a conversion that rounds to nearest."""
ASHR_FRACTION = 17
QK_EXPONENT = -60
"""lean_ashr carries 2^-60 through QK's scale operands so that its coefficient is no denormal."""
FLOAT_MIN_EXPONENT = -149
LOWEST = 0xFF7FFFFF
"""-FLT_MAX: as first reference it makes the first block take the rescale path and set m."""


def bias_constants(softmax: str) -> tuple[int, int]:
    """Bits of (slope, origin): the addend of an element is slope * (m + ceil t) + origin.

    In units of x (exact), of codes (lean_u8) or of 2^-17 code at the denormal grain (lean_ashr).
    P is at most 2^8, so origin holds 8 (or 64 code units) beside the code of 1.0.
    """
    if softmax == "exact":
        return 0xBF800000, 0x41000000  # -1, 8
    if softmax == "lean_u8":
        return 0xC1000000, _bits(64 + LEAN_NEAREST)  # -8
    slope = 0x80000000 | 8 << ASHR_FRACTION  # -8 * 2^17 * 2^-149, a denormal
    return slope, round((64 + LEAN_TRUNCATING) * 2**ASHR_FRACTION)


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def element_exponent(softmax: str) -> int:
    """Power of two between scale log2(e) dq dk and a raw score's coefficient in the element FMA.

    x for exact, code units for lean_u8, 2^-17 code at the denormal grain for lean_ashr, whose
    scores come divided by 2^60.
    """
    if softmax == "exact":
        return 0
    if softmax == "lean_u8":
        return 3
    return 3 + ASHR_FRACTION + FLOAT_MIN_EXPONENT - QK_EXPONENT


def arguments(k: Machine) -> list[Line]:
    """Kernel arguments, descales and the wave's number."""
    return [
        op("s_load_dwordx16", k.pointers, k.kernarg, 0),
        op("s_load_dwordx8", k.more, k.kernarg, kernargs.OFFSET["v_descale"]),
        op("v_lshrrev_b32", k.temp[0], 6, k.lane).noted("v0 is the work-item; 64 a wave"),
        op("v_readfirstlane_b32", k.wave, k.temp[0]),
        op("v_and_b32", k.lane, 63, k.lane),
        wait(lgkmcnt=0),
        *(
            op("s_load_dword", register, k.argument(name), 0)
            for register, name in zip(
                k.descale, ("q_descale", "k_descale", "v_descale"), strict=True
            )
        ),
        wait(lgkmcnt=0),
    ]


def constants(k: Machine) -> list[Line]:
    """Softmax constants, matrix constants, LDS bases of this wave."""
    slope, origin = bias_constants(k.options.softmax)
    softmax = k.options.softmax
    lines: list[Line] = [
        op("v_mov_b32", k.temp[0], k.descale[0]),
        op("v_mul_f32", k.temp[0], k.argument("scale_log2e"), k.temp[0]),
        op("v_mul_f32", k.log2_scale, k.descale[1], k.temp[0]).noted("scale log2(e) dq dk"),
        op("v_mul_f32", k.coefficient[0], _power(element_exponent(softmax)), k.log2_scale),
        op("v_mov_b32", k.coefficient[1], k.coefficient[0]),
    ]
    if k.lean_shift:
        lines.append(op("v_mul_f32", k.log2_scale, _power(-QK_EXPONENT), k.log2_scale))
        scales = 0x7F << 8 | 127 + QK_EXPONENT
    else:
        scales = 0x7F << 8 | 0x7F
    lines += [
        op("v_mov_b32", k.bias_slope, slope),
        op("v_mov_b32", k.bias_origin, origin),
        op("v_mov_b32", k.unit_scales, scales).noted("byte 0: scale of K, byte 1: 2^0"),
        op("v_mov_b32", k.minus_inf, 0xFF800000),
        op("s_lshl_b32", k.lds_wave[0], k.wave, 10).noted("1 KB a wave and load"),
        scalar("s_add_u32", k.lds_wave[1], k.lds_wave[0], lds.BLOCK // 2),
        scalar("s_add_u32", k.lds_wave[2], k.lds_wave[0], lds.V_BASE),
        scalar("s_add_u32", k.lds_wave[3], k.lds_wave[1], lds.V_BASE),
        op("s_lshl_b32", k.block_bytes, k.argument("kv_stride"), 7).noted("128 keys"),
        op("v_and_b32", k.row, 31, k.lane),
        op("s_lshl_b32", k.t[0], k.wave, 5),
        op("v_add_u32", k.row, k.t[0], k.row).noted("query row of the lane in the tile"),
        *ones(k),
    ]
    return lines


def _power(exponent: int) -> int:
    """Bits of 2^exponent in float32's normal range."""
    return (127 + exponent) << 23


def ones(k: Machine) -> list[Line]:
    """The A operand of the row sum: E4M3 ones.

    Form a: everywhere. Form b, 16x16x128: row m sums queries 16 ((m / 4) % 2) .. + 15 over the
    first four registers of P if m < 8, else over the last four; so lane l of D holds the sum for
    query l % 32 over the 64 keys of its half: half layout.
    """
    word = E4M3_ONE * 0x01010101
    if k.options.rowsum == "a":
        return [op("v_mov_b32", register, word) for register in _each(k.ones)]
    parity, upper, low, high = k.temp
    return [
        op("v_bfe_u32", parity, k.lane, 2, 1),
        op("v_bfe_u32", low, k.lane, 4, 1),
        op("v_xor_b32", parity, low, parity).noted("0: the lane's k group is of the row's queries"),
        op("v_bfe_u32", upper, k.lane, 3, 1).noted("row m >= 8"),
        op("v_xor_b32", high, 1, upper),
        op("v_or_b32", low, parity, upper),
        op("v_or_b32", high, parity, high),
        op("v_add_u32", low, -1, low).noted("all ones where 0"),
        op("v_add_u32", high, -1, high),
        *(op("v_and_b32", register, word, low) for register in _each(k.ones[0:4])),
        *(op("v_and_b32", register, word, high) for register in _each(k.ones[4:8])),
    ]


def _each(register):
    return [register[i] for i in range(len(register))]
