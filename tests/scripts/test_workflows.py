"""The workflows are valid, and every line that they run is run here or cannot be."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LINE = re.compile(r"^\s*- run: (.*)$", re.MULTILINE)
#: Lines that are not run here -> why.
ELSEWHERE = {
    'pip install -e ".[dev]"': "scripts/test did it",
    "pip install .": "the README's first command, in test_docs.py and test_install.py",
    "pip install build": "test_install.py builds",
    "python -m build --sdist": "test_install.py builds",
    "scripts/test": "this is it",
    "scripts/test fast": "a part of this",
    "sudo apt-get update -qq && sudo apt-get install -y -qq chromium": "installs for the machine",
    'gh pr comment "$NUMBER" --body-file "$RUNNER_TEMP/page.md"': "there is no pull request",
    'python -c "from tracekit.sqtt.decode import native_core; assert not native_core()"': (
        "test_install.py, without a compiler"
    ),
    "ruff check . && ruff format --check .": "scripts/test runs it before the tests",
    "mypy && lint-imports": "scripts/test runs it before the tests",
    "clang-format --dry-run --Werror native/*.cpp native/*.hpp": "likewise",
}  # fmt: skip


def lines():
    found = [line for path in WORKFLOWS for line in LINE.findall(path.read_text(encoding="utf-8"))]
    return list(dict.fromkeys(found))


def test_they_are_what_github_takes():
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows",
         *WORKFLOWS], check=True, capture_output=True,
    )  # fmt: skip


def test_nothing_is_excused_that_is_not_there():
    assert set(ELSEWHERE) <= set(lines())


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in lines() if line not in ELSEWHERE])
def test_a_line_runs(line, tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", line], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "RUNNER_TEMP": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
