"""A reader that is gone: ``| head`` is no error, and no gate passes by it."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACEKIT = f"{shlex.quote(sys.executable)} -m tracekit"


def piped(command, reader):
    line = f"{command} {reader}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(
        ["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["| head -1", "2>&1 | head -1", "| true", "2>&1 | true"])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("hotspots traces/zyfa_gap_exact", 0),
        ("hotspots traces/zyfa_gap_exact --csv", 0),
        ("instructions traces/pingpong --json", 0),
        ("--help", 0),
        ("occupancy traces/pingpong --fail-under 99", 3),
    ],
)
def test_a_closed_pipe_leaves_the_exit_code(line, code, reader):
    done = piped(f"{TRACEKIT} {line}", reader)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr
