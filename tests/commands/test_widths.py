"""Every table of every command at four widths: nothing that is shown is shortened."""

import re
from pathlib import Path

import pytest

from tests.support.terminal import shown

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "traces"
WIDTHS = (80, 100, 120, 200)
#: Their texts are code, and may be cut at the end of the line.
CODE = {"instruction", "charged instruction", "producer"}
GAP = re.compile(r" {2,}")
MORE = re.compile(r"^\+[\d,]+ (?:rows?: --all|columns?: --wide)(?:, \+\d+ columns?: --wide)?$")


def lines(path):
    """All commands with a table, with all the tables that they have."""
    plain = ("occupancy", "loops", "bubbles", "memory", "overlap", "hotspots", "shapes",
             "counters", "clock", "markers", "waves", "instructions")  # fmt: skip
    return [
        *([name, path, "-q"] for name in plain),
        ["budget", path, "--opcodes", "-q"],
        ["waits", path, "--loads", "-q"],
        *([name, path, "--per-simd", "-q"]
          for name in ("occupancy", "bubbles", "memory", "overlap", "shapes", "budget", "loops",
                       "waits")),
        ["compare", path, path, "--simds", "-q"],
    ]  # fmt: skip


def tables(text):
    """[(headings, rows of cells)] of an output; what is no table is left out."""
    found = []
    for block in text.split("\n\n"):
        rows = [GAP.split(line.strip()) for line in block.splitlines()]
        rows = [row for row in rows if len(row) > 1]
        if len(rows) > 1:
            found.append((rows[0], rows[1:]))
    return found


def check(narrow, wide, width):
    """Every cell of ``narrow`` is one of the same row of ``wide``, or code that is cut."""
    for line in narrow.splitlines():
        assert len(line) <= width, line
    pairs = list(zip(tables(narrow), tables(wide), strict=True))
    for (headings, rows), (all_headings, all_rows) in pairs:
        assert set(headings) <= set(all_headings)
        for row, whole in zip(rows, all_rows[: len(rows)], strict=True):
            for cell in row:
                if cell.endswith("…"):
                    assert headings[-1] in CODE
                    assert any(each.startswith(cell[:-1]) for each in whole)
                else:
                    assert cell in whole
    return len(pairs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pingpong", "zyfa_gap_exact"])
def test_no_number_unit_or_place_is_shortened_in_a_terminal(name, tmp_path):
    # The small one at every width, the one with the longer texts at the narrowest.
    widths = WIDTHS if name == "pingpong" else WIDTHS[:1]
    asked = lines(SAMPLES / name)
    wide = [text for _, text in shown([[*each, "--wide"] for each in asked], 80, tmp_path)]
    for width in widths:
        seen = 0
        for (line, text), whole in zip(shown(asked, width, tmp_path), wide, strict=True):
            seen += check(text, whole, width)
            left = [each for each in text.splitlines() if each.startswith("+")]
            assert all(map(MORE.match, left)), (line, left)
        assert seen > 30


@pytest.mark.slow
def test_sources_are_places_and_stay_whole(captures, tmp_path):
    path = captures / "aiter_fp4_gemm_gfx950_after"
    asked = [["hotspots", path, "-q"], ["waits", path, "--loads", "-q"], ["bubbles", path, "-q"]]
    wide = [text for _, text in shown([[*each, "--wide"] for each in asked], 80, tmp_path)]
    assert any(".py:" in text for text in wide)
    for width in WIDTHS:
        for (_, text), whole in zip(shown(asked, width, tmp_path), wide, strict=True):
            assert check(text, whole, width)


def test_a_pipe_is_as_wide_as_columns_says(capsys, monkeypatch):
    from tracekit.cli import main

    def run(*more):
        assert main(["hotspots", str(SAMPLES / "zyfa_gap_exact"), "-q", *more]) == 0
        return capsys.readouterr().out

    monkeypatch.delenv("COLUMNS", raising=False)
    wide = run()
    assert run("--wide") == wide
    assert len(wide.splitlines()) == 13, "a title, headings, ten rows, how many more"
    assert len(run("--all").splitlines()) > 100
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        assert check(run(), wide, width)
