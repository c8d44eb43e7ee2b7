"""Differences with their intervals: Student's quantiles, Welch's errors, runs."""

import math

import pytest

from tracekit.analysis.comparison.estimates import (
    Estimate,
    between_runs,
    difference,
    like,
    student,
)


def test_quantiles_are_those_of_the_tables():
    # R: qt(0.975, c(1, 2, 10, 30, 40, 120, 1e6))
    for freedom, quantile in (
        (1, 12.706), (2, 4.303), (10, 2.228), (30, 2.042), (40, 2.021), (120, 1.980),
        (1_000_000, 1.960),
    ):  # fmt: skip
        assert student(freedom) == pytest.approx(quantile, abs=0.003)
    assert student(2) > student(2.5) > student(3)


def test_errors_of_both_sides_add_as_squares():
    found = difference(Estimate(100, 3, 1e6), Estimate(90, 4, 1e6))
    assert found.difference == -10
    assert found.high - found.difference == pytest.approx(1.96 * 5, rel=1e-3)
    assert found.within_noise is False
    assert difference(Estimate(100, 3, 5), Estimate(90, 4, 5)).within_noise is True, "5 batches"


def test_the_relative_interval_is_that_of_the_quotient():
    found = difference(Estimate(100, 1, 1e6), Estimate(50, 0, 1e6))
    assert found.relative == -0.5
    # 50 / (100 +- 1) moves by half a per cent of 100.
    assert found.relative_high - found.relative == pytest.approx(1.96 * 0.005, rel=1e-3)
    assert difference(Estimate(0, 0, 9), Estimate(1, 0, 9)).relative is None


def test_an_unknown_error_is_an_unknown_interval():
    found = difference(Estimate(100, math.nan, 1), Estimate(50, 0, 9))
    assert math.isnan(found.low)
    assert found.within_noise


def test_the_arithmetic_is_no_difference():
    found = difference(Estimate(0.1 + 0.2, 0, 9), Estimate(0.3, 0, 9))
    assert (found.difference, found.low, found.high, found.relative) == (0, 0, 0, 0)


def test_runs_vary_as_they_differ():
    found = between_runs([90, 100, 110])
    assert (found.value, found.freedom) == (100, 2)
    assert found.error == pytest.approx(10 / math.sqrt(3))
    alone = like(70, found, 3)
    assert (alone.value, alone.freedom) == (70, 2)
    assert alone.error == pytest.approx(10)
