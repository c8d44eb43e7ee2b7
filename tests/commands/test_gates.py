"""Gates decide only by what the data can say: intervals, verdicts, and a word on what differs."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from tracekit.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE, OTHER = (ROOT / "traces" / name for name in ("lockstep", "pingpong"))


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    return code, out.out, out.err


@pytest.fixture
def bare(tmp_path):
    """A capture without a listing: nothing is known of its matrix pipe."""
    copy = shutil.copytree(OTHER, tmp_path / "bare")
    (copy / "code.json").unlink()
    return copy


@pytest.fixture
def engines(captures, tmp_path):
    """Two folders with the waves of one engine each, of the same launch: an A/A pair."""
    (source,) = (captures / "fp8_preshuffle_gemm_gfx950").glob("ui_output_*")
    made = []
    for se in (0, 1):
        folder = tmp_path / f"se{se}" / source.name
        folder.mkdir(parents=True)
        for path in source.iterdir():
            if not path.name.startswith("se") or path.name.startswith(f"se{se}_"):
                shutil.copyfile(path, folder / path.name)
        names = json.loads((folder / "filenames.json").read_text())
        kept = {str(se): names["wave_filenames"][str(se)]}
        (folder / "filenames.json").write_text(json.dumps(names | {"wave_filenames": kept}))
        made.append(folder)
    return made


def test_an_equal_pair_meets_no_requirement_by_noise(engines, capsys):
    code, out, _ = run(capsys, "compare", *engines, "--json", "-q")
    pair = json.loads(out)
    (row,) = [r for r in pair["rows"] if r["metric"] == "cycles" and r["se"] < 0]
    assert code == 0
    assert row["low"] < 0 < row["high"]
    assert row["within_noise"]
    faster = row["difference"] < 0
    need = "cycles<=-1" if faster else "cycles>=+1"
    code, _, err = run(capsys, "compare", *engines, "--require", need)
    assert code == 3
    assert f"{need} not met: {row['difference']:+,.1f} cycles, 95 % interval" in err
    smallest = max(row["high"] - row["difference"], row["difference"] - row["low"])
    assert f"smallest change these runs could show: {smallest:,.1f} cycles" in err
    code, _, _ = run(capsys, "compare", *engines, "--require", need, "--point-estimate")
    assert code == 0


@pytest.mark.parametrize("metric", ["matrix", "vector", "overlap", "matrix_idle", "cycles"])
def test_nothing_at_all_is_met_by_a_capture_against_itself(metric, capsys):
    for operator in ("<", ">"):
        need = f"{metric}{operator}0"
        code, _, err = run(capsys, "compare", SAMPLE, SAMPLE, "--require", need)
        assert code == 3
        assert "smallest change these runs could show" in err


def test_fail_under_refuses_what_says_nothing_about_the_matrix_pipe(captures, capsys):
    path = captures / "legacy_rocprofv2_ui"
    code, out, err = run(capsys, "occupancy", path, "--fail-under", 30)
    assert code == 3
    assert "pipe occupancy" in out, "the table is shown all the same"
    assert (
        "--fail-under: refused: legacy_rocprofv2_ui: nothing can be concluded about the matrix "
        "pipe: 969 of 972 wave files are missing (--allow-bad-quality)"
    ) in err
    code, _, _ = run(capsys, "occupancy", path, "--fail-under", 30, "--allow-bad-quality")
    assert code == 0


def test_a_capture_without_a_listing_is_refused_unless_its_cycles_are_assumed(bare, capsys):
    line = ("occupancy", bare, "--fail-under", 1)
    code, _, err = run(capsys, *line)
    assert code == 3
    assert "refused: bare: nothing can be concluded about the matrix pipe: no listing" in err
    assert run(capsys, *line, "--assume-mfma-cycles", 32)[0] == 0


def test_a_comparison_refuses_captures_that_say_nothing(captures, capsys):
    pair = [captures / "fp8_mla_no_mfma_gfx950",
            captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"]  # fmt: skip
    for need in ("matrix>=+5", "cycles<=-1"):
        code, _, err = run(capsys, "compare", *pair, "--require", need)
        assert code == 3
        assert "refused: fp8_mla_no_mfma_gfx950: nothing can be concluded about" in err
        assert "688 MFMAs was executed (--allow-bad-quality)" in err
    code, _, _ = run(capsys, "compare", *pair, "--require", "matrix>=+5", "--allow-bad-quality")
    assert code == 0
    code, _, _ = run(capsys, "compare", *pair)
    assert code == 0, "no gate was asked for"


def test_different_kernels_are_told_in_every_form(capsys, tmp_path):
    said = "different kernels: lockstep and pingpong"
    code, out, err = run(capsys, "compare", SAMPLE, OTHER)
    assert code == 0
    assert out.startswith(f"warning: {said}\nan iteration: 804.4 -> 536.0 cycles")
    assert f"tracekit: warning: {said}\n" in err
    _, out, _ = run(capsys, "compare", SAMPLE, OTHER, "--json")
    assert json.loads(out)["warnings"] == [said]
    _, out, _ = run(capsys, "compare", SAMPLE, OTHER, "--csv")
    assert {row["warning"] for row in csv.DictReader(io.StringIO(out))} == {said}
    for name in ("out.txt", "out.csv", "out.json"):
        run(capsys, "compare", SAMPLE, OTHER, "-o", tmp_path / name)
        assert said in (tmp_path / name).read_text()


def test_code_that_shares_little_is_told_under_one_name_too(capsys, tmp_path):
    other = shutil.copytree(SAMPLE, tmp_path / "other")
    content = json.loads((other / "code.json").read_text())
    for row in content["code"]:
        if row[0].startswith("v_") and "mfma" not in row[0]:
            row[0] = "v_mul_f32_e32 v1, v2, v3 mul:2"
    (other / "code.json").write_text(json.dumps(content))
    code, out, _ = run(capsys, "compare", SAMPLE, other)
    assert code == 0
    assert out.startswith("warning: the loop bodies share ")


def test_versions_of_one_kernel_have_no_warning(captures, capsys):
    pair = [captures / f"aiter_fp4_gemm_gfx950_{which}" for which in ("before", "after")]
    _, out, err = run(capsys, "compare", *pair)
    assert "different kernels" not in out + err


def test_the_timing_of_decoded_captures_is_amds(captures, capsys):
    path = captures / "gemm_bf16_gfx942"
    _, out, _ = run(capsys, "compare", path, path, "-q")
    assert "amd timing" in out
    assert "exact timing" not in out


def test_a_path_of_several_captures_is_no_base(captures, capsys):
    path = captures / "flash_attn_bf16_gfx950"
    code, out, err = run(capsys, "compare", path, SAMPLE)
    assert (code, out) == (2, "")
    assert "2 paths hold 3 captures" in err
