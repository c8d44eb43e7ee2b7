"""``tracekit compare``: sides of several runs, baselines, and what is shown."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tracekit.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "traces"
SLOW, FAST = SAMPLES / "zyfa_gap_exact", SAMPLES / "zyfa_pingpong_lean"


@pytest.fixture
def compare(capsys):
    def run(*arguments):
        code = main(["compare", *map(str, arguments)])
        out = capsys.readouterr()
        assert "Traceback" not in out.err
        return code, out.out, out.err

    return run


def sides(result):
    return [[each["capture"] for each in result[side]] for side in ("base", "new")]


def test_the_mean_comes_first_and_its_pieces_sum_to_it(compare):
    code, out, _ = compare(SLOW, FAST, "-q")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith("warning: different kernels")
    assert lines[1] == (
        "an iteration: 3,473.8 -> 2,176.5 cycles, mean: -1,297.4 (-37.3 %), 95 % interval "
        "-1,302.0 to -1,292.8; median -1,296.0"
    )
    start = next(i for i, line in enumerate(lines) if line.startswith("matrix pipe busy"))
    end = next(i for i, line in enumerate(lines) if line.startswith("sum: an iteration"))
    values = [
        [float(text.replace(",", "")) for text in re.findall(r" ([+-]?[\d,]+\.\d)(?= |$)", line)]
        for line in lines[start : end + 1]
    ]
    for column in range(3):
        parts = sum(row[column] for row in values[:-1])
        assert parts == pytest.approx(values[-1][column], abs=1)
    sizes = [abs(row[2]) for row in values[1:-1]]
    assert sizes == sorted(sizes, reverse=True)


def test_changed_instructions_are_counted_and_shown_when_asked_for(compare):
    _, out, _ = compare(SLOW, FAST, "-q")
    assert "loop body: 146 removed, 112 added, 37 moved: --diff shows them\n" in out
    assert "s_barrier" not in out
    _, out, _ = compare(SLOW, FAST, "-q", "--diff")
    assert len(re.findall(r"^(?:removed|added|moved) ", out, re.MULTILINE)) == 146 + 112 + 37


def test_paths_behind_new_are_runs_of_the_new_side(compare, tmp_path):
    copies = [shutil.copytree(SAMPLES / "lockstep", tmp_path / name) for name in "ab"]
    for line in (
        [*copies, "--new", FAST, SLOW, "--json", "-q"],
        [*copies, "--new", FAST, "--json", "-q", "--new", SLOW],
        ["--json", "-q", "--new", FAST, SLOW, "--window", "steady", *copies],
    ):
        code, out, _ = compare(*line)
        assert code == 0
        found = json.loads(out)
        assert sides(found) == [["a", "b"], ["zyfa_pingpong_lean", "zyfa_gap_exact"]]
        assert found["noise"] == "between runs"
        assert {row["noise"] for row in found["rows"]} == {"between runs"}


def test_it_says_what_the_intervals_are_about(compare):
    _, out, _ = compare(SLOW, FAST, "-q")
    assert "\n95 % intervals within a run, over its iterations; give several runs" in out
    _, out, _ = compare(SLOW, SLOW, "--new", FAST, FAST, "-q")
    assert "\n95 % intervals between runs, 2 of base and 2 of new\n" in out
    _, out, _ = compare(SLOW, SLOW, SLOW, "--new", FAST, "-q")
    assert "\n95 % intervals between 3 runs; the one run of the other side is taken" in out


def test_one_run_given_twice_is_no_noise(compare):
    _, out, err = compare(SLOW, SLOW, "--new", FAST)
    said = "zyfa_gap_exact (1) and zyfa_gap_exact (2) have the same numbers"
    assert f"warning: {said}" in out
    assert f"warning: {said}" in err


@pytest.mark.parametrize("paths", [[SLOW], [SLOW, FAST, FAST]])
def test_which_side_a_path_is_of_is_not_guessed(compare, paths):
    code, out, err = compare(*paths)
    assert (code, out) == (2, "")
    assert "BASE NEW, or runs of both: BASE... --new NEW..." in err


def test_a_baseline_takes_the_place_of_its_captures(compare, tmp_path):
    path = tmp_path / "base.json"
    code, out, err = compare(SLOW, "--save", path)
    assert (code, out) == (0, "")
    assert f"{path}: baseline of 1 run\n" in err
    assert path.stat().st_size < 64 * 1024
    code, out, err = compare(SLOW, "--save", path)
    assert code == 1
    assert "use --force" in err
    _, fresh, _ = compare(SLOW, FAST, "-q", "--require", "cycles<=-30%")
    code, kept, err = compare(path, FAST, "--require", "cycles<=-30%")
    assert code == 0
    assert kept == fresh
    assert "zyfa_gap_exact (baseline): quality: good" in err
    code, _, err = compare(path, FAST, "--window", "span")
    assert code == 2
    assert "zyfa_gap_exact is of window steady, zyfa_pingpong_lean of window span" in err
    code, _, err = compare(path, FAST, "--simd", 0)
    assert "zyfa_gap_exact is of part all, zyfa_pingpong_lean of part simd 0" in err


def test_the_new_side_is_kept_for_the_next_round(compare, tmp_path):
    path = tmp_path / "next.json"
    code, out, _ = compare(SLOW, "--new", FAST, "--save", path, "--json", "-q")
    assert code == 0
    assert sides(json.loads(out)) == [["zyfa_gap_exact"], ["zyfa_pingpong_lean"]]
    kept = json.loads(path.read_text())
    assert [run["capture"] for run in kept["runs"]] == ["zyfa_pingpong_lean"]


def test_a_page_for_a_pull_request(compare, tmp_path):
    page = tmp_path / "page.md"
    code, out, _ = compare(SLOW, FAST, "-q", "-o", page)
    assert (code, out) == (0, "")
    text = page.read_text()
    assert text.startswith("> **warning:** different kernels: ")
    assert "\n**an iteration: 3,473.8 -> 2,176.5 cycles, mean: -1,297.4" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows if "idle: " in line} == {8}
    assert any(line.startswith("| idle: vector_work | 1,055.5 | 0.0 |") for line in rows)


def test_each_simd_has_its_rows_when_asked_for(compare):
    _, out, _ = compare(SLOW, FAST, "-q", "--simds")
    for simd in range(4):
        assert len(re.findall(rf"^SE 0 SIMD {simd} ", out, re.MULTILINE)) > 20


def test_another_number_of_waves_in_the_loop_is_told(compare, captures):
    same = captures / "fp8_preshuffle_gemm_gfx950"
    _, out, _ = compare(same, captures / "aiter_fp4_gemm_gfx950_after", "-q")
    told = re.search(r"^([\d.]+) -> 2\.0 waves of a SIMD are in the loop at once: it ends an "
                     r"iteration every ", out, re.MULTILINE)  # fmt: skip
    assert float(told[1]) != 2
