"""The rare path: some row outgrew its reference, so m, O and l move to the new maximum.

The branch is per wave, the change per row: rows within 0.125 keep m and multiply by one, so a row's
result does not depend on its neighbours. O is multiplied last, by packed multiplies: the softmax
phase has then filled what the other wave's matrix phase leaves of the vector port, and in the pause
that follows they do two elements a tick (simulated, Gaussian input: the matrix pipe is busy 84 %,
with plain multiplies before the elements 75 %).
"""

from __future__ import annotations

from zyfa.codegen.instruction import (
    Label,
    Line,
    compare,
    compare_magnitude,
    control,
    op,
    swap,
)
from zyfa.codegen.machine import Machine
from zyfa.codegen.numbers import COOL_EXPONENT, LAZY_THRESHOLD, bits
from zyfa.codegen.phases import softmax
from zyfa.codegen.registers import VCC

OUTGROWN = bits(-LAZY_THRESHOLD)
"""Old reference minus new peak below this."""
UNCONDITIONAL = bits(-1.0)
"""A limit that every |m| reaches."""


def reference(k: Machine) -> list[Line]:
    """New m and alpha = 2^(old - new); rows that stay get alpha = 2^0, rows with a NaN NaN.

    VCC: where |m| is too large.
    """
    row, other, *_ = k.temp
    alpha = k.alpha[0]
    return [
        op("v_mov_b32", row, k.peak),
        op("v_mov_b32", other, k.peak),
        swap(row, other),
        op("v_maximum3_f32", row, row, other, other).noted("peak of the whole row"),
        op("v_sub_f32", alpha, k.m, row),
        compare("v_cmp_nle_f32", VCC, OUTGROWN, alpha),
        op("v_cndmask_b32_e64", alpha, 0, alpha, VCC),
        op("v_cndmask_b32_e64", k.m, k.m, row, VCC),
        compare_magnitude("v_cmp_le_f32", VCC, k.cool_from, k.m),
        op("v_exp_f32", alpha, alpha),
    ]


def scalars(k: Machine, hot: str, cooled: str) -> list[Line]:
    """New m, l and exponents; by way of label `hot`, back to `cooled`, where |m| is too large."""
    sums = k.rowsum.running(k)
    return [
        *reference(k),
        control("s_cbranch_vccnz", hot, reads=(VCC,)),
        Label(cooled),
        *softmax.exponents(k, [op("v_mul_f32_e64", sums, sums, k.alpha[0])], outgrown=False),
    ]


def cool(k: Machine) -> list[Line]:
    """Per row K, the least for which 2^-K of the scale keeps |m| below 2^COOL_EXPONENT.

    From K of the scale so far (the exponent's distance to base_scale) and the exponent of m. A row
    that needs none, or no other than it has, is not changed. Once a row of the wave is cooled,
    every rescale comes here, so that a smaller |m| gives the scale back.
    """
    step, needed, *_ = k.temp
    moved = (k.m, k.peak, k.log2_scale, k.coefficient[0])
    return [
        op("v_sub_u32", step, k.base_scale, k.log2_scale),
        op("v_lshrrev_b32", step, 23, step).noted("K so far"),
        op("v_frexp_exp_i32_f32", needed, k.m),
        op("v_add_u32", needed, step, needed),
        op("v_sub_u32", needed, COOL_EXPONENT, needed),
        op("v_min_i32", needed, 0, needed).noted("-K"),
        op("v_add_u32", step, step, needed),
        *(op("v_ldexp_f32", x, x, step) for x in moved),
        op("v_mov_b32", k.coefficient[1], k.coefficient[0]),
        op("s_mov_b32", k.cool_from, UNCONDITIONAL),
    ]


def outputs(k: Machine) -> list[Line]:
    """O times alpha, the last thing before the wave's own matrix phase."""
    return [
        op("v_pk_mul_f32", pair, pair, k.alpha, mods="op_sel_hi:[1,0]")
        for o in k.o
        for pair in (o[r : r + 2] for r in range(0, 16, 2))
    ]
