"""A variant's numbers: its codes of P stand for powers of two."""

import numpy as np
import pytest

from zyfa import arithmetic
from zyfa.codegen.numbers import HEADROOM
from zyfa.codegen.registers import Reg
from zyfa.codegen.softmaxes import SOFTMAXES


class Ops:
    """`zyfa.reference.ops` without torch."""

    exp2 = staticmethod(arithmetic.exp2_f32)
    e4m3 = staticmethod(arithmetic.fp8_e4m3_encode)
    nearest_codes = staticmethod(arithmetic.u8_encode)

    @staticmethod
    def clamp(x):
        return np.clip(np.where(np.isnan(x), np.float32(0), x), np.float32(0), np.float32(1))

    @staticmethod
    def shifted_codes(x, shift):
        return np.clip(x.view(np.int32) >> shift, 0, 255).astype(np.uint8)


def value(bits):
    return np.array(bits, np.uint32).view(np.float32)


def probability(softmax, power):
    """P of a score `power` base-2 units from its half's peak, which is the reference."""
    score = np.float32(power) * np.float32(2.0**softmax.qk_exponent)
    coefficient = np.float32(2.0) ** np.float32(softmax.element_exponent)
    x = arithmetic.fma_f32(score, coefficient, value(softmax.origin))
    return float(arithmetic.fp8_e4m3_decode(softmax.codes(Ops, np.atleast_1d(x)))[0])


@pytest.mark.parametrize("name", SOFTMAXES)
@pytest.mark.parametrize("power", range(-10, 1))
def test_a_whole_power_of_two_is_exact(name, power):
    assert probability(SOFTMAXES[name], power) == 2.0 ** (HEADROOM + power)


@pytest.mark.parametrize("name", SOFTMAXES)
def test_the_reference_moves_the_addend_a_binade_down(name):
    softmax = SOFTMAXES[name]
    moved = arithmetic.fma_f32(np.float32(1), value(softmax.slope), value(softmax.origin))
    code = softmax.codes(Ops, np.atleast_1d(moved))
    assert float(arithmetic.fp8_e4m3_decode(code)[0]) == 2.0 ** (HEADROOM - 1)


@pytest.mark.parametrize("name", SOFTMAXES)
def test_a_conversion_reads_its_four_elements_and_fills_its_register(name):
    to, x = Reg("v", 40), Reg("v", 8, 4)
    lines = SOFTMAXES[name].convert(to, x.each())
    assert set().union(*(line.reads for line in lines)) >= set(x.units())
    assert "v40" in set().union(*(line.writes for line in lines))


@pytest.mark.parametrize("sign", [0, 1 << 31])
@pytest.mark.parametrize("name", ["lean_ashr", "lean_u8"])
def test_a_lean_code_of_nan_is_zero_whatever_its_sign(name, sign):
    x = np.atleast_1d(value(0x7FC00000 | sign))
    assert SOFTMAXES[name].codes(Ops, x).tolist() == [0]
