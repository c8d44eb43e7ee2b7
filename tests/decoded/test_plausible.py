"""Rows of decoded JSON that cannot be true are counted, named and left out."""

import json
import shutil

import numpy as np
import pytest

import tracekit
from tests.support.surroundings import TRACES, decoded
from tracekit.analysis.checks.quality import quality
from tracekit.decoded.plausible import sound_rows

KINDS = ("time beyond any clock", "time before the wave", "stall longer than the instruction",
         "negative duration", "times descend", "no such category")  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(decoded("pingpong"), tmp_path / "ui_output_agent_1_dispatch_1")


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def spoilt(kind):
    def change(content):
        wave = content["wave"]
        row = wave["instructions"][3]
        if kind == "time beyond any clock":
            row[0] = 1 << 62
        elif kind == "time before the wave":
            row[0] = wave["begin"] - 100
        elif kind == "stall longer than the instruction":
            row[2] = row[3] + 4
        elif kind == "negative duration":
            row[3] = -4
        elif kind == "times descend":
            row[0] = wave["instructions"][9][0] + 1
        else:
            row[1] = 12

    return change


def findings(timeline):
    return {finding.id: finding for finding in quality(timeline).findings}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_cannot_be_true_is_left_out_and_told(folder, kind):
    whole = tracekit.open(folder).timeline()
    edit(next(folder.glob("se*_wv0.json")), spoilt(kind))
    timeline = tracekit.open(folder).timeline()
    assert len(timeline.instructions) == len(whole.instructions) - 1
    assert timeline.implausible_rows == 1
    assert any("1 rows cannot be true" in note for note in timeline.notes)
    assert findings(timeline)["implausible_rows"].severity == "warning"


def test_many_such_rows_are_fatal(folder):
    def change(content):
        for row in content["wave"]["instructions"][::5]:
            row[2] = row[3] + 1

    for path in folder.glob("se*_wv*.json"):
        edit(path, change)
    assert quality(tracekit.open(folder).timeline()).verdict == "do not conclude"


def test_as_few_rows_as_possible_are_out_of_order():
    rows = np.array([[t, 6, 0, 4, 1] for t in (10, 14, 900, 18, 22, 5, 26, 30)])
    assert sound_rows(rows, 0, 1000).tolist() == [True, True, False, True, True, False, True, True]


def test_no_row_of_a_public_capture_is_implausible(captures):
    for path in sorted(captures.glob("*/*ui*")):
        if path.is_dir():
            timeline = tracekit.open(path).timeline()
            assert not timeline.implausible_rows, path
            assert not any("another category" in note for note in timeline.notes), path


@pytest.mark.parametrize(
    "life", [(1 << 61, (1 << 61) + 9), (100, 50), (0, 1 << 50)], ids=["late", "backwards", "long"]
)
def test_a_wave_that_cannot_have_lived_is_a_damaged_file(folder, life):
    path = next(folder.glob("se*_wv0.json"))
    edit(path, lambda content: content["wave"].update(begin=life[0], end=life[1]))
    timeline = tracekit.open(folder).timeline()
    assert timeline.damaged_waves == 1
    assert any("a wave cannot live from" in note for note in timeline.notes)


def test_the_listing_of_another_kernel_is_not_used(folder):
    shutil.copy(TRACES / "lockstep" / "code.json", folder / "code.json")
    own = tracekit.open(folder).timeline()
    listed = json.loads((TRACES / "zyfa_gap_lean" / "code.json").read_text())
    (folder / "code.json").write_text(json.dumps(listed))
    timeline = tracekit.open(folder).timeline()
    assert any("not of these waves, not used" in note for note in timeline.notes)
    assert (timeline.instructions["row"] == -1).all()
    assert quality(timeline).verdict == "do not conclude"
    assert len(own.instructions) == len(timeline.instructions)


def test_damaged_wave_files_count_like_missing_ones(folder):
    waves = sorted(folder.glob("se*_wv*.json"))
    for path in waves[1:]:
        path.write_text('{"wave"')
    timeline = tracekit.open(folder).timeline()
    found = findings(timeline)["missing_wave_files"]
    assert found.severity == "fatal"
    assert f"{len(waves) - 1} of {len(waves)} wave files are damaged" in found.reason


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"0": [[1]]}', None])
def test_a_damaged_occupancy_raises_no_verdict(folder, content):
    """The waves are read, and what engines ran waves is said to be unknown."""
    whole = tracekit.open(folder).timeline()
    if content is None:
        (folder / "occupancy.json").unlink()
    else:
        (folder / "occupancy.json").write_text(content)
    timeline = tracekit.open(folder).timeline()
    assert len(timeline.instructions) == len(whole.instructions)
    assert quality(timeline).verdict == "usable"
    assert "occupancy.json" in findings(timeline)["lacking_files"].reason


@pytest.mark.parametrize(
    ("name", "content"),
    [("filenames.json", "{"), ("filenames.json", '{"wave_filenames": 3}'),
     ("realtime.json", "{"), ("realtime.json", '{"SE0": [["x", 1]]}'),
     ("se0_perfcounter.json", '{"data": [[1, 2]]}')],
)  # fmt: skip
def test_other_damaged_files_cost_their_table_alone(folder, name, content):
    whole = tracekit.open(folder).timeline()
    (folder / name).write_text(content)
    timeline = tracekit.open(folder).timeline()
    assert len(timeline.instructions) == len(whole.instructions)
    assert "lacking_files" in findings(timeline)
