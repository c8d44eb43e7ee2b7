"""The documentation site builds, without a dead link, and has every public name."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tracekit
import zyfa
from zyfa import sim

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    if shutil.which("mkdocs", path=path) is None:
        pytest.skip("mkdocs is not installed (extra docs)")
    done = subprocess.run(
        [ROOT / "scripts" / "docs", "--site-dir", folder], capture_output=True, text=True,
        check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("python.html", [name for name in tracekit.__all__ if name != "__version__"]),
        ("zyfa_python.html", [*zyfa.__all__, *sim.__all__]),
    ],
)
def test_every_public_name_has_a_place(site, page, names):
    text = (site / page).read_text(encoding="utf-8")
    assert [name for name in names if f'.{name}"' not in text] == []


def test_every_page_is_there(site):
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert pages <= {page.stem for page in site.glob("*.html")}
