"""`zyfa emit`, `build` and `trace`."""

import itertools
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tracekit
from zyfa import chip
from zyfa.cli import main, zyfa

SAMPLE = Path(__file__).resolve().parents[3] / "traces" / "zyfa_gap_lean"
ROCPROFV3 = """#!{python}
import json, pathlib, shutil, sys
if sys.argv[1:] == ["--help"]:
    sys.exit(print("--att --kernel-trace"))
pathlib.Path({log!r}).write_text(json.dumps(sys.argv[1:]))
folder = sys.argv[sys.argv.index("-d") + 1]
shutil.copytree({sample!r}, folder + "/host")
"""


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


@pytest.mark.slow
def test_trace_leaves_a_capture(tmp_path):
    folder = tmp_path / "t"
    done = invoke("trace", "--seqlen", "256", "-o", str(folder))
    assert done.exit_code == 0
    assert "simulated; memory latency 700 cycles" in done.stdout
    assert "steady window: none" in done.stdout
    capture = tracekit.open(folder)
    assert capture.simulated
    assert len(capture.timeline().waves) == 8
    assert invoke("trace", "--seqlen", "256", "-o", str(folder)).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("rowsum", "useful"), [("b", 1024 / 1088), ("a", 1024 / 1152)])
def test_trace_prints_the_useful_share_beside_the_busy_one(tmp_path, rowsum, useful):
    done = invoke(
        "trace", "--variant", f"rowsum={rowsum}", "--seqlen", "1024", "-o", str(tmp_path / "t")
    )
    line = done.stdout.splitlines()[-1]
    busy, of_it = (float(x) for x in re.findall(r"to ([0-9.]+) %", line))
    assert of_it == pytest.approx(useful * busy, abs=0.11)


@pytest.mark.parametrize(("option", "value"), [("--input", "noise"), ("--seqlen", "0")])
def test_trace_refuses(option, value, tmp_path):
    done = invoke("trace", option, value, "-o", str(tmp_path / "t"))
    assert done.exit_code == 2
    assert option in done.output


@pytest.fixture
def device(tmp_path, monkeypatch):
    """A driver that lists a gfx950 and a stand-in rocprofv3; returns where its arguments go."""
    node = tmp_path / "nodes" / "1" / "properties"
    node.parent.mkdir(parents=True)
    node.write_text("gfx_target_version 90500\n")
    monkeypatch.setattr(chip, "TOPOLOGY", tmp_path / "nodes")
    log, program = tmp_path / "log.json", tmp_path / "bin" / "rocprofv3"
    program.parent.mkdir()
    program.write_text(ROCPROFV3.format(python=sys.executable, log=str(log), sample=str(SAMPLE)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return log


def test_trace_records_where_a_gfx950_and_rocprofv3_are(device, tmp_path, capfd):
    folder = tmp_path / "t"
    variant = "lean_ashr-gap-packed-rowsum_b"
    assert main(["trace", "--variant", variant, "--seqlen", "512", "-o", str(folder)]) == 0
    assert "pipe occupancy" in capfd.readouterr().out
    assert len(tracekit.open(folder / "cu1" / "host").timeline().waves) == 8
    arguments = json.loads(device.read_text())
    cut = arguments.index("--")
    asked = dict(itertools.pairwise(arguments[:cut]))
    assert asked["--kernel-include-regex"] == "zyfa_fp8_d128_lean_ashr_gap_packed_rowsum_b"
    assert asked["--kernel-iteration-range"] == "[3-3]"
    assert arguments[cut + 1 :] == [
        sys.executable, "-m", "zyfa.host.workload", "--variant", variant, "--seqlen", "512",
        "--input", "sink",
    ]  # fmt: skip


@pytest.mark.slow
def test_trace_simulates_when_asked_to(device, tmp_path):
    settings = tmp_path / "p.toml"
    settings.write_text("ashr_pk_port = 8\n")
    for number, option in enumerate((["--on", "simulator"], ["--set", str(settings)])):
        folder = tmp_path / str(number)
        done = invoke("trace", "--seqlen", "256", "-o", str(folder), *option)
        assert done.exit_code == 0
        assert "simulated" in done.stdout
    assert not device.exists()
    chosen = ["--on", "chip", "--set", str(settings)]
    assert invoke("trace", "-o", str(tmp_path / "n"), *chosen).exit_code == 2


def test_trace_says_why_it_cannot_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(chip, "TOPOLOGY", tmp_path)
    assert main(["trace", "--on", "chip", "-o", str(tmp_path / "t")]) == 1
    assert "cannot record on the chip: no gfx950 device" in capsys.readouterr().err
