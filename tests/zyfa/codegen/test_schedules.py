"""Orders of the matrix phase, for the counts of this kernel and for others."""

from itertools import pairwise

import pytest

from zyfa.codegen import Options
from zyfa.codegen.machine import Machine
from zyfa.codegen.phases.tile import riders
from zyfa.codegen.schedules import SCHEDULES
from zyfa.codegen.steps import woven


def names(stem, count):
    return [f"{stem}{i}" for i in range(count)]


def test_equally_many_steps_alternate():
    assert woven(names("v", 3), names("k", 3)) == ["v0", "k0", "v1", "k1", "v2", "k2"]


def test_fewer_steps_are_spread_among_more():
    mixed = woven(names("v", 8), names("k", 12))
    places = [i for i, step in enumerate(mixed) if step.startswith("v")]
    assert [x for x in mixed if x.startswith("k")] == names("k", 12)
    assert {b - a for a, b in pairwise(places)} <= {2, 3}


@pytest.mark.parametrize("products", [8, 12])
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_order_holds_each_step_once_and_keeps_its_kinds_in_order(name, products):
    kinds = names("v", 8), names("s", 2), names("k", products)
    ordered = SCHEDULES[name].matrix(*kinds)
    assert len(ordered) == 10 + products
    for kind in kinds:
        assert [x for x in ordered if x[0] == kind[0][0]] == kind


@pytest.mark.parametrize("name", SCHEDULES)
def test_without_scores_to_compute_the_row_sums_come_last(name):
    values, sums = names("v", 8), names("s", 2)
    assert SCHEDULES[name].matrix(values, sums, []) == values + sums


def test_the_gap_lies_between_values_and_scores():
    schedule = SCHEDULES["gap"]
    ordered = schedule.matrix(names("v", 8), names("s", 2), names("k", 12))
    assert ordered[schedule.gap(8, 2) :] == names("k", 12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_barriers_of_a_block_are_twice_the_stagger(name):
    k = Machine(Options(schedule=name))
    inside = [str(x) for rider in riders(k, 18, True, True) for x in rider].count("  s_barrier")
    elements = 2 if k.schedule.gap else 0
    assert 2 + inside + elements == (2 * k.schedule.stagger or 2)
