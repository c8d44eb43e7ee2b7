"""Every command that README and docs show is run.

A ``console`` block holds lines ``$ command`` and, where the output is promised, the output
behind them.  Lines ending in ``# exit N`` are expected to exit with N.
"""

import re
import shlex
import subprocess
import sys
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


def run(command, folder):
    """Exit code and output of ``tracekit`` or ``zyfa`` commands, pipes included."""
    binary = Path(sys.executable).parent
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": f"{binary}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)},
        timeout=600,
    )


@pytest.mark.parametrize(("command", "output"), list(commands()))
def test_command_in_the_docs_runs(command, output, tmp_path):
    expected = EXIT.search(command)
    command = EXIT.sub("", command)
    if "../shared/" in command and not (ROOT / "../shared/captures").is_dir():
        pytest.skip("captures not found at ../shared/captures")
    done = run(command, tmp_path)
    assert done.returncode == (int(expected[1]) if expected else 0), done.stderr
    assert "Traceback" not in done.stderr
    if output:
        assert done.stdout.strip() == output


def test_the_install_command_of_the_readme_ends_in_a_table(tmp_path):
    (line,) = [
        each.strip() for each in PAGES[0].read_text().splitlines() if "pip install ." in each
    ]
    _, _, command = line.partition("&&")
    assert shlex.split(command)[0] == "tracekit"
    done = run(command, tmp_path)
    assert done.returncode == 0
    assert "pingpong" in done.stdout
    assert "lockstep" in done.stdout
