"""Files that code and documentation name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "tracekit",
    "zyfa",
    "dashboard",
    "native",
    "docs",
    "scripts",
    "tests",
    "traces",
    "benchmarks",
)
TEXTS = sorted(
    path
    for path in (ROOT, *(ROOT / name for name in FOLDERS))
    for path in (path.glob("*") if path == ROOT else path.rglob("*"))
    if path.suffix in {".py", ".pyi", ".md", ".cpp", ".hpp", ".c", ".toml", ".js", ".css"}
    or path.name == "CMakeLists.txt"
)
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./*-]*[\w*]")
"""From the repository's root, a star for any name."""
NAME = re.compile(r"(?<![\w./*-])[\w-]+\.(?:md|hpp|cpp|py)\b")
NAMES = {path.name for path in TEXTS}
GONE = "no-such-file"
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def missing(path):
    text = path.read_text(encoding="utf-8")
    paths = {name for name in PATH.findall(text) if not any(ROOT.glob(name))}
    links = {to for to in LINK.findall(text) if not (path.parent / to).exists()}
    # Tests name files of their own making without a folder.
    names = set() if "tests" in path.parts else set(NAME.findall(text)) - NAMES
    return sorted(paths | names | (links if path.suffix == ".md" else set()))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_is_named_exists(path):
    assert missing(path) == []


@pytest.mark.parametrize(
    "text", [f"see docs/{GONE}.md", f"`zyfa/{GONE}.py`", f"in {GONE}.hpp", f"[x]({GONE}.svg)"]
)
def test_a_name_of_nothing_is_found(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert len(missing(page)) == 1
