"""A/A: pairs that differ by noise alone, and how often the 95 % interval says so."""

import random
from itertools import combinations

import pytest

import tracekit
from tests.support import jitter, planned
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.compare import compare_runs
from tracekit.analysis.comparison.runs import measure

RUNS = 24
#: What a 95 % interval may miss in 100 pairs.
COVERED = 93


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [
        measure(Analysis(planned.timeline(jitter.run(folder / str(seed), seed))))
        for seed in range(RUNS)
    ]


@pytest.fixture(scope="module")
def engines(captures):
    """The SEs of one dispatch: the same work on other CUs."""
    whole = Analysis(tracekit.open(captures / "fp8_preshuffle_gemm_gfx950").timeline())
    return [measure(whole.select(se=se)) for se in range(4)]


def cycles(base, new):
    return compare_runs(base, new).metrics["cycles"]


def covers(row):
    return row["low"] <= 0 <= row["high"]


@pytest.mark.slow
def test_a_hundred_equal_pairs_are_within_noise(runs, engines):
    drawn = random.Random(16)
    of_one_dispatch = [([a], [b]) for a, b in combinations(engines, 2)]
    pairs = list(combinations(runs, 2))
    drawn.shuffle(pairs)
    pairs = [([a], [b]) for a, b in pairs[: 100 - len(of_one_dispatch)]]
    assert sum(covers(cycles(*pair)) for pair in (*of_one_dispatch, *pairs)) >= COVERED


@pytest.mark.slow
def test_several_runs_a_side_cover_too_and_narrow_it(runs):
    drawn = random.Random(16)
    width = {}
    for count in (3, 12):
        rows = []
        for _ in range(50):
            chosen = drawn.sample(runs, 2 * count)
            rows.append(cycles(chosen[:count], chosen[count:]))
        assert sum(map(covers, rows)) >= 45
        width[count] = sum(row["high"] - row["low"] for row in rows) / len(rows)
    # Twice by the number of runs, and by Student's 2.78 of 4 degrees of freedom to 2.07 of 22.
    assert 0.25 < width[12] / width[3] < 0.5


@pytest.mark.slow
def test_a_change_beyond_the_noise_is_seen(runs, tmp_path):
    slow = [
        measure(Analysis(planned.timeline(jitter.run(tmp_path / str(seed), seed, latency=500))))
        for seed in (101, 102, 103)
    ]
    for base, new in ((runs[:1], slow[:1]), (runs[:3], slow)):
        row = cycles(base, new)
        # The wait for the load grows by the 200 cycles that it takes longer.
        assert row["low"] <= 200 <= row["high"]
        assert row["low"] > 0
