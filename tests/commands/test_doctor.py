"""``tracekit doctor`` names what is there, what is not, and what it is for."""

import json

import pytest

from tracekit.cli import main


@pytest.fixture
def rocm(tmp_path, monkeypatch):
    """A stand-in ROCm whose rocprofv3 answers as ``install(help)`` says."""

    def install(help):
        (tmp_path / ".info").mkdir()
        (tmp_path / ".info" / "version").write_text("7.2.0-43\n")
        program = tmp_path / "bin" / "rocprofv3"
        program.parent.mkdir()
        program.write_text(
            '#!/bin/sh\n[ "$1" = --version ] && echo "rocprofv3 version: 1.1.0" '
            f'&& echo "git: x" || echo "{help}"\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("ROCM_PATH", str(tmp_path))

    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("ROCPROF_ATT_LIBRARY_PATH", raising=False)
    return install


def examine(capsys):
    assert main(["doctor", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == "tracekit.doctor/1"
    return {part["name"]: part for part in result["parts"]}


def test_versions_are_told(rocm, capsys):
    rocm("--att  thread trace")
    parts = examine(capsys)
    assert parts["ROCm"]["found"].startswith("7.2.0-43")
    assert parts["rocprofv3"]["found"].startswith("rocprofv3 version: 1.1.0 (")
    assert parts["AMD decoder"]["available"] is False
    assert parts["rocprofv3"]["enables"] == "tracekit capture"


def test_a_rocprofv3_without_thread_trace_is_named(rocm, capsys):
    rocm("--kernel-trace")
    assert "has no --att: needs ROCm 7.0" in examine(capsys)["rocprofv3"]["found"]


def test_amds_decoder_is_found_by_its_path(rocm, capsys, tmp_path, monkeypatch):
    (tmp_path / "librocprof-trace-decoder.so").touch()
    monkeypatch.setenv("ROCPROF_ATT_LIBRARY_PATH", str(tmp_path))
    assert examine(capsys)["AMD decoder"]["available"] is True


def test_what_is_missing_comes_with_a_remedy(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("TRACEKIT_DECODER", "python")
    parts = examine(capsys)
    for name in ("native core", "ROCm", "rocprofv3"):
        assert parts[name]["available"] is False
        assert parts[name]["remedy"]
    assert main(["doctor"]) == 0
    assert "missing" in capsys.readouterr().out
