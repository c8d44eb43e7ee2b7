"""scripts/same_output on two folders with small programs in place of tracekit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

CLI = """
import sys
import click

@click.group()
def tracekit():
    pass

@tracekit.command()
@click.argument("paths", nargs=-1)
@click.option("--csv", is_flag=True)
def occupancy(paths, csv):
    click.echo("busy,{busy}" if csv else "busy {busy} of\\nthe cycles")
    click.echo("a note", err=True)
    sys.exit({code})

def main(arguments):
    return tracekit.main(arguments, standalone_mode=False) or 0
"""


def installed(folder: Path, busy: str, code: int = 0) -> Path:
    (folder / "tracekit").mkdir(parents=True)
    (folder / "tracekit" / "cli.py").write_text(CLI.format(busy=busy, code=code))
    return folder


@pytest.fixture
def compared(tmp_path):
    """``compared(one, other, exceptions="") -> (exit code, output)``."""

    def run(one, other, exceptions=""):
        known = tmp_path / "known.toml"
        known.write_text(exceptions)
        done = subprocess.run(
            [
                sys.executable, ROOT / "scripts" / "same_output", one, other, "--capture",
                "pingpong", "--exceptions", known,
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


def test_equal_programs_have_the_same_output(tmp_path, compared):
    sides = [installed(tmp_path / name, "27 %") for name in ("one", "other")]
    code, out = compared(*sides)
    assert code == 0
    assert out.splitlines() == ["7 command lines, 0 differ"]


def test_what_differs_is_told_by_command_capture_and_line(tmp_path, compared):
    sides = [installed(tmp_path / busy, busy, code) for busy, code in (("27", 0), ("28", 3))]
    code, out = compared(*sides)
    assert code == 1
    assert out.splitlines() == [
        "tracekit occupancy traces/pingpong",
        "  code:",
        "    BASE 1: 0",
        "    NEW  1: 3",
        "  stdout:",
        "    BASE 1: busy 27 of",
        "    NEW  1: busy 28 of",
        "tracekit occupancy --csv traces/pingpong",
        "  code:",
        "    BASE 1: 0",
        "    NEW  1: 3",
        "  stdout:",
        "    BASE 1: busy,27",
        "    NEW  1: busy,28",
        "7 command lines, 2 differ",
    ]


def test_an_exception_covers_its_command_on_its_capture(tmp_path, compared):
    sides = [installed(tmp_path / busy, busy) for busy in ("27", "28")]
    reason = 'reason = "measured anew"\n'
    known = '[[exception]]\ncommand = "tracekit occupancy"\ncapture = "traces/*"\n' + reason
    code, out = compared(*sides, known)
    assert code == 1
    assert "tracekit occupancy --csv traces/pingpong" in out.splitlines()
    assert out.splitlines()[-2:] == [
        "1 excepted: tracekit occupancy traces/*: measured anew",
        "7 command lines, 1 differ",
    ]
    assert compared(*sides, known.replace("occupancy", "occupancy*"))[0] == 0
