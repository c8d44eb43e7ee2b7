"""Tables: what goes where there is no room, and SIMDs in one row."""

import io

import pandas as pd
import pytest

from tracekit.present.cells import Column, number, percent, score
from tracekit.present.folding import folded, span
from tracekit.present.tables import Shown, write_table

COLUMNS = {
    "pc": Column("PC", rank=0),
    "cycles": Column("cycles", number, rank=0),
    "share": Column("share", percent),
    "mean": Column("mean", number, rank=2),
    "instruction": Column("instruction", left=True, rank=0, cut=True),
    "source": Column("source", left=True, rank=2),
}
TABLE = pd.DataFrame(
    {
        "pc": ["0x1c0", "0x2040"], "cycles": [1234567, 8], "share": [0.271, 0.001],
        "mean": [12, 3], "source": ["a/long/way/to/kernel.py:123", "kernel.py:7"],
        "instruction": ["v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23]", "s_nop 1"],
    }
)  # fmt: skip


def written(table=TABLE, columns=COLUMNS, **options):
    out = io.StringIO()
    limit = options.pop("limit", 10)
    write_table(out, Shown(table, "a title of some words", columns, limit), **options)
    return out.getvalue().splitlines()


def test_all_columns_where_there_is_room_and_code_comes_last():
    title, heading, first, second = written()
    assert title == "a title of some words"
    assert heading.split() == ["PC", "cycles", "share", "mean", "source", "instruction"]
    assert first.endswith("v[20:23]")
    assert second.endswith("s_nop 1")


@pytest.mark.parametrize(
    ("width", "kept"),
    [
        (84, ["PC", "cycles", "share", "mean", "instruction"]),
        (56, ["PC", "cycles", "share", "instruction"]),
        (45, ["PC", "cycles", "instruction"]),
        (20, ["PC", "cycles", "instruction"]),
    ],
)
def test_the_highest_rank_goes_first_and_is_counted(width, kept):
    lines = written(width=width)
    heading = next(line for line in lines if "PC" in line)
    assert heading.split() == kept or width == 20
    left = len(COLUMNS) - len(kept)
    assert lines[-1] == f"+{left} column{'s' if left > 1 else ''}: --wide"
    assert any("1,234,567" in line for line in lines) or width == 20


def test_only_code_is_cut_at_the_end_of_the_line():
    lines = written(width=52)
    (cut,) = [line for line in lines if line.endswith("…")]
    assert len(cut) == 52
    assert " 0x1c0  1,234,567  27.1 %  v_mfma" in cut


def test_titles_are_wrapped_between_words():
    assert written(width=12)[:3] == ["a title of", "  some words", "    PC     …"]


def test_ten_rows_and_how_many_more():
    table = pd.concat([TABLE] * 8, ignore_index=True)
    assert len(written(table)) == 13
    assert written(table)[-1] == "+6 rows: --all"
    assert written(table, width=52)[-1] == "+6 rows: --all, +2 columns: --wide"
    assert len(written(table, whole=True)) == len(written(table, limit=None)) == 18


def test_an_empty_table_is_a_line():
    assert written(TABLE.head(0)) == ["a title of some words: none"]


def test_simds_fold_into_a_row_with_ranges():
    table = pd.DataFrame(
        {
            "se": [0, 0, 0, 1], "simd": [0, 1, 3, 0], "cycles": [100, 90, 1200, 5],
            "share": [0.285, 0.287, None, 0.5], "same": [7, 7, 7, 7],
            "verdict": ["a", "b", "a", "a"], "score": [-0.5, 0.25, 0.0, 0.0],
        }
    )  # fmt: skip
    columns = {
        "se": Column("SE"), "simd": Column("SIMD"), "cycles": Column("cycles", number),
        "share": Column("share", percent), "same": Column("same"),
        "verdict": Column("verdict", left=True), "score": Column("score", score),
    }  # fmt: skip
    rows, texts = folded(table, columns, ("se", "dispatch"))
    assert rows.to_numpy().tolist() == [
        ["0", "0-1, 3", "90–1,200", "28.5–28.7 %", "7", "a, b", "-0.50 to +0.25"],
        ["1", "0", "5", "50.0 %", "7", "a", "+0.00"],
    ]
    assert [texts["cycles"].cell(text) for text in rows["cycles"]] == ["90–1,200", "5"]
    assert texts["verdict"].left


def test_a_span_has_its_unit_once():
    assert span("28.5 %", "28.7 %") == "28.5–28.7 %"
    assert span("3", "3") == "3"
    assert span("+1.0 %", "+2.0 %") == "+1.0 to +2.0 %"
