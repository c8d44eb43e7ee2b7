"""The rare path: some row outgrew its reference, so m, O and l move to the new maximum.

The branch is per wave, the change per row: rows within 0.125 keep m and multiply by one, so a row's
result does not depend on its neighbours. Plain multiplies, because packed ones would wait for a
pause of the matrix unit.
"""

from __future__ import annotations

from zyfa.codegen.instruction import Line, compare, control, op, swap
from zyfa.codegen.machine import Machine
from zyfa.codegen.phases import softmax
from zyfa.codegen.registers import VCC


def reference(k: Machine) -> list[Line]:
    """New m and alpha = 2^(old - new) (in temp[2]); rows that stay get alpha = 1."""
    row, other, alpha, new = k.temp
    return [
        op("v_mov_b32", row, k.peak),
        op("v_mov_b32", other, k.peak),
        op("s_nop", 1, writes=0),
        swap(row, other),
        op("v_max_f32", row, row, other).noted("peak of the whole row"),
        op("v_sub_f32", other, row, k.m),
        compare("v_cmp_lt_f32", VCC, softmax.LAZY_THRESHOLD, other),
        op("s_nop", 1, writes=0),
        op("v_cndmask_b32_e64", new, k.m, row, VCC),
        op("v_sub_f32", alpha, k.m, new),
        op("v_exp_f32", alpha, alpha),
        op("v_mov_b32", k.m, new),
    ]


def apply(k: Machine) -> list[Line]:
    alpha = k.temp[2]
    sums = k.sum[0] if k.options.rowsum == "a" else k.l
    lines: list[Line] = [op("v_mul_f32_e64", sums, sums, alpha)]
    for o in k.o:
        lines += [op("v_mul_f32_e64", o[r], o[r], alpha) for r in range(16)]
    return lines


def path(k: Machine, back: str) -> list[Line]:
    """Everything between the branch and `back`, with fresh exponents."""
    return [
        *reference(k),
        *apply(k),
        *softmax.exponents(k, []),
        control("s_branch", back),
    ]
