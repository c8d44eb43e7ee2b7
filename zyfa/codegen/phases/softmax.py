"""Scores to P: maxima, row scalars, one multiply-add and one conversion (lean) an element.

Everything here runs on the vector port beside the other wave's matrix instructions.
"""

from __future__ import annotations

from zyfa.codegen.instruction import Line, compare, control, op, swap
from zyfa.codegen.machine import HALVES, Machine
from zyfa.codegen.numbers import LAZY_THRESHOLD, LOWEST_EXCESS, bits
from zyfa.codegen.registers import VCC, Reg
from zyfa.shape import SIDE

SCALE_MAGIC = bits(2.0**23 - LOWEST_EXCESS)
"""2^23 + 119: adding an integer leaves integer + 119 in the low byte of the sum."""
GROUPS = 4
"""Of four elements in a lane's 16 of a key tile."""


def half_of(k: Machine, tile: int) -> int:
    """The 64-key half that a key tile lies in."""
    return tile * HALVES // k.shape.key_tiles


def maxima(k: Machine) -> list[Line]:
    """top[i] = largest score of half i among the lane's 32 keys; 32 ticks a block.

    maximum keeps a NaN (v_max3_f32 would drop it) at the same rate (gfx950_kernels 4): from here it
    goes to m, and so to l and O of this row alone.
    """
    lines: list[Line] = []
    for half, top in enumerate(k.top):
        tiles = [s for tile, s in enumerate(k.s) if half_of(k, tile) == half]
        values = [score for s in tiles for score in s.each()]
        lines.append(op("v_maximum3_f32", top, *values[:3]))
        for i in range(3, len(values) - 1, 2):
            lines.append(op("v_maximum3_f32", top, top, values[i], values[i + 1]))
        lines.append(op("v_maximum3_f32", top, top, values[-1], values[-1]))
    return lines


def peaks(k: Machine, fill: list[Line]) -> list[Line]:
    """peak = largest score of the row in base-2 units, half layout; `fill` follows the swap."""
    return [
        swap(k.top[0], k.top[1]),
        *fill,
        op("v_maximum3_f32", k.peak, k.top[0], k.top[1], k.top[1]),
        op("v_mul_f32_e64", k.peak, k.peak, k.log2_scale),
    ]


def exponents(k: Machine, fill: list[Line], outgrown: bool = True) -> list[Line]:
    """Scale byte and element addends of both halves from peak and m.

    excess = peak - m; e = 8 - ceil(excess); scale byte 127 - e; addend = e - m in the units of the
    conversion. `fill` goes where the swap needs two slots. `outgrown`: set VCC where lazy fails, or
    the row holds a NaN.
    """
    addend, other = k.bias[0][0], k.bias[1][0]
    check = compare("v_cmp_nge_f32", VCC, bits(LAZY_THRESHOLD), k.excess)
    check = check.noted(f"outgrown by {LAZY_THRESHOLD}?")
    return [
        op("v_sub_f32_e64", k.excess, k.peak, k.m),
        *([check] if outgrown else []),
        op("v_max_f32", k.excess, bits(LOWEST_EXCESS), k.excess),
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
    four = k.s[tile][4 * group : 4 * group + 4]
    return k.multiply_add(
        four, k.coefficient, k.bias[half_of(k, tile)], k.softmax.multiply_add_mods
    )


def convert(k: Machine, tile: int, group: int) -> list[Line]:
    """Four elements to one register of P (bytes in register order)."""
    four = k.s[tile][4 * group : 4 * group + 4]
    return k.softmax.convert(p_register(k, tile, group), four.each())


def p_register(k: Machine, tile: int, group: int) -> Reg:
    """Register of P for elements 4 group .. + 3 of key tile `tile`."""
    parts = k.shape.pv_steps
    return k.p[tile % parts][GROUPS * (tile // parts) + group]


def groups(k: Machine) -> list[tuple[int, int]]:
    """(tile, group) of every group of four elements, in the order of conversion."""
    return [(tile, group) for tile in range(k.shape.key_tiles) for group in range(GROUPS)]


def all_multiply_adds(k: Machine) -> list[Line]:
    """The cluster of a gap: nothing else of the SIMD uses the matrix unit then."""
    return [x for tile, group in groups(k) for x in multiply_add(k, tile, group)]


def mask_diagonal(k: Machine, last: bool) -> list[Line]:
    """Scores of keys after the query become -inf; `last` is the second of the tile's two blocks.

    Key 32 t + 8 (r / 4) + r % 4 of the block is masked if it exceeds row - 4 (l / 32) - 128 last.
    """
    keys = k.shape.keys
    lines: list[Line] = [
        op("v_lshrrev_b32", k.temp[0], 5, k.lane),
        op("v_lshlrev_b32", k.temp[0], 2, k.temp[0]),
        op("v_sub_u32", k.diagonal[0], k.row, k.temp[0]),
    ]
    if last:
        lines.append(op("v_subrev_u32", k.diagonal[0], keys, k.diagonal[0]))
    lines.append(op("v_subrev_u32", k.diagonal[1], keys // HALVES, k.diagonal[0]))
    places = [(t, r) for t in range(k.shape.key_tiles) for r in range(16)]
    for first in range(0, len(places), 8):
        batch = places[first : first + 8]
        for i, (t, r) in enumerate(batch):
            key = SIDE * t % (keys // HALVES) + 8 * (r // 4) + r % 4
            mask = k.mask[2 * i : 2 * i + 2]
            lines.append(compare("v_cmp_gt_i32", mask, key, k.diagonal[half_of(k, t)]))
        for i, (t, r) in enumerate(batch):
            s, mask = k.s[t][r], k.mask[2 * i : 2 * i + 2]
            lines.append(op("v_cndmask_b32_e64", s, s, k.minus_inf, mask))
    return lines


def lazy_branch(target: str) -> Line:
    return control("s_cbranch_vccnz", target, reads=(VCC,))
