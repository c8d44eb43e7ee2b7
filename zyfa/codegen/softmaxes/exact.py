"""P = 2^x by v_exp_f32, rounded to nearest by v_cvt_pk_fp8_f32."""

from __future__ import annotations

from collections.abc import Sequence

from zyfa.codegen.instruction import Line, merge, op
from zyfa.codegen.numbers import HEADROOM, bits
from zyfa.codegen.registers import Reg
from zyfa.codegen.softmaxes.base import Arithmetic, Array, Softmax


class Exact(Softmax):
    """In units of x."""

    slope = bits(-1.0)
    origin = bits(HEADROOM)
    element_exponent = 0

    def convert(self, to: Reg, x: Sequence[Reg]) -> list[Line]:
        return [
            *(op("v_exp_f32_e64", r, r) for r in x),
            merge("v_cvt_pk_fp8_f32", to, x[0], x[1]),
            merge("v_cvt_pk_fp8_f32", to, x[2], x[3], mods="op_sel:[0,0,1]"),
        ]

    def codes(self, ops: Arithmetic[Array], x: Array) -> Array:
        return ops.e4m3(ops.exp2(x))


SOFTMAX = Exact()
