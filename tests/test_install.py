"""What is built installs and answers: a wheel, and the source distribution without a compiler."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: What pip says where it cannot reach an index for what builds need.
OFFLINE = re.compile(r"No matching distribution|NewConnectionError|Could not fetch URL")

pytestmark = pytest.mark.slow


def pip(*arguments, **environment):
    """Skips where the build's own needs cannot be had."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("no package index to build with")
    assert done.returncode == 0, done.stderr
    return done


def source_distribution(folder):
    """Made by the backend, as ``python -m build --sdist`` asks it to."""
    needs = pip(
        "install", "--target", folder / "backend", "scikit-build-core>=1.1", "nanobind>=3.1"
    )
    assert needs.returncode == 0
    made = subprocess.run(
        [sys.executable, "-c", "import sys; from scikit_build_core.build import build_sdist;"
         "print(build_sdist(sys.argv[1]))", folder],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(folder / "backend")},
    )  # fmt: skip
    return folder / made.stdout.split()[-1]


def python(folder, *arguments):
    """Python that finds tracekit in ``folder`` and nowhere else."""
    return subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = [{str(folder)!r}]; "
         f"sys.path += {[path for path in sys.path if 'site-packages' in path]!r}; "
         + arguments[0], *arguments[1:]],
        capture_output=True, text=True, check=True, cwd=folder, timeout=600,
    ).stdout  # fmt: skip


RUN = "from tracekit.cli import main; raise SystemExit(main(sys.argv[1:]))"


def test_a_wheel_runs_the_readmes_first_command(tmp_path):
    pip("wheel", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    pip("install", "--no-deps", "--target", tmp_path / "site", wheel)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = (each.strip() for each in readme.splitlines() if "pip install ." in each)
    for command in line.split("&&")[1:]:
        words = [str(ROOT / w) if "traces/" in w else w for w in shlex.split(command)[1:]]
        assert "cycles" in python(tmp_path / "site", RUN, *words)


def test_the_source_distribution_installs_without_a_compiler(tmp_path):
    archive = source_distribution(tmp_path)
    with tarfile.open(archive) as found:
        names = found.getnames()
    assert any(name.endswith("native/decode.cpp") for name in names)
    assert not [name for name in names if "/traces/" in name or "/tests/" in name]
    pip("install", "--no-deps", "--target", tmp_path / "site", archive, CC="/bin/false",
        CXX="/bin/false")  # fmt: skip
    assert python(
        tmp_path / "site",
        "from tracekit.sqtt.decode import native_core; print(native_core())",
    ) == "None\n"  # fmt: skip
    shown = python(tmp_path / "site", RUN, "occupancy", str(ROOT / "traces" / "pingpong"))
    assert "pipe occupancy" in shown
