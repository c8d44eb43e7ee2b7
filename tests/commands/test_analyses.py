"""The analysis commands: schemas, keys that docs/metrics.md documents, exit codes, help."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support import planned
from tracekit.analysis.causes import CAUSES
from tracekit.cli import main
from tracekit.commands import COMMANDS as COMMAND_NAMES

ROOT = Path(__file__).parents[2]
SAMPLES = {name: str(ROOT / "traces" / name) for name in ("pingpong", "lockstep")}
COMMANDS = ("loops", "budget", "memory", "bubbles", "overlap", "shapes", "counters", "clock",
            "markers")  # fmt: skip
#: Version of a schema where it is not 2.
VERSIONS = {"memory": 1}
METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def run(capsys, *arguments):
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("name", COMMANDS)
def test_json_has_its_schema_and_says_that_it_is_simulated(name, capsys):
    code, out, _ = run(capsys, name, SAMPLES["lockstep"], "--json")
    result = json.loads(out)
    assert code == 0
    assert result["schema"] == f"tracekit.{name}/{VERSIONS.get(name, 2)}"
    (found,) = result["captures"]
    assert found["simulated"] is True
    assert isinstance(found["notes"], list)
    assert isinstance(found["rows"], list)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_key_is_documented(name, capsys):
    _, out, _ = run(capsys, name, SAMPLES["lockstep"], "--json")
    documented = set(re.findall(r"\w+", METRICS))
    documented |= {f"{cause}_cycles" for cause in CAUSES}
    (found,) = json.loads(out)["captures"]
    for table in found.values():
        for row in table if isinstance(table, list) else ():
            for key in row if isinstance(row, dict) else ():
                stem = re.sub(r"^(previous_mfma|next_mfma)(_\w+)?$", r"\1", key)
                assert stem in documented, key


@pytest.mark.parametrize("name", COMMANDS)
def test_csv_has_the_keys_of_the_rows(name, capsys):
    _, out, _ = run(capsys, name, SAMPLES["lockstep"], "--json")
    rows = json.loads(out)["captures"][0]["rows"]
    _, out, _ = run(capsys, name, SAMPLES["lockstep"], "--csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert len(table) == len(rows)
    assert [list(row) for row in table] == [["capture", *row] for row in rows]


@pytest.mark.parametrize("name", [*COMMANDS, "explain", "compare", "export"])
def test_help_explains_the_terms(name, capsys):
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    assert len(out.split("Options:")[0].split()) > 30


@pytest.mark.parametrize("name", ["bubbles", "budget", "overlap", "shapes", "occupancy"])
def test_steady_is_the_default_window_and_is_shown(name, capsys):
    _, out, _ = run(capsys, name, SAMPLES["pingpong"])
    assert "window steady" in out
    _, out, _ = run(capsys, name, SAMPLES["pingpong"], "--window", "span")
    assert "window span" in out


@pytest.mark.parametrize("name", ["bubbles", "budget", "overlap", "shapes", "compare"])
def test_an_unknown_window_is_wrong_usage(name, capsys):
    code, _, error = run(capsys, name, *SAMPLES.values(), "--window", "spam")
    assert code == 2
    assert "unknown window" in error


def test_bubbles_names_every_cause_in_its_help(capsys):
    _, out, _ = run(capsys, "bubbles", "--help")
    assert not [cause for cause in CAUSES if cause not in out]


def test_the_bubble_map_is_asked_for(capsys):
    _, out, _ = run(capsys, "bubbles", SAMPLES["lockstep"], "--json", "--map")
    found = json.loads(out)["captures"][0]
    assert {"by_offset", "by_time"} <= set(found)
    _, out, _ = run(capsys, "bubbles", SAMPLES["lockstep"], "--json")
    assert "by_offset" not in json.loads(out)["captures"][0]


@pytest.mark.parametrize(
    ("names", "require", "code"),
    [
        (("lockstep", "pingpong"), ["overlap>=+20"], 0),
        (("pingpong", "lockstep"), ["overlap>=+20"], 3),
        (("lockstep", "pingpong"), ["cycles<=-25%", "matrix>=+25", "median_cycles<=-30%"], 0),
        (("lockstep", "pingpong"), ["overlap>=+20", "cycles<=-40%"], 3),
        (("lockstep", "pingpong", "lockstep"), ["overlap>=+20"], 2),
        (("lockstep", "pingpong"), ["speed>=2"], 2),
        (("lockstep",), [], 2),
    ],
)
def test_compare_is_a_gate(names, require, code, capsys):
    options = [option for text in require for option in ("--require", text)]
    found, _, error = run(capsys, "compare", *(SAMPLES[name] for name in names), *options)
    assert found == code
    assert ("not met" in error) == (code == 3)


def test_compare_refuses_known_and_different_chips(tmp_path, capsys):

    other = tmp_path / "other"
    shutil.copytree(SAMPLES["lockstep"], other)
    meta = json.loads((other / "meta.json").read_text())
    (other / "meta.json").write_text(json.dumps(meta | {"arch": "gfx942"}))
    # An opcode that only gfx950 has would be believed instead.
    listed = (other / "code.json").read_text()
    (other / "code.json").write_text(listed.replace("32x32x16_bf16", "32x32x8_bf16"))
    code, _, error = run(capsys, "compare", SAMPLES["lockstep"], str(other))
    assert code == 2
    assert "different chips" in error


def test_compare_json_has_rows_bodies_and_what_is_unmet(capsys):
    code, out, _ = run(
        capsys, "compare", *(SAMPLES[n] for n in ("pingpong", "lockstep")), "--json",
        "--require", "overlap>=+20",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 3
    assert found["schema"] == "tracekit.compare/3"
    assert [each["capture"] for each in found["base"]] == ["pingpong"]
    assert [each["capture"] for each in found["new"]] == ["lockstep"]
    assert len(found["unmet"]) == 1
    (needed,) = found["requirements"]
    assert needed["met"] is False
    assert needed["smallest"] >= 0
    documented = set(re.findall(r"\w+", METRICS))
    assert not [key for row in found["rows"] for key in row if key not in documented]


@pytest.mark.parametrize("rate", ["v_exp_f32", "v_exp_f32=fast", "=4"])
def test_a_rate_is_an_opcode_and_cycles(rate, capsys):
    code, _, error = run(capsys, "budget", SAMPLES["lockstep"], "--rate", rate)
    assert code == 2
    assert "OPCODE=CYCLES" in error


def test_a_rate_changes_the_budget(capsys):
    _, out, _ = run(capsys, "budget", SAMPLES["lockstep"], "--rate", "v_exp_f32=4", "--json")
    assert {row["transcendental_cycles"] for row in json.loads(out)["captures"][0]["rows"]} == {32}


def test_a_kernel_without_loops_has_a_line(capsys, tmp_path):
    kernel = planned.lines("s_mov_b32 s0, s1", "s_endpgm")
    plan = planned.Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)
    path = str(planned.write(tmp_path / "plain", kernel, [plan]))
    code, out, _ = run(capsys, "loops", path, "-q")
    assert code == 0
    assert re.fullmatch(r"plain \(synthetic\): loops, exact timing, .*: none\n", out)


def test_info_counts_engines_not_streams(captures, capsys):
    _, out, _ = run(capsys, "info", str(captures / "wave_gemm_bf16_gfx950"))
    assert "32 streams of 32 shader engines, 2 with instructions (SE 0 CU 0, SE 22 CU 0)" in out


def test_info_tells_streams_of_one_engine_by_dispatch(capsys, tmp_path):
    copy = shutil.copytree(SAMPLES["pingpong"], tmp_path / "run")
    (stream,) = copy.glob("*.att")
    # Not the same bytes: those would be one stream read once.
    other = copy / stream.name.replace("_1.att", "_2.att")
    other.write_bytes(stream.read_bytes() + bytes(2))
    _, out, _ = run(capsys, "info", str(copy))
    assert "2 streams of 1 shader engine, 2 with instructions (SE 0 CU 1)" in out


def test_markers_without_a_listing_have_empty_matrix_columns(capsys):
    path = ROOT.parent / "shared" / "cases" / "markers_unknown"
    if not path.is_dir():
        pytest.skip("cases not found at ../shared/cases")
    code, out, _ = run(capsys, "markers", str(path), "--json")
    rows = json.loads(out)["captures"][0]["rows"]
    assert code == 0
    assert rows
    assert {row["matrix_occupancy"] for row in rows} == {None}
    assert {row["vector_occupancy"] for row in rows} == {0.0}


def test_shapes_of_gfx90a_are_measured_by_the_peak_of_their_type(capsys):
    path = ROOT.parent / "shared" / "cases" / "shapes_gfx90a"
    if not path.is_dir():
        pytest.skip("cases not found at ../shared/cases")
    _, out, _ = run(capsys, "shapes", str(path), "--json")
    rows = {row["opcode"]: row for row in json.loads(out)["captures"][0]["rows"]}
    for name, share, faster in (
        ("v_mfma_f32_32x32x4bf16", 0.0497, "v_mfma_f32_32x32x8bf16_1k"),
        ("v_mfma_f32_16x16x8bf16", 0.0248, "v_mfma_f32_16x16x16bf16_1k"),
    ):
        assert rows[name]["peak_share"] == pytest.approx(share, abs=5e-5)
        assert rows[name]["rate"] == 0.5
        assert faster in rows[name]["flag"]
    assert rows["v_mfma_f32_32x32x8bf16_1k"]["flag"] == ""
    assert rows["v_mfma_f64_4x4x4f64"]["flag"] == ""


def test_a_chip_that_is_not_supported_is_wrong_usage(capsys):
    code, _, error = run(capsys, "occupancy", SAMPLES["pingpong"], "--arch", "gfx1100")
    assert code == 2
    assert "'gfx90a', 'gfx942', 'gfx950'" in error


@pytest.mark.parametrize("name", [name for name in COMMAND_NAMES if name not in ("doctor", "mcp")])
def test_every_command_can_be_quiet(name, capsys):
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    assert "-q, --quiet" in out


def test_two_waves_that_meet_by_chance_do_not_take_turns(captures, capsys):
    path = str(captures / "wave_gemm_bf16_gfx950")
    _, out, _ = run(capsys, "overlap", path, "--json")
    (found,) = json.loads(out)["captures"]
    for row in (*found["rows"], *found["simds"]):
        assert (row["alternation"], row["verdict"]) == (None, "too little to tell")
