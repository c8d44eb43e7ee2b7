"""What a gate asks: the whole interval decides."""

import pytest

from tracekit.analysis.checks.findings import Finding, Quality
from tracekit.analysis.requirements import Change, NotComparable, refusals, requirement


@pytest.mark.parametrize(
    ("text", "change", "met", "at_the_point"),
    [
        ("overlap>=+5", Change(6.0, 5.0, 7.0), True, True),
        ("overlap>=+5", Change(6.0, 4.99, 7.0), False, True),
        ("cycles<=-1", Change(-302.0, -956.0, 308.0), False, True),
        ("cycles<=-1", Change(-302.0, -956.0, -1.0), True, True),
        ("matrix_idle<=-2.5", Change(-2.0, -3.0, -1.0), False, False),
        ("cycles<0", Change(0.0, 0.0, 0.0), False, False),
        ("matrix>0", Change(0.1, 0.1, 0.1), True, True),
    ],
)
def test_a_requirement_holds_only_if_the_whole_interval_satisfies_it(
    text, change, met, at_the_point
):
    need = requirement(text)
    assert need.met(change) is met
    assert need.met(change, point_estimate=True) is at_the_point


def test_the_smallest_change_is_the_wider_side_of_the_interval():
    assert Change(-302.0, -956.0, 308.0).smallest == 654


def test_the_unit_is_that_of_the_text():
    assert requirement("cycles<=-3%").unit == "%"
    assert requirement("cycles<=-3").unit == "cycles"
    assert requirement("matrix>=3").unit == "points"


@pytest.mark.parametrize(
    "text", ["", "overlap", "overlap>=", "speed>=5", "overlap>=5%", "cycles=>5", "cycles<=x"]
)
def test_what_cannot_be_required(text):
    with pytest.raises(NotComparable, match="cannot require"):
        requirement(text)


def test_a_capture_is_refused_for_the_questions_that_it_does_not_carry():
    blind = Quality.of([Finding("no_mfma", "info", 0, "no MFMA: idle", blocks=("matrix",))])
    judged = {"new": blind, "base": Quality.of([])}
    for text in ("matrix>=1", "overlap>=1", "matrix_idle<=1"):
        assert refusals([requirement(text)], judged) == [
            "new: nothing can be concluded about the matrix pipe: no MFMA"
        ]
    assert refusals([requirement("cycles<=-1"), requirement("vector>=1")], judged) == []
