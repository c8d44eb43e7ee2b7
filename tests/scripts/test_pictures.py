"""The pictures of README and docs show what the product prints now."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / "scripts" / "pictures"))


def words(svg):
    """What stands in the picture, line by line."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOOL["TERMINALS"])
def test_a_terminal_shows_what_its_command_prints(name):
    kept = (TOOL["PICTURES"] / f"{name}.svg").read_text(encoding="utf-8")
    assert words(TOOL["terminal"](TOOL["TERMINALS"][name])) == words(kept), "run scripts/pictures"


def test_pictures_need_nothing_from_the_net():
    for picture in TOOL["PICTURES"].glob("*.svg"):
        assert "url(http" not in picture.read_text(encoding="utf-8")


def test_every_picture_is_shown_and_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/([\w.]+)", page.read_text())}
    assert shown == {picture.name for picture in TOOL["PICTURES"].iterdir()}
