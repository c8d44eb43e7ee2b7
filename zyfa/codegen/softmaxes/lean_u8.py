"""Lean P: the multiply-add makes E4M3's code itself, v_cvt_pk_u8_f32 rounds it to nearest."""

from __future__ import annotations

from collections.abc import Sequence

from zyfa.codegen.instruction import Line, op
from zyfa.codegen.numbers import E4M3_ONE, HEADROOM, bits
from zyfa.codegen.registers import Reg
from zyfa.codegen.softmaxes.base import Arithmetic, Array, Softmax

MANTISSA = 3
"""Bits of E4M3's mantissa: codes a binade are 2^3."""
UNBIASED = -0.457
"""Offset that makes codes rounded to nearest unbiased (gfx950_kernels 2.1)."""


class LeanU8(Softmax):
    """In units of codes."""

    slope = bits(-(2.0**MANTISSA))
    origin = bits((HEADROOM << MANTISSA) + (E4M3_ONE + UNBIASED))
    element_exponent = MANTISSA

    def convert(self, to: Reg, x: Sequence[Reg]) -> list[Line]:
        return [op("v_cvt_pk_u8_f32", to, x[i], i, to if i else 0) for i in range(4)]

    def codes(self, ops: Arithmetic[Array], x: Array) -> Array:
        return ops.nearest_codes(x)


SOFTMAX = LeanU8()
