"""Lean P in float32's linear low range: the multiply-add's bits are 2^17 codes, v_ashr_pk cuts.

QK carries 2^-60 through its scale operands so that the coefficient is no denormal. The clamp of the
multiply-add to 0..1 changes no number down here, but makes NaN a zero (DX10_CLAMP): the code of a
NaN would depend on its sign, and would reach a neighbour through the row sum. The row's maximum
carries it.
"""

from __future__ import annotations

from collections.abc import Sequence

from zyfa.codegen.instruction import Line, merge
from zyfa.codegen.numbers import HEADROOM
from zyfa.codegen.registers import Reg
from zyfa.codegen.softmaxes.base import Arithmetic, Array, Softmax

MANTISSA = 3
"""Bits of E4M3's mantissa: codes a binade are 2^3."""
TRUNCATING = 56.043
"""Code of 1.0 plus the offset that makes truncated codes unbiased (gfx950_kernels 2.1)."""
FRACTION = 17
"""Bits below a code."""
MIN_EXPONENT = -149
"""Of float32's denormals: the grain in which bits count."""


class LeanAshr(Softmax):
    """In units of 2^-17 code at the denormal grain."""

    slope = 0x80000000 | 1 << MANTISSA + FRACTION
    origin = round(((HEADROOM << MANTISSA) + TRUNCATING) * 2**FRACTION)
    qk_exponent = -60
    element_exponent = MANTISSA + FRACTION + MIN_EXPONENT - qk_exponent
    multiply_add_mods = "clamp"

    def convert(self, to: Reg, x: Sequence[Reg]) -> list[Line]:
        return [
            merge("v_ashr_pk_u8_i32", to, x[0], x[1], FRACTION),
            merge("v_ashr_pk_u8_i32", to, x[2], x[3], FRACTION, mods="op_sel:[0,0,0,1]"),
        ]

    def codes(self, ops: Arithmetic[Array], x: Array) -> Array:
        return ops.shifted_codes(ops.clamp(x), FRACTION)


SOFTMAX = LeanAshr()
