"""Errors from batches of iterations: as known for independent ones, wider where they are not."""

import numpy as np
import pytest

from tracekit.analysis.comparison.batches import BATCHES, batches, errors, mean, median
from tracekit.analysis.comparison.pieces import Pieces


def run_of(lengths):
    """Pieces of one wave whose iterations take ``lengths``."""
    lengths = np.asarray(lengths, float)
    count = len(lengths)
    return Pieces(lengths, lengths, np.ones(count), np.zeros((count, 1)), np.arange(count))


def mean_length(sums):
    return sums[:, 1:2] / sums[:, 2:3]


def error(part):
    return errors([part.table], batches([part], mean_length), mean_length)[0]


def test_the_error_of_independent_iterations_is_the_textbook_s():
    lengths = 1000 + 100 * np.random.default_rng(3).standard_normal(400)
    part = run_of(lengths)
    alone = errors([part.table], [np.arange(400)], mean_length)[0]
    assert alone == pytest.approx(lengths.std(ddof=1) / 20, rel=0.01)
    assert alone * 0.9 <= error(part) <= alone * 1.6


def test_iterations_that_stay_slow_for_a_while_widen_it():
    generator = np.random.default_rng(3)
    phases = np.repeat(1000 + 100 * generator.standard_normal(20), 20)
    part = run_of(phases + generator.standard_normal(400))
    alone = errors([part.table], [np.arange(400)], mean_length)[0]
    assert error(part) > 3 * alone


def test_there_are_batches_enough_where_there_are_iterations_enough():
    for count in (BATCHES, 25, 400):
        (made,) = batches([run_of(np.arange(count) + 1000)], mean_length)
        assert made.max() + 1 >= BATCHES
    (few,) = batches([run_of([5, 6, 7])], mean_length)
    assert few.tolist() == [0, 1, 2]


def test_batches_of_several_cus_are_apart():
    made = batches([run_of(range(1, 31)), run_of(range(1, 21))], mean_length)
    assert not set(made[0]) & set(made[1])


def test_one_batch_knows_no_error():
    part = run_of([7])
    assert np.isnan(error(part))
    assert np.isnan(median(np.array([7.0]), np.array([0])).error)


def test_the_interval_of_a_median_is_that_of_its_ranks():
    generator = np.random.default_rng(5)
    values = generator.standard_normal(900)
    found = median(values, np.arange(900))
    assert found.value == np.median(values)
    # 1.2533 sigma / sqrt(n) for a normal distribution.
    assert found.error == pytest.approx(1.2533 / 30, rel=0.15)


def test_the_mean_of_a_budget_moves_with_its_waves():
    values = np.repeat([[10.0], [20.0], [30.0]], 50, axis=0)
    means, spread, freedom = mean(values, np.repeat([0, 1, 2], 50))
    assert (means[0], freedom) == (20, 2)
    assert spread[0] == pytest.approx(10 / np.sqrt(3))
    assert mean(values, np.zeros(150))[2] == 149
