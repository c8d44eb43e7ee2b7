"""The budget by opcode adds up to the budget by class."""

from pathlib import Path

import pandas as pd
import pytest

import tracekit
from tracekit.analysis.budget import budget
from tracekit.analysis.model.mix import VECTOR
from tracekit.analysis.opcodes import opcodes

TRACES = Path(__file__).parents[2] / "traces"
FIRST = ["matrix", "vector"]


@pytest.fixture(scope="module", params=["pingpong", "lockstep", "zyfa_gap_exact"])
def timeline(request):
    return tracekit.open(TRACES / request.param).timeline()


def test_opcodes_add_up_to_the_budget(timeline):
    rows, table = budget(timeline).rows, opcodes(timeline)
    weight = rows["iterations"] / rows["iterations"].sum()
    for pipe in (*FIRST, "lds", "vmem"):
        mean = float((rows[f"{pipe}_cycles"] * weight).sum())
        assert float(table.loc[table["pipe"] == pipe, "cycles"].sum()) == pytest.approx(mean)
    vector = table[table["pipe"] == "vector"].groupby("class")["cycles"].sum()
    for name in VECTOR:
        mean = float((rows[f"{name}_cycles"] * weight).sum())
        assert float(vector.get(name, 0)) == pytest.approx(mean)
    counted = float((rows["instructions"] * weight).sum())
    assert table["count"].sum() == pytest.approx(counted)


def test_the_row_sum_stands_apart():
    table = opcodes(tracekit.open(TRACES / "zyfa_pingpong_lean").timeline())
    cycles = table.set_index("opcode")["cycles"]
    assert cycles["v_mfma_scale_f32_32x32x64_f8f6f4"] == 1024
    assert cycles["v_mfma_f32_16x16x128_f8f6f4"] == 64


def test_a_rate_replaces_the_table(timeline):
    name = opcodes(timeline)["opcode"].iloc[0]
    table = opcodes(timeline, {name: 100}).set_index("opcode")
    assert table.loc[name, "cycles_each"] == 100
    assert table.loc[name, "cycles"] == pytest.approx(100 * table.loc[name, "count"])


def test_what_has_no_pipe_has_no_cycles(timeline):
    table = opcodes(timeline)
    none = table[table["pipe"] == "none"]
    assert len(none)
    assert none["cycles"].isna().all()
    assert none["cycles_each"].isna().all()


def test_nothing_executed_is_an_empty_table():
    timeline = tracekit.open(TRACES / "pingpong").timeline()
    empty = timeline.select(slot=7)
    assert isinstance(opcodes(empty), pd.DataFrame)
    assert opcodes(empty).empty
