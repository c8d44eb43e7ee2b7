"""`zyfa emit`, `build` and `trace`."""

import pytest
from click.testing import CliRunner

import tracekit
from zyfa.cli import zyfa


def invoke(*arguments):
    return CliRunner().invoke(zyfa, arguments)


def test_emit_prints_assembly_only():
    done = invoke("emit", "--variant", "exact-gap-packed")
    assert done.exit_code == 0
    assert done.stdout.startswith("; zyfa FP8")
    assert "v_pk_fma_f32" in done.stdout


def test_emit_lists_the_options():
    done = invoke("emit", "--list")
    assert "softmax = lean_ashr | lean_u8 | exact" in done.stdout


@pytest.mark.parametrize("command", ["emit", "build", "trace"])
def test_an_unknown_variant_is_wrong_usage(command):
    done = invoke(command, "--variant", "softmax=fast")
    assert done.exit_code == 2
    assert "softmax='fast': choose one of" in done.output


def test_build_writes_a_code_object_once(tmp_path):
    path = tmp_path / "kernel.co"
    assert invoke("build", "-o", str(path)).exit_code == 0
    assert path.read_bytes()[:4] == b"\x7fELF"
    again = invoke("build", "-o", str(path))
    assert again.exit_code == 2
    assert "--force" in again.output
    assert invoke("build", "-f", "-o", str(path)).exit_code == 0


def test_trace_leaves_a_capture(tmp_path):
    folder = tmp_path / "t"
    done = invoke("trace", "--seqlen", "256", "-o", str(folder))
    assert done.exit_code == 0
    assert "simulated; memory latency 700 cycles" in done.stdout
    capture = tracekit.open(folder)
    assert capture.simulated
    assert len(capture.timeline().waves) == 8
    assert invoke("trace", "--seqlen", "256", "-o", str(folder)).exit_code == 2


@pytest.mark.parametrize(("option", "value"), [("--input", "noise"), ("--seqlen", "0")])
def test_trace_refuses(option, value, tmp_path):
    done = invoke("trace", option, value, "-o", str(tmp_path / "t"))
    assert done.exit_code == 2
    assert option in done.output
