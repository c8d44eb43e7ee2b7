"""Filters: what selects nothing, and what is said of it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support import planned
from tracekit.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "traces" / "pingpong"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_filters_together_name_what_is_left_by_the_first(capsys):
    code, out, err = run(capsys, "occupancy", SAMPLE, "--simd", 2, "--slot", 5)
    assert (code, out) == (2, "")
    assert "--slot 5 selects nothing: with --simd 2 there is slot 0-1" in err


def test_in_some_captures_it_is_a_note(capsys, tmp_path):
    kernel = planned.lines("s_mov_b32 s0, s1", "s_endpgm")
    one = planned.write(
        tmp_path / "one", kernel, [planned.Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)]
    )
    code, out, err = run(capsys, "waves", SAMPLE, one, "--simd", 3, "--json")
    found = json.loads(out)["captures"]
    assert code == 0
    assert [len(entry["rows"]) for entry in found] == [2, 0]
    said = "--simd 3 selects nothing: there is simd 0"
    assert f"tracekit: one: {said}" not in err
    assert found[1]["notes"][-1] == said
    assert said not in found[0]["notes"]
    _, _, err = run(capsys, "waves", SAMPLE, one, "--simd", 3)
    assert f"note: one: {said}" in err


@pytest.mark.parametrize("option", ["--simd", "--slot", "--wave"])
def test_simds_that_a_filter_left_out_are_not_called_untraced(capsys, option, tmp_path):
    """Nor is the capture that has nothing for it told to trace another CU."""
    kernel = planned.lines("s_mov_b32 s0, s1", "s_endpgm")
    plans = [planned.Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1),
             planned.Plan(kernel, 1, 1, 6000).at(6500, 0).at(6504, 1)]  # fmt: skip
    folder = planned.write(tmp_path / "two", kernel, plans)
    _, _, err = run(capsys, "occupancy", folder, SAMPLE)
    assert "two: no traced wave on SE 0: SIMD 2, 3 (no row for them)" in err
    value = {"--simd": 3, "--slot": 1, "--wave": 0}[option]
    code, _, err = run(capsys, "occupancy", folder, SAMPLE, option, value)
    assert code == 0
    assert "no traced wave" not in err
    assert "--att-target-cu" not in err
    assert ("two: the filters leave no instruction" in err) == (option == "--simd")


def test_an_engine_without_instructions_is_something_to_info_and_nothing_to_waves(captures, capsys):
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    code, out, _ = run(capsys, "info", path, "--se", 1, "--json")
    assert code == 0
    assert [row["se"] for row in json.loads(out)["captures"][0]["streams"]] == [1]
    code, _, err = run(capsys, "waves", path, "--se", 1)
    assert code == 2
    assert "there is se 0" in err


def test_the_capture_of_a_row_can_be_told_also_where_names_are_equal(capsys, tmp_path):
    for place in ("first", "second"):
        shutil.copytree(SAMPLE, tmp_path / place / "run" / "host")
    _, out, _ = run(
        capsys, "waves", *(tmp_path / each / "run" for each in ("first", "second")), "--csv"
    )
    assert {line.split(",")[0] for line in out.splitlines()[1:]} == {"first/run", "second/run"}
