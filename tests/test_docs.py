"""Every command that README and docs show is run.

A ``console`` block holds lines ``$ command`` and, where the output is promised, the output
behind them.  Lines ending in ``# exit N`` are expected to exit with N.
"""

import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")


def commands():
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            lines = block.splitlines()
            for number, line in enumerate(lines):
                if not line.startswith("$ "):
                    continue
                output = []
                for following in lines[number + 1 :]:
                    if following.startswith("$ "):
                        break
                    output.append(following)
                name = f"{page.name}: {line[2:]}"
                yield pytest.param(line[2:], "\n".join(output).strip(), id=name)


def run(command, folder, **environment):
    """Exit code and output of ``tracekit`` or ``zyfa`` commands, pipes included."""
    binary = Path(sys.executable).parent
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={
            "PATH": f"{binary}:/usr/bin:/bin",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            **environment,
        },
        timeout=600,
    )


def serve(command):
    """Start the dashboard, get its page, stop it by Ctrl-C."""
    pytest.importorskip("dash", reason="dash is not installed: no dashboard")
    binary = str(Path(sys.executable).parent / "tracekit")
    server = subprocess.Popen(
        [binary, *shlex.split(command)[1:]], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert b"tracekit" in answer.read()
    finally:
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(timeout=60)
    assert server.returncode == 0
    assert told == "stopped\n"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), list(commands()))
def test_command_in_the_docs_runs(command, output, tmp_path):
    expected = EXIT.search(command)
    command = EXIT.sub("", command)
    if "../shared/" in command and not (ROOT / "../shared/captures").is_dir():
        pytest.skip("captures not found at ../shared/captures")
    if command.startswith("tracekit dashboard"):
        serve(command)
        return
    done = run(command, tmp_path)
    assert done.returncode == (int(expected[1]) if expected else 0), done.stderr
    assert "Traceback" not in done.stderr
    if output:
        assert done.stdout.strip() == output


@pytest.mark.slow
def test_the_install_command_of_the_readme_ends_in_tables(tmp_path):
    (line,) = [
        each.strip() for each in PAGES[0].read_text().splitlines() if "pip install ." in each
    ]
    _, _, command = line.partition("&&")
    first, second = (shlex.split(each) for each in command.split("&&"))
    assert first[:2] == ["tracekit", "explain"]
    assert second[:2] == ["tracekit", "compare"]
    # Not everywhere is a disassembler.
    done = run(command, tmp_path, TRACEKIT_LLVM=str(tmp_path / "none"))
    assert done.returncode == 0
    assert "note" not in done.stderr
    assert done.stdout.startswith("matrix pipe busy")
    assert f" in {Path(first[2]).name} (simulated), exact timing" in done.stdout
    assert " -> ".join(Path(path).name for path in second[2:]) in done.stdout
