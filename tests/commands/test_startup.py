"""What the command line loads, says and promises before it opens anything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tracekit.cli import main
from tracekit.commands import COMMANDS

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"
HEAVY = ("numpy", "pandas", "rich", "dash", "torch")


def test_help_loads_no_heavy_package():
    code = (
        "import sys\nfrom tracekit.cli import main\nassert main(['--help']) == 0\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(name in done.stdout for name in COMMANDS)


def test_import_loads_no_heavy_package():
    code = f"import sys, tracekit\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version_tells_decoder_llvm_and_chips(capsys):
    assert main(["-V"]) == 0
    out = capsys.readouterr().out
    assert "decoder: native" in out or "decoder: pure Python" in out
    assert "LLVM:" in out
    assert "gfx90a, gfx942, gfx950" in out


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(name, capsys):
    assert main([name, "--help"]) == 0
    usage, _, explained = capsys.readouterr().out.partition("\n\n")
    assert usage.startswith(f"Usage: tracekit {name}")
    assert len(explained.split("Options:")[0].split()) >= 10


def test_the_json_of_occupancy_keeps_its_keys(capsys):
    assert main(["occupancy", str(SAMPLE), "--json", "--window", "span"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == "tracekit.occupancy/2"
    assert set(result) == {"schema", "tracekit", "captures"}
    (result,) = result["captures"]
    assert {
        "capture", "kernel", "quality", "timing", "arch", "arch_source", "simulated", "notes",
        "rows", "totals",
    } <= set(result)  # fmt: skip
    assert {
        "se", "cu", "simd", "dispatch", "waves", "window", "start", "end", "window_cycles",
        "mfma", "matrix_busy_cycles", "matrix_occupancy", "vector_busy_cycles",
        "vector_occupancy", "coissued_cycles", "overlap_cycles", "matrix_idle_cycles",
        "neither_cycles", "issue_window_cycles", "violations",
    } <= set(result["rows"][0])  # fmt: skip


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        (
            "instructions",
            "capture,se,cu,simd,slot,wave,time,category,stall,duration,code_object,vaddr,line,"
            "instruction,release,dispatch,issue,opcode,pipe,pipe_cycles",
        ),
        ("waves", "capture,se,cu,simd,slot,wave,begin,end,instructions,stitched,complete,dispatch"),
    ],
)
def test_the_csv_keeps_its_columns(capsys, command, columns):
    assert main([command, str(SAMPLE), "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == columns


def test_an_output_file_is_not_overwritten_unless_forced(tmp_path, capsys):
    path = tmp_path / "out.csv"
    assert main(["waves", str(SAMPLE), "-o", str(path)]) == 0
    assert path.read_text().startswith("capture,se,cu,")
    assert main(["waves", str(SAMPLE), "-o", str(path)]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["waves", str(SAMPLE), "-o", str(path), "-f"]) == 0
