"""``tracekit check``, and the verdict that every other command carries."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.cli import main

SAMPLE = str(Path(__file__).parents[2] / "traces" / "pingpong")
REPORTS = ("occupancy", "waves", "instructions", "info", "loops", "budget", "bubbles", "overlap",
           "shapes", "counters", "clock", "markers")  # fmt: skip
KERNEL = lines(
    "s_cbranch_scc1 -> end",
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "end: s_endpgm",
)


@pytest.fixture
def useless(tmp_path):
    """A capture whose MFMA was never reached."""
    return str(planned.write(tmp_path / "useless", KERNEL,
                             [Plan(KERNEL, 0, 0, 6000).at(6400, 0).at(6440, 2)]))  # fmt: skip


def run(capsys, *arguments):
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


def test_json_has_the_verdict_and_all_findings(capsys, useless):
    code, out, err = run(capsys, "check", useless, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["schema"] == "tracekit.check/2"
    (capture,) = result["captures"]
    found = capture["quality"]
    assert found["verdict"] == "do not conclude"
    assert found["findings"][0]["id"] == "no_dynamic_mfma"
    for finding in found["findings"]:
        assert list(finding) == ["id", "severity", "value", "reason", "remedy", "blocks"]
        assert finding["severity"] in ("fatal", "warning", "info")
    assert set(found["questions"].values()) == {"do not conclude"}
    assert "quality:" not in err


def test_csv_has_a_row_a_finding(capsys, useless):
    _, out, _ = run(capsys, "check", useless, SAMPLE, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [
        "capture", "verdict", "id", "severity", "value", "reason", "remedy", "blocks",
    ]  # fmt: skip
    assert rows[0]["blocks"] == "matrix vector waves"
    assert {row["capture"]: row["verdict"] for row in rows} == {
        "useless": "do not conclude", "pingpong": "good",
    }  # fmt: skip


def test_text_says_what_to_change(capsys, useless):
    _, out, _ = run(capsys, "check", useless)
    assert out.startswith("useless (synthetic): do not conclude\n  fatal    no_dynamic_mfma: ")
    assert "-> trace a launch that reaches the main loop (--kernel-iteration-range)" in out


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_strict_fails_on_do_not_conclude(capsys, useless, options, code):
    assert run(capsys, "check", useless, *options)[0] == code
    assert run(capsys, "check", SAMPLE, *options)[0] == 0


def test_all_of_the_capture_is_judged(capsys):
    _, whole, _ = run(capsys, "check", SAMPLE)
    _, part, _ = run(capsys, "check", SAMPLE, "--simd", "2", "--slot", "1")
    assert part == whole


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_carries_the_verdict(name, capsys, useless):
    _, out, err = run(capsys, name, useless)
    line = "tracekit: useless: quality: do not conclude (none of the kernel's 1 MFMAs"
    assert line in err
    assert "quality:" not in out
    _, out, _ = run(capsys, name, useless, "--json")
    carried = json.loads(out)["captures"][0]["quality"]
    assert carried["verdict"] == "do not conclude"
    assert carried["findings"][0]["id"] == "no_dynamic_mfma"


def test_compare_carries_both_verdicts(capsys):
    other = str(Path(SAMPLE).with_name("lockstep"))
    _, out, err = run(capsys, "compare", SAMPLE, other, "--json")
    found = json.loads(out)
    carried = [each["quality"]["verdict"] for each in (*found["base"], *found["new"])]
    assert carried == ["good", "good"]
    assert "pingpong: quality: good" in err
    assert "lockstep: quality: good" in err


def test_quiet_says_nothing(capsys, useless):
    assert run(capsys, "occupancy", "-q", useless)[2] == ""


def test_a_kernel_without_mfma_answers_two_questions(capsys, tmp_path):
    kernel = lines("s_mov_b32 s0, s1", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6400, 0).at(6440, 1)
    path = str(planned.write(tmp_path / "plain", kernel, [plan]))
    said = (
        "good for wave time and the vector pipe; nothing can be concluded about the matrix "
        "pipe: the kernel has no MFMA"
    )
    _, out, _ = run(capsys, "check", path)
    assert out.startswith(f"plain (synthetic): {said}\n")
    _, out, err = run(capsys, "occupancy", path, "--json")
    assert f"plain: quality: {said}\n" in err
    carried = json.loads(out)["captures"][0]["quality"]
    assert carried["questions"] == {
        "matrix": "do not conclude", "vector": "good", "waves": "good",
    }  # fmt: skip
    assert [(f["id"], f["blocks"]) for f in carried["findings"]] == [("no_mfma", ["matrix"])]
    assert run(capsys, "occupancy", path, "--fail-under", "0")[0] == 3


def test_missing_waves_leave_those_that_are_there(captures, capsys):
    path = str(captures / "legacy_rocprofv2_ui")
    code, out, _ = run(capsys, "check", path, "--strict")
    assert code == 1
    assert out.startswith(
        "legacy_rocprofv2_ui: usable for wave time; nothing can be concluded about the matrix "
        "pipe and the vector pipe: 969 of 972 wave files are missing\n"
    )


def test_an_mfma_of_unknown_cost_closes_the_matrix_pipe(capsys, tmp_path):
    import shutil

    copy = shutil.copytree(SAMPLE, tmp_path / "unknown")
    text = (copy / "code.json").read_text()
    (opcode,) = {w for w in text.replace('"', " ").split() if w.startswith("v_mfma")}
    (copy / "code.json").write_text(text.replace(opcode, "v_mfma_f32_99x99x9_new"))
    _, out, _ = run(capsys, "check", str(copy))
    assert "usable for wave time and the vector pipe; nothing can be concluded about" in out
    assert "unknown_mfma_cost" in out
    _, out, _ = run(capsys, "check", str(copy), "--assume-mfma-cycles", "32")
    assert "unknown_mfma_cost" not in out
