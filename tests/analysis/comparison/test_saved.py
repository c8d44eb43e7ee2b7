"""Baselines: a comparison with the file is the comparison with the capture."""

import json

import pandas as pd
import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.compare import compare_runs
from tracekit.analysis.comparison import saved
from tracekit.analysis.comparison.runs import measure
from tracekit.errors import TracekitError
from traces import generate


@pytest.fixture(scope="module")
def runs():
    return [
        measure(Analysis(tracekit.open(generate.ROOT / name).timeline()))
        for name in ("zyfa_gap_exact", "zyfa_gap_lean")
    ]


@pytest.fixture
def path(runs, tmp_path):
    path = tmp_path / "base.json"
    path.write_text(json.dumps(saved.payload(runs[:1]), allow_nan=False))
    return path


def test_a_baseline_compares_as_its_capture_does(runs, path):
    assert saved.is_saved(path)
    base = saved.read(path)
    assert base == runs[:1]
    kept, fresh = (compare_runs(side, runs[1:]) for side in (base, runs[:1]))
    pd.testing.assert_frame_equal(kept.rows, fresh.rows)
    pd.testing.assert_frame_equal(kept.bodies, fresh.bodies)
    assert (kept.warnings, kept.notes) == (fresh.warnings, fresh.notes)


def test_a_code_json_is_no_baseline():
    assert not saved.is_saved(generate.ROOT / "lockstep" / "code.json")
    assert not saved.is_saved(generate.ROOT / "lockstep")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content | {"schema": "tracekit.baseline/9"}, "this version reads"),
        (lambda content: content | {"runs": []}, "holds no run"),
        (lambda content: content | {"runs": [{}]}, "damaged baseline"),
        (lambda content: content | {"runs": [content["runs"][0] | {"metrics": 3}]}, "damaged"),
        (lambda content: content | {"runs": [content["runs"][0] | {"body": {"texts": "x"}}]},
         "damaged"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_says_so(path, change, said):
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(TracekitError, match=said):
        saved.read(path)
    path.write_text(path.read_text()[:-30])
    with pytest.raises(TracekitError, match="damaged baseline"):
        saved.read(path)
