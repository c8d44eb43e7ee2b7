"""The instruction table for people: names, issues, pipes, over the rows as they were decoded."""

import numpy as np
import pytest

import tracekit
from tracekit.analysis.model.simds import each_simd
from tracekit.gfx9 import Category
from tracekit.isa.listing import Pipe
from tracekit.tables.described import CATEGORIES
from tracekit.tables.schema import columns
from traces import generate


@pytest.fixture(scope="module", params=["exact", "amd"])
def timeline(request):
    return tracekit.open(generate.ROOT / "pingpong").timeline(request.param)


def test_the_columns_are_those_of_the_schema(timeline):
    table = timeline.instructions
    documented = columns("instructions")
    assert list(table.columns) == list(documented)
    for name, (dtype, _) in documented.items():
        assert str(table[name].dtype) == dtype, name


def test_categories_are_names_with_the_decoder_s_numbers_as_codes(timeline):
    names, numbers = timeline.instructions["category"], timeline.executed["category"]
    assert names.cat.codes.tolist() == numbers.tolist()
    assert set(names) <= set(CATEGORIES)
    assert [CATEGORIES.index(name) for name in ("smem", "valu", "message")] == [
        Category.SMEM, Category.VALU, Category.MESSAGE,
    ]  # fmt: skip


def test_issues_pipes_and_cycles_are_those_of_the_analysis(timeline):
    table = timeline.instructions
    for simd in each_simd(timeline):
        part = table.iloc[simd.rows]
        assert part["issue"].tolist() == simd.issue.tolist()
        assert part["pipe"].cat.codes.tolist() == simd.pipe.tolist()
        assert part["pipe_cycles"].tolist() == simd.cycles.tolist()
    busy = table.loc[table["pipe"] == Pipe.MATRIX.name.lower(), "pipe_cycles"].sum()
    assert busy == 8 * 8 * 256, "waves * iterations * cycles"


def test_an_opcode_is_the_first_word_of_its_instruction(timeline):
    table = timeline.instructions
    first = table["instruction"].astype(str).str.split().str[0]
    assert (table["opcode"].astype(str) == first).all()


def test_costs_that_are_replaced_change_the_table(timeline):
    other = timeline.with_costs(timeline.arch)
    assert other.executed is timeline.executed
    assert other.instructions["pipe_cycles"].equals(timeline.instructions["pipe_cycles"])


def test_what_is_not_stitched_has_no_opcode(timeline):
    from dataclasses import replace

    lost = timeline.executed.assign(row=np.int32(-1))
    table = replace(timeline, executed=lost).instructions
    assert table["opcode"].isna().all()
    assert set(table["pipe"]) == {"none"}
    assert set(table["pipe_cycles"]) == {-1}


def test_the_repr_of_a_timeline_is_one_line(timeline):
    assert repr(timeline) == (
        f"<Timeline pingpong: 3,032 instructions of 8 waves, {timeline.timing} timing, gfx950>"
    )
