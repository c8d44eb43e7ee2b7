"""The study's numbers mean what they say; small lengths."""

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from click.testing import CliRunner  # noqa: E402

from zyfa import accuracy  # noqa: E402
from zyfa.commands.accuracy import command  # noqa: E402


@pytest.mark.slow
def test_lean_and_exact_on_both_kinds_of_data():
    for data in accuracy.NAMES:
        rms = {e.variant: e.rms for e in accuracy.errors(data, 512)}
        assert 1.0 <= rms["lean_ashr"] / rms["exact"] <= 1.45


@pytest.mark.slow
def test_sinks_are_where_the_block_scale_pays():
    rms = {e.variant: e.rms for e in accuracy.errors("sink", 512)}
    assert rms["lean_ashr"] < 0.5 * rms["AITER-like"]


def test_rotation_helps_outliers_and_not_gaussians():
    assert accuracy.input_error("sink", 512, True) < 0.8 * accuracy.input_error("sink", 512, False)
    ratio = accuracy.input_error("gaussian", 512, True) / accuracy.input_error(
        "gaussian", 512, False
    )
    assert 0.8 < ratio < 1.2


@pytest.mark.slow
def test_divergence_is_positive_and_smallest_without_rounded_probabilities():
    found = accuracy.divergences(length=128)
    assert all(0 < value < 1e-3 for value in found.values())
    assert set(accuracy.variants()) < set(found)


@pytest.mark.slow
def test_command_prints_three_tables():
    done = CliRunner().invoke(command, ["--length", "256"])
    assert done.exit_code == 0
    assert sum(line.startswith("|---") for line in done.stdout.splitlines()) == 3
