"""Occupancy of the kernels in the simulator's model, read by tracekit. All figures *simulated*."""

import json
from pathlib import Path

import numpy as np
import pytest

import tracekit
from tracekit.analysis.budget import budget
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.overlap import overlap
from zyfa import trace
from zyfa.codegen import Options
from zyfa.sim.timing.parameters import Parameters

LENGTH = 1536
SAMPLES = sorted(Path(__file__).resolve().parents[2].glob("traces/zyfa_*"))


def occupied(folder):
    rows = occupancy(tracekit.open(folder).timeline(), "steady").rows
    assert len(rows) == 4
    return rows.matrix_occupancy.to_numpy()


def record(tmp_path, variant, data="sink", **overrides):
    parameters = Parameters.of(overrides=overrides)
    trace.record(Options.parse(variant), LENGTH, tmp_path / "t", data, parameters)
    return occupied(tmp_path / "t")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "low", "high"),
    [
        ("exact-gap-packed", 0.60, 0.64),
        ("lean_ashr-gap-packed", 0.85, 0.88),
        ("lean_ashr", 0.98, 1.0),
        ("lean_u8", 0.98, 1.0),
        ("exact", 0.69, 0.81),
        ("exact-early_gap-packed", 0.75, 0.81),
        ("exact-serial", 0.40, 0.55),
        ("lean_ashr-serial", 0.55, 0.75),
    ],
)
def test_steady_occupancy(tmp_path, variant, low, high):
    found = record(tmp_path, variant)
    assert low <= found.min()
    assert found.max() <= high


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_rescale_in_nearly_every_block_costs_a_sixth(tmp_path):
    assert record(tmp_path, "lean_ashr", "gaussian").min() >= 0.82


@pytest.mark.slow
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


ELEMENT_WORK = {
    "zyfa_serial_exact": 896 + 128,
    "zyfa_gap_exact": 896,
    "zyfa_gap_lean": 256,
    "zyfa_pingpong_lean": 256 + 128,
}
"""Vector cycles a block without the maxima: packed multiply-adds, scalar ones take 128 more."""
ELEMENT_OPCODES = (
    "v_exp_f32", "v_cvt_pk_fp8_f32", "v_cvt_pk_u8_f32", "v_ashr_pk_u8_i32", "v_pk_fma_f32",
)  # fmt: skip
SCALAR_TICKS = 23
"""Vector ticks a block for row scalars and addresses, without the maximum of the two halves."""


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda p: p.name)
def test_budget_of_a_block(folder):
    timeline = tracekit.open(folder).timeline()

    def cycles(*free):
        rows = budget(timeline, "steady", dict.fromkeys(free, 0)).rows
        assert len(rows) == 8
        return {(r.matrix_cycles, r.vector_cycles) for r in rows.itertuples()}

    ((matrix, vector),) = cycles()
    ((products, other),) = cycles("v_mfma_f32_16x16x128_f8f6f4", "v_maximum3_f32", *ELEMENT_OPCODES)
    assert (products, matrix - products) == (1024, 64)
    scalar_adds = 0 if "gap" in folder.name else 256
    maxima = 4 * 33
    assert vector - other == ELEMENT_WORK[folder.name] - scalar_adds + maxima
    assert other - scalar_adds == 4 * SCALAR_TICKS


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda p: p.name)
def test_samples_say_that_they_are_simulated_and_hold_their_figures(folder):
    assert "SIMULATED" in (folder / "README.md").read_text()
    assert json.loads((folder / "meta.json").read_text())["simulated"] is True
    expected = json.loads((folder / "expected.json").read_text())["matrix_occupancy"]
    assert occupied(folder) == pytest.approx(list(expected.values()), abs=1e-4)
