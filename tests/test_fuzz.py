"""The fuzzer itself runs: a few hundred streams, and every target has seeds."""

import subprocess
import sys
from pathlib import Path

import pytest

from tracekit.sqtt.decode import native_core

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.skipif(native_core() is None, reason="no native core to fuzz")
def test_a_short_run_finds_nothing():
    command = [
        sys.executable, ROOT / "scripts" / "fuzz", "--minutes", "0", "--streams", "300",
        "--surroundings", "20", "--no-atheris",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [
        "native", "streams", "decoded", "elf", "archives", "surroundings",
    ]  # fmt: skip
    assert "300 inputs" in lines[0]
    assert lines[-1] == "0 found"
