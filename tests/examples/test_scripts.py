"""The examples that are scripts run, and say what they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.slow


def run(*command, **environment):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, **environment},
    )  # fmt: skip


def test_the_gate_passes_and_leaves_a_page(tmp_path):
    done = run(EXAMPLES / "gate.sh", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "an iteration" in (tmp_path / "tracekit_page.md").read_text(encoding="utf-8")


def test_the_gate_fails_where_nothing_changed(tmp_path):
    same = EXAMPLES.parent / "traces" / "zyfa_gap_exact"
    assert run(EXAMPLES / "gate.sh", same, same, tmp_path / "page.md").returncode == 3


def test_a_kernel_of_ones_own_is_explained():
    pytest.importorskip("ziglang", reason="the assembler comes with the ziglang wheel")
    done = run(sys.executable, EXAMPLES / "kernel.py")
    assert done.returncode == 0, done.stderr
    assert "simulated cycles of one CU" in done.stdout
    assert "matrix pipe busy" in done.stdout
    assert "vector work without an MFMA beside it" in done.stdout
