"""Scores to P: maxima, row scalars, one multiply-add and one conversion (lean) an element.

Everything here runs on the vector port beside the other wave's matrix instructions.
"""

from __future__ import annotations

from zyfa.codegen.instruction import Line, compare, control, merge, op, swap
from zyfa.codegen.machine import TILES, Machine
from zyfa.codegen.registers import VCC, Reg

LAZY_THRESHOLD = 0x3E000000
"""0.125 base-2 units: how far a row may outgrow its reference before O and l are rescaled."""
LOWEST_EXCESS = 0xC2EE0000
"""-119: clamps a masked half's exponent so that its scale byte is 0, not negative."""
SCALE_MAGIC = 0x4B000077
"""2^23 + 119: adding an integer leaves integer + 119 in the low byte of the sum."""


def tiles_of_half(half: int) -> tuple[int, int]:
    return 2 * half, 2 * half + 1


def maxima(k: Machine) -> list[Line]:
    """top[i] = largest score of half i among the lane's 32 keys; 32 ticks a block."""
    lines: list[Line] = []
    for half in range(2):
        values = [k.s[t][r] for t in tiles_of_half(half) for r in range(16)]
        top = k.top[half]
        lines.append(op("v_max3_f32", top, *values[:3]))
        for i in range(3, 31, 2):
            lines.append(op("v_max3_f32", top, top, values[i], values[i + 1]))
        lines.append(op("v_max_f32_e64", top, top, values[31]))
    return lines


def peaks(k: Machine, fill: list[Line]) -> list[Line]:
    """peak = largest score of the row in base-2 units, half layout; `fill` follows the swap."""
    return [
        swap(k.top[0], k.top[1]),
        *fill,
        op("v_max_f32_e64", k.peak, k.top[0], k.top[1]),
        op("v_mul_f32_e64", k.peak, k.peak, k.log2_scale),
    ]


def exponents(k: Machine, fill: list[Line], outgrown: bool = True) -> list[Line]:
    """Scale byte and element addends of both halves from peak and m.

    excess = peak - m; e = 8 - ceil(excess); scale byte 127 - e; addend = e - m in the units of the
    conversion. `fill` goes where the swap needs two slots. `outgrown`: set VCC where lazy fails.
    """
    addend, other = k.bias[0][0], k.bias[1][0]
    check = compare("v_cmp_lt_f32", VCC, LAZY_THRESHOLD, k.excess).noted("outgrown by 0.125?")
    return [
        op("v_sub_f32_e64", k.excess, k.peak, k.m),
        *([check] if outgrown else []),
        op("v_max_f32", k.excess, LOWEST_EXCESS, k.excess),
        op("v_ceil_f32_e64", k.excess, k.excess),
        op("v_add_f32", k.scale, SCALE_MAGIC, k.excess),
        op("v_add_f32_e64", k.excess, k.excess, k.m),
        op("v_fma_f32", addend, k.excess, k.bias_slope, k.bias_origin),
        op("v_mov_b32_e64", other, addend),
        *fill,
        swap(addend, other).noted("half layout to one register a half"),
    ]


def multiply_add(k: Machine, tile: int, group: int) -> list[Line]:
    """Four elements of a tile, in place: score * coefficient + addend."""
    s, addend = k.s[tile], k.bias[tile // 2]
    r = 4 * group
    if k.options.fma == "packed":
        return [
            op(
                "v_pk_fma_f32",
                s[i : i + 2],
                s[i : i + 2],
                k.coefficient,
                addend,
                mods="op_sel_hi:[1,1,0]",
            )
            for i in (r, r + 2)
        ]
    return [op("v_fma_f32", s[i], s[i], k.coefficient[0], addend[0]) for i in range(r, r + 4)]


def convert(k: Machine, tile: int, group: int) -> list[Line]:
    """Four elements to one register of P (bytes in register order)."""
    s = k.s[tile]
    x = [s[4 * group + i] for i in range(4)]
    to = p_register(k, tile, group)
    if k.options.softmax == "exact":
        return [
            *(op("v_exp_f32_e64", r, r) for r in x),
            merge("v_cvt_pk_fp8_f32", to, x[0], x[1]),
            merge("v_cvt_pk_fp8_f32", to, x[2], x[3], mods="op_sel:[0,0,1]"),
        ]
    if k.options.softmax == "lean_u8":
        return [op("v_cvt_pk_u8_f32", to, x[i], i, to if i else 0) for i in range(4)]
    return [
        merge("v_ashr_pk_u8_i32", to, x[0], x[1], 17),
        merge("v_ashr_pk_u8_i32", to, x[2], x[3], 17, mods="op_sel:[0,0,0,1]"),
    ]


def p_register(k: Machine, tile: int, group: int) -> Reg:
    """Register of P for elements 4 group .. + 3 of key tile `tile`."""
    return k.p[tile % 2][4 * (tile // 2) + group]


def groups() -> list[tuple[int, int]]:
    """(tile, group) of the sixteen groups of four elements, in the order of conversion."""
    return [(tile, group) for tile in range(TILES) for group in range(4)]


def all_multiply_adds(k: Machine) -> list[Line]:
    """The cluster of a gap: nothing else of the SIMD uses the matrix unit then."""
    return [x for tile, group in groups() for x in multiply_add(k, tile, group)]


def mask_diagonal(k: Machine, last: bool) -> list[Line]:
    """Scores of keys after the query become -inf; `last` is the second of the tile's two blocks.

    Key 32 t + 8 (r / 4) + r % 4 of the block is masked if it exceeds row - 4 (l / 32) - 128 last.
    """
    lines: list[Line] = [
        op("v_lshrrev_b32", k.temp[0], 5, k.lane),
        op("v_lshlrev_b32", k.temp[0], 2, k.temp[0]),
        op("v_sub_u32", k.diagonal[0], k.row, k.temp[0]),
    ]
    if last:
        lines.append(op("v_subrev_u32", k.diagonal[0], 128, k.diagonal[0]))
    lines.append(op("v_subrev_u32", k.diagonal[1], 64, k.diagonal[0]))
    places = [(t, r) for t in range(TILES) for r in range(16)]
    for first in range(0, len(places), 8):
        batch = places[first : first + 8]
        for i, (t, r) in enumerate(batch):
            key = 32 * (t % 2) + 8 * (r // 4) + r % 4
            mask = k.mask[2 * i : 2 * i + 2]
            lines.append(compare("v_cmp_gt_i32", mask, key, k.diagonal[t // 2]))
        for i, (t, r) in enumerate(batch):
            s, mask = k.s[t][r], k.mask[2 * i : 2 * i + 2]
            lines.append(op("v_cndmask_b32_e64", s, s, k.minus_inf, mask))
    return lines


def lazy_branch(target: str) -> Line:
    return control("s_cbranch_vccnz", target, reads=(VCC,))
