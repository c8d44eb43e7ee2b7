"""Occupancy of the kernels in the simulator's model, read by tracekit. All figures *simulated*."""

import json
from pathlib import Path

import numpy as np
import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.overlap import overlap
from zyfa import trace
from zyfa.codegen import Options
from zyfa.sim.parameters import Parameters

LENGTH = 1536
SAMPLES = sorted(Path(__file__).resolve().parents[2].glob("traces/zyfa_*"))


def occupied(folder):
    rows = occupancy(tracekit.open(folder).timeline(), "steady").rows
    assert len(rows) == 4
    return rows.matrix_occupancy.to_numpy()


def record(tmp_path, variant, data="sink", **overrides):
    parameters = Parameters(overrides=overrides)
    trace.record(Options.parse(variant), LENGTH, tmp_path / "t", data, parameters)
    return occupied(tmp_path / "t")


@pytest.mark.parametrize(
    ("variant", "low", "high"),
    [
        ("exact-gap-packed", 0.60, 0.64),
        ("lean_ashr-gap-packed", 0.85, 0.88),
        ("lean_ashr", 0.95, 1.0),
        ("lean_u8", 0.92, 1.0),
        ("exact", 0.65, 0.81),
        ("exact-serial", 0.40, 0.55),
        ("lean_ashr-serial", 0.55, 0.75),
    ],
)
def test_steady_occupancy(tmp_path, variant, low, high):
    found = record(tmp_path, variant)
    assert low <= found.min()
    assert found.max() <= high


@pytest.mark.parametrize(
    "overrides",
    [
        {"ashr_pk_port": 8},
        {"ds_read_b64_tr_service": 4},
        {"mfma_valu_block_per_16_bytes": 8},
        {"ds_read_b64_latency": 112, "ds_read_b128_latency": 116},
    ],
    ids=["ashr 8 cycles", "tr service 4", "block 20", "LDS latency + 64"],
)
def test_each_unmeasured_rate_alone_leaves_87_percent(tmp_path, overrides):
    assert record(tmp_path, "lean_ashr", **overrides).min() >= 0.87


def test_a_rescale_in_nearly_every_block_costs_a_sixth(tmp_path):
    assert record(tmp_path, "lean_ashr", "gaussian").min() >= 0.82


def test_the_two_waves_take_turns(tmp_path):
    record(tmp_path, "lean_ashr")
    simds = overlap(tracekit.open(tmp_path / "t").timeline(), "steady").simds
    assert set(simds.verdict) == {"alternating"}


@pytest.mark.parametrize("name", trace.INPUTS)
def test_inputs_are_codes_and_repeatable(name):
    first, second = trace.codes(name, 64), trace.codes(name, 64)
    for a, b in zip(first, second, strict=True):
        assert a.shape == (1, 64, 1, 128)
        assert a.dtype == np.uint8
        assert np.array_equal(a, b)
        assert not np.any((a & 0x7F) == 0x7F)


def test_unknown_input():
    with pytest.raises(ValueError, match="sink, gaussian"):
        trace.codes("noise", 64)


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda p: p.name)
def test_samples_say_that_they_are_simulated_and_hold_their_figures(folder):
    assert "SIMULATED" in (folder / "README.md").read_text()
    assert json.loads((folder / "meta.json").read_text())["simulated"] is True
    expected = json.loads((folder / "expected.json").read_text())["matrix_occupancy"]
    assert occupied(folder) == pytest.approx(list(expected.values()), abs=1e-4)
