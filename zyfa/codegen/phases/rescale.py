"""The rare path: some row outgrew its reference, so m, O and l move to the new maximum.

The branch is per wave, the change per row: rows within 0.125 keep m and multiply by one, so a row's
result does not depend on its neighbours. O is multiplied last, by packed multiplies: the softmax
phase has then filled what the other wave's matrix phase leaves of the vector port, and in the pause
that follows they do two elements a tick (simulated, Gaussian input: the matrix pipe is busy 84 %,
with plain multiplies before the elements 75 %).
"""

from __future__ import annotations

from zyfa.codegen.instruction import Line, compare, op, swap
from zyfa.codegen.machine import Machine
from zyfa.codegen.numbers import LAZY_THRESHOLD, bits
from zyfa.codegen.phases import softmax
from zyfa.codegen.registers import VCC

OUTGROWN = bits(-LAZY_THRESHOLD)
"""Old reference minus new peak below this."""


def reference(k: Machine) -> list[Line]:
    """New m and alpha = 2^(old - new); rows that stay get alpha = 2^0."""
    row, other, *_ = k.temp
    alpha = k.alpha[0]
    return [
        op("v_mov_b32", row, k.peak),
        op("v_mov_b32", other, k.peak),
        swap(row, other),
        op("v_max_f32", row, row, other).noted("peak of the whole row"),
        op("v_sub_f32", alpha, k.m, row),
        compare("v_cmp_gt_f32", VCC, OUTGROWN, alpha),
        op("v_cndmask_b32_e64", alpha, 0, alpha, VCC),
        op("v_cndmask_b32_e64", k.m, k.m, row, VCC),
        op("v_exp_f32", alpha, alpha),
    ]


def scalars(k: Machine) -> list[Line]:
    """New m, l and exponents."""
    sums = k.rowsum.running(k)
    return [
        *reference(k),
        *softmax.exponents(k, [op("v_mul_f32_e64", sums, sums, k.alpha[0])], outgrown=False),
    ]


def outputs(k: Machine) -> list[Line]:
    """O times alpha, the last thing before the wave's own matrix phase."""
    return [
        op("v_pk_mul_f32", pair, pair, k.alpha, mods="op_sel_hi:[1,0]")
        for o in k.o
        for pair in (o[r : r + 2] for r in range(0, 16, 2))
    ]
