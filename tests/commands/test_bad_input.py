"""Bad input gets one clear line and the documented exit code; the rest is delivered."""

import json
import shutil
from pathlib import Path

import pytest

from tracekit.cli import main
from tracekit.sqtt.encode import header_bytes

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"


@pytest.fixture
def sample(tmp_path):
    copy = tmp_path / "pingpong"
    shutil.copytree(SAMPLE, copy)
    return copy


def stream(folder):
    (path,) = folder.glob("*.att")
    return path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b"\x11\x80\x0f\0\0\0\0\0", "only 8 bytes"),
        (b"\x01\x20\x00\x00" + b"\0" * 60, "looks like RDNA"),
        (b'{"code": []}' + b" " * 20, "this is JSON text"),
        (b"\x7fELF" + b"\0" * 60, "a code object, not a stream"),
        (b"\0" * 64, "no gfx9 header"),
    ],
    ids=["empty", "header only", "RDNA header", "JSON", "ELF", "headerless"],
)
def test_what_is_no_stream_is_refused_in_one_line(tmp_path, capsys, content, expected):
    path = tmp_path / "1_1_shader_engine_0_1.att"
    path.write_bytes(content)
    code, out, err = run(capsys, "occupancy", path)
    assert (code, out) == (1, "")
    assert expected in err
    assert str(path) in err
    assert len(err.strip().splitlines()) == 1


def test_a_code_object_of_another_chip_is_refused(sample, assemble, capsys):
    other = assemble("s_endpgm", cpu="gfx1100")
    code, out, err = run(capsys, "occupancy", stream(sample), "--listing", other)
    assert (code, out) == (1, "")
    assert "gfx1100" in err
    assert len(err.strip().splitlines()) == 1


def test_a_header_then_zeros_is_a_trace_without_waves(tmp_path, capsys):
    path = tmp_path / "1_1_shader_engine_0_1.att"
    path.write_bytes(header_bytes(target_cu=1) + b"\0" * 640)
    code, _, err = run(capsys, "occupancy", path)
    assert code == 0
    assert "no wave ran on the traced CU" in err
    assert "--att-target-cu" in err


def test_without_a_listing_the_matrix_columns_are_empty_and_the_reason_is_told(sample, capsys):
    (sample / "code.json").unlink()
    code, out, _ = run(capsys, "occupancy", sample, "--json", "--window", "span")
    (result,) = json.loads(out)["captures"]
    assert code == 0
    assert any("listing" in note for note in result["notes"])
    for row in result["rows"]:
        assert row["matrix_busy_cycles"] is None
        assert row["matrix_occupancy"] is None
        assert row["vector_busy_cycles"] > 0
        assert row["mfma"] > 0


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_cut_stream_delivers_what_precedes_the_cut(sample, capsys, share):
    whole = stream(sample).read_bytes()
    _, before, _ = run(capsys, "instructions", sample, "--csv")
    stream(sample).write_bytes(whole[: int(len(whole) * share) | 1])
    code, after, err = run(capsys, "instructions", sample, "--csv")
    assert code == 0
    assert "a token runs past the end" in err
    assert "byte 0x" in err
    kept = after.splitlines()
    assert 0 < len(kept) < len(before.splitlines())
    # All but the last row of each wave is as in the whole stream.
    assert len(set(kept) - set(before.splitlines())) <= 16


def test_a_missing_path_is_wrong_usage(tmp_path, capsys):
    code, _, err = run(capsys, "occupancy", tmp_path / "none.att")
    assert code == 2
    assert "does not exist" in err


def test_an_unknown_window_is_wrong_usage(capsys):
    code, _, err = run(capsys, "occupancy", SAMPLE, "--window", "sometimes")
    assert code == 2
    assert "unknown window" in err


@pytest.mark.parametrize("name", ["gfx1100", "mi300", ""])
def test_an_unsupported_architecture_is_wrong_usage(capsys, name):
    code, _, err = run(capsys, "occupancy", SAMPLE, "--arch", name)
    assert code == 2
    assert all(chip in err for chip in ("gfx90a", "gfx942", "gfx950"))


def test_fail_under_is_a_gate(capsys):
    assert run(capsys, "occupancy", SAMPLE, "--window", "span", "--fail-under", 80)[0] == 0
    code, _, err = run(capsys, "occupancy", SAMPLE, "--window", "span", "--fail-under", 99)
    assert code == 3
    assert "is below 99 %" in err


def test_fail_under_without_a_row_fails(tmp_path, capsys):
    path = tmp_path / "1_1_shader_engine_0_1.att"
    path.write_bytes(header_bytes(target_cu=1) + b"\0" * 64)
    assert run(capsys, "occupancy", path, "--fail-under", 1)[0] == 3


def test_a_path_with_spaces_and_umlauts_opens(sample, tmp_path, capsys):
    odd = tmp_path / "größe 1" / "mit leer"
    shutil.copytree(sample, odd)
    assert run(capsys, "occupancy", odd)[0] == 0
