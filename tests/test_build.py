"""One builder: each stream is decoded once a timeline, and a timeline is a value."""

import json
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit import build
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.occupancy import occupancy
from tracekit.isa import disassembler

ROOT = Path(__file__).resolve().parents[1] / "traces"
KERNEL = lines("s_nop 0", "v_mfma_f32_32x32x16_bf16", "s_endpgm")


@pytest.fixture
def decodes(monkeypatch):
    """Sizes of the streams that are decoded, in order."""
    seen = []

    def decode(data, *arguments):
        seen.append(len(data))
        return real(data, *arguments)

    real = build.decode
    monkeypatch.setattr(build, "decode", decode)
    return seen


def with_code_object(tmp_path):
    """A capture whose listing comes from the code object beside the stream."""
    if disassembler.available() is None:
        pytest.skip("no disassembler (extra isa)")
    for path in (ROOT / "zyfa_gap_exact").iterdir():
        if path.name != "code.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_stream_is_decoded_once_a_timeline(decodes):
    capture = tracekit.open(ROOT / "pingpong")
    capture.timeline()
    assert len(decodes) == len(capture.streams) == 1
    capture.timeline("amd")
    assert len(decodes) == 2


def test_also_where_the_stream_says_what_to_disassemble(tmp_path, decodes):
    capture = tracekit.open(with_code_object(tmp_path))
    assert capture.code_objects
    timeline = capture.timeline()
    assert len(timeline.listing) > 0
    assert len(decodes) == len(capture.streams) == 1


def test_other_costs_decode_nothing(decodes):
    timeline = tracekit.open(ROOT / "pingpong").timeline()
    del decodes[:]
    other = timeline.with_costs(assumed_mfma_cycles=16)
    assert decodes == []
    assert other.executed is timeline.executed


def unlisted(tmp_path):
    """A capture of one MFMA that no listing names."""
    plan = Plan(KERNEL, 0, 0, 6000).at(6400, 0).at(6404, 1).at(6500, 2)
    folder = planned.write(tmp_path, KERNEL, [plan])
    (folder / "code.json").unlink()
    return folder


@pytest.mark.parametrize("order", [(16, None), (None, 16), (16, 32), (32, 16)])
def test_assumed_cycles_of_one_timeline_are_not_those_of_another(tmp_path, order):
    capture = tracekit.open(unlisted(tmp_path))
    timeline = capture.timeline()
    made = [timeline.with_costs(assumed_mfma_cycles=cycles) for cycles in order]
    made += [capture.timeline().with_costs(assumed_mfma_cycles=order[0])]
    for cycles, each in zip((*order, order[0]), made, strict=True):
        said = [note for note in each.notes if "assumed" in note and "matrix" in note]
        busy = occupancy(each, "span").rows["matrix_busy_cycles"].tolist()
        if cycles is None:
            assert (said, busy) == ([], [None])
        else:
            assert (len(said), busy) == (1, [cycles])
            assert f": {cycles} for each of 1 MFMAs" in said[0]
    assert timeline.costs.assumed_mfma is None


def test_an_opcode_without_a_table_is_assumed_in_one_timeline_alone(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [Plan(KERNEL, 0, 0, 6000).at(6400, 1).at(6500, 2)])
    code = json.loads((folder / "code.json").read_text())
    for row in code["code"]:
        row[0] = row[0].replace("v_mfma_f32_32x32x16_bf16", "v_mfma_f32_64x64x64_fp2")
    (folder / "code.json").write_text(json.dumps(code))
    capture = tracekit.open(folder)
    first, second = capture.timeline(), capture.timeline()
    assumed = first.with_costs(assumed_mfma_cycles=24)
    assert occupancy(assumed, "span").rows["matrix_busy_cycles"].tolist() == [24]
    for each in (first, second):
        assert occupancy(each, "span").rows["matrix_busy_cycles"].tolist() == [None]
        assert not any("assumed:" in note for note in each.notes)


def test_captures_listings_and_timelines_do_not_change():
    capture = tracekit.open(ROOT / "pingpong")
    timeline = capture.timeline()
    for value, name in ((capture, "name"), (timeline, "arch"), (timeline.listing, "text")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)
    with pytest.raises(ValueError, match="read-only"):
        timeline.costs.cycles[:] = 1


def test_a_timeline_is_told_in_one_line():
    text = repr(tracekit.open(ROOT / "pingpong").timeline())
    assert text.startswith("<Timeline pingpong: ")
    assert "\n" not in text
    assert len(text) < 120


def test_an_answer_is_computed_once_and_shared_between_windows(monkeypatch):
    analysis = Analysis(tracekit.open(ROOT / "pingpong").timeline())
    assert analysis.causes is analysis.causes
    other = analysis.in_window("span")
    assert other.loops is analysis.loops
    assert other.quality is analysis.quality
    assert other.occupancy is not analysis.occupancy
    assert analysis.select() is analysis


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    assert tracekit.__version__ == project["version"]
