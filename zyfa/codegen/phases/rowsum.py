"""Row sum of the rounded P on the matrix unit, so that the weights sum to one."""

from __future__ import annotations

from zyfa.codegen.instruction import Line, mfma, op
from zyfa.codegen.machine import Machine
from zyfa.codegen.matrix import Step
from zyfa.codegen.phases.pv import SCALES
from zyfa.codegen.phases.qk import SCALED

UNSCALED = "v_mfma_f32_16x16x128_f8f6f4"


def steps(k: Machine) -> list[Step]:
    """Form b: two unscaled sums in half layout; form a: accumulates l itself, scaled."""

    def product(part: int) -> Line:
        if k.options.rowsum == "a":
            scales = (k.unit_scales, k.scale)
            return mfma(SCALED, k.sum, k.ones, k.p[part], k.sum, *scales, mods=SCALES)
        return mfma(UNSCALED, k.sum, k.ones, k.p[part], k.sum if part else 0)

    return [Step(None, lambda _, p=part: product(p)) for part in range(2)]


def collect(k: Machine) -> list[Line]:
    """Form b: l += sum * 2^-e, before m or the scale changes. Two vector ticks a block."""
    if k.options.rowsum == "a":
        return []
    # The scale byte is a biased exponent, so shifting it up gives 2^-e as float32.
    return [
        op("v_lshlrev_b32_e64", k.temp[3], 23, k.scale),
        op("v_fma_f32", k.l, k.sum[0], k.temp[3], k.l),
    ]


def total(k: Machine) -> list[Line]:
    """The row's l in every lane, in k.l."""
    if k.options.rowsum == "a":
        return [op("v_mov_b32", k.l, k.sum[0])]
    from zyfa.codegen.instruction import swap

    return [
        *collect(k),
        op("v_mov_b32", k.temp[0], k.l),
        swap(k.l, k.temp[0]),
        op("v_add_f32", k.l, k.l, k.temp[0]),
    ]
