"""``tracekit waits``: which load each s_waitcnt waits for."""

import json
from pathlib import Path

import pytest

from tracekit.analysis.waits.table import APART_COLUMNS, COLUMNS, LOAD_COLUMNS
from tracekit.cli import main

SAMPLE = str(Path(__file__).resolve().parents[2] / "traces" / "zyfa_gap_exact")


def asked(capsys, *arguments):
    assert main(["waits", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return found["captures"][0] if "captures" in found else found


def test_the_result_has_the_published_columns(capsys):
    found = asked(capsys, SAMPLE, "--loads")
    assert tuple(found["rows"][0]) == COLUMNS
    assert tuple(found["apart"][0]) == APART_COLUMNS
    assert tuple(found["loads"][0]) == LOAD_COLUMNS
    assert 0 <= found["single_producer_share"] <= 1
    assert {row["simd"] for row in found["rows"]} == {None}


def test_rows_of_simds_add_up_to_the_sum(capsys):
    whole = asked(capsys, SAMPLE)["rows"]
    each = asked(capsys, SAMPLE, "--per-simd")["rows"]
    assert {row["simd"] for row in each} == {0, 1, 2, 3}
    for name in ("count", "waited_total", "exact"):
        assert sum(row[name] for row in each) == sum(row[name] for row in whole)


def test_a_filter_of_simds_gives_those_rows(capsys):
    each = [r for r in asked(capsys, SAMPLE, "--per-simd")["rows"] if r["simd"] == 2]
    assert asked(capsys, SAMPLE, "--per-simd", "--simd", "2")["rows"] == each


@pytest.fixture
def flash(captures):
    (path,) = captures.glob("flash_attn_bf16_gfx950/ui_output_agent_55287_*")
    return str(path)


@pytest.mark.parametrize(
    ("simd", "wait", "load", "waited", "lead"),
    [
        (0, 0x2CB8, 0x2CB0, 440, 8),
        (0, 0x3C84, 0x3C7C, 354, 8),
        (None, 0x2CB8, 0x2CB0, 444, 4),
        (None, 0x3C84, 0x3C7C, 348, 4),
        (None, 0x2D90, 0x2D58, None, 108),
        (None, 0x3D38, 0x3D00, None, 108),
    ],
)
def test_the_waits_of_a_real_attention_kernel(flash, capsys, simd, wait, load, waited, lead):
    options = [] if simd is None else ["--per-simd", "--simd", str(simd)]
    rows = asked(capsys, flash, *options)["rows"]
    (row,) = [r for r in rows if (r["vaddr"], r["producer_vaddr"]) == (wait, load)]
    assert row["lead_median"] == lead
    assert waited is None or row["waited_median"] == waited


def test_text_says_what_is_in_no_median(capsys):
    assert main(["waits", SAMPLE]) == 0
    out = capsys.readouterr()
    assert "waits, window span" in out.out
    assert "needed nothing and are in no median" in out.err
