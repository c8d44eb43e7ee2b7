import pytest

from zyfa.codegen.machine import Machine
from zyfa.codegen.options import Options
from zyfa.codegen.registers import Allocator, BudgetError, Reg
from zyfa.shape import Shape


def test_registers_print_as_the_assembler_wants():
    assert str(Reg("v", 3)) == "v3"
    assert str(Reg("s", 4, 4)) == "s[4:7]"
    assert str(Reg("v", 8, 8)[2:4]) == "v[10:11]"
    assert Reg("v", 8, 2).units() == ("v8", "v9")


@pytest.mark.parametrize("key", [4, -1, slice(3, 3), slice(0, 4, 2)])
def test_indices_outside_are_refused(key):
    with pytest.raises(IndexError):
        Reg("v", 0, 4)[key]


def test_alignment_and_names():
    a = Allocator("v", 16)
    a.take("one")
    assert a.take("four", 4, 4).index == 4
    with pytest.raises(ValueError, match="one is taken"):
        a.take("one")


def test_the_budget_names_who_took_what():
    a = Allocator("v", 8)
    a.take("big", 7)
    with pytest.raises(BudgetError, match=r"pair needs 2 at 7, the budget is 8 .*big 7"):
        a.take("pair", 2)


def test_a_shape_that_needs_more_registers_than_a_wave_has_is_refused():
    with pytest.raises(BudgetError, match="the budget is 256"):
        Machine(Options(shape=Shape(256, 128)))


@pytest.mark.parametrize("rowsum", ["a", "b"])
def test_two_waves_fit_on_a_simd(rowsum):
    k = Machine(Options(rowsum=rowsum))
    assert k.vector.used <= 256
    taken = [u for reg in k.vector.names.values() for u in reg.units()]
    assert len(taken) == len(set(taken))
