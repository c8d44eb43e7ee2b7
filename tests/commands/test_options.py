"""Options that say what the capture does not."""

import json
import shutil
from pathlib import Path

import pytest

from tracekit.cli import main

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"


@pytest.fixture
def unlisted(tmp_path):
    """The sample without its listing."""
    copy = shutil.copytree(SAMPLE, tmp_path / "pingpong")
    (copy / "code.json").unlink()
    return copy


def occupancy(capsys, *arguments):
    code = main(["occupancy", *map(str, arguments), "--json", "--window", "span"])
    out, _ = capsys.readouterr()
    (found,) = json.loads(out)["captures"]
    return code, found


def test_assumed_mfma_cycles_stand_in_for_a_listing(unlisted, capsys):
    listed = occupancy(capsys, SAMPLE)[1]["rows"]
    (cycles,) = {row["matrix_busy_cycles"] // row["mfma"] for row in listed}
    code, result = occupancy(capsys, unlisted, "--assume-mfma-cycles", cycles)
    assert code == 0
    # All MFMAs of the sample take the same: the assumption gives what the listing gives.
    for name in ("mfma", "matrix_busy_cycles", "matrix_occupancy", "violations"):
        assert [r[name] for r in result["rows"]] == [r[name] for r in listed], name
    total = sum(row["mfma"] for row in listed)
    expected = f"matrix cycles are assumed: {cycles} for each of {total} MFMAs"
    assert any(note.startswith(expected) for note in result["notes"])


def test_what_is_known_is_not_assumed(capsys):
    listed = occupancy(capsys, SAMPLE)[1]
    assumed = occupancy(capsys, SAMPLE, "--assume-mfma-cycles", 4)[1]
    assert assumed["rows"] == listed["rows"]
    assert assumed["notes"] == listed["notes"]


def test_an_unknown_opcode_is_assumed_too(tmp_path, capsys):
    copy = shutil.copytree(SAMPLE, tmp_path / "pingpong")
    text = (copy / "code.json").read_text()
    (opcode,) = {w for w in text.replace('"', " ").split() if w.startswith("v_mfma")}
    (copy / "code.json").write_text(text.replace(opcode, "v_mfma_f32_99x99x9_new"))
    assert occupancy(capsys, copy)[1]["rows"][0]["matrix_occupancy"] is None
    _, result = occupancy(capsys, copy, "--assume-mfma-cycles", 16)
    assert result["rows"][0]["matrix_occupancy"] > 0
    assert any("are assumed: 16 for each" in note for note in result["notes"])


def test_without_an_assumption_the_option_is_named(unlisted, capsys):
    _, result = occupancy(capsys, unlisted)
    assert any("--assume-mfma-cycles" in note for note in result["notes"])


@pytest.mark.parametrize(
    "option",
    [("--assume-mfma-cycles", "0"), ("--source-root", "/old"), ("--source-root", "=new")],
)
def test_impossible_values_are_wrong_usage(option):
    assert main(["occupancy", str(SAMPLE), *option]) == 2


def test_source_root_moves_sources(tmp_path, capsys):
    copy = shutil.copytree(SAMPLE, tmp_path / "pingpong")
    content = json.loads((copy / "code.json").read_text())
    for row in content["code"]:
        row[3] = "/build/a.py:3 -> /build/b.py:4"
    (copy / "code.json").write_text(json.dumps(content))
    out = tmp_path / "stacks.speedscope.json"
    arguments = ["export", str(copy), "--format", "speedscope", "-o", str(out)]
    assert main([*arguments, "--source-root", "/build=/home/me"]) == 0
    assert "/home/me/a.py" in out.read_text()
    assert "/build" not in out.read_text()
