"""Sums per line: what a planned stream must give, whole symbols, and the stats CSV."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.hotspots import OWN, STATS, hotspots
from tracekit.analysis.model.code import code_lines
from tracekit.cli import main
from tracekit.isa.listing import Listing, Symbol
from traces import generate

MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
TEXTS = (MFMA, "v_mul_f32_e32 v1, v2, v3", "s_nop 7", "s_waitcnt vmcnt(0)", "s_barrier", "s_endpgm")


@pytest.fixture
def capture(tmp_path):
    """One wave: idle 100, an MFMA refused for 40 cycles, waits of known length."""
    kernel = lines(*TEXTS)
    plan = Plan(kernel, 0, 0, 6000)
    plan.at(6140, 0, stall=6100)  # issues 6140, ends 6144
    plan.at(6160, 1)  # idle 16, ends 6164
    plan.at(6196, 2)  # s_nop completes 6196: held 36 with the 4 after it
    plan.at(6296, 3)  # s_waitcnt: held 100
    plan.at(6320, 4, release=6400)  # idle 20; arrival to release + 4: 84
    plan.at(6404, 5)
    return planned.write(tmp_path / "capture", kernel, [plan])


def by_text(rows):
    return {row["instruction"].split()[0]: row for row in rows.to_dict("records")}


def test_a_planned_wave_is_split_into_what_its_time_went_to(capture):
    result = hotspots(planned.timeline(capture))
    found = by_text(result.rows)
    assert result.counted
    assert not result.notes
    mfma, add, nop = found["v_mfma_f32_32x32x16_bf16"], found["v_mul_f32_e32"], found["s_nop"]
    wait, barrier = found["s_waitcnt"], found["s_barrier"]
    assert mfma["hits"] == 1
    assert (mfma["idle_cycles"], mfma["stall_cycles"], mfma["latency_cycles"]) == (100, 40, 44)
    assert (mfma["matrix_cycles"], mfma["refused_cycles"], mfma["vector_cycles"]) == (32, 40, 0)
    assert (add["vector_cycles"], add["matrix_cycles"], add["idle_cycles"]) == (4, 0, 16)
    assert nop["nop_cycles"] == nop["stall_cycles"] == nop["latency_cycles"] == 36
    assert wait["waitcnt_cycles"] == wait["stall_cycles"] == 100
    assert (barrier["barrier_cycles"], barrier["stall_cycles"]) == (84, 0)
    assert barrier["idle_cycles"] == 20


@pytest.mark.parametrize("timing", ["exact", "amd"])
def test_parts_do_not_exceed_the_latency_and_sum_to_the_table(capture, timing):
    timeline = planned.timeline(capture, timing=timing)
    rows = hotspots(timeline).rows
    waits = rows[["refused_cycles", "nop_cycles", "waitcnt_cycles", "barrier_cycles"]].sum(axis=1)
    assert (waits <= rows["latency_cycles"]).all()
    assert rows["hits"].sum() == len(timeline.instructions) == len(TEXTS)
    assert rows["latency_cycles"].sum() == timeline.instructions["duration"].sum()
    assert rows["stall_cycles"].sum() == timeline.instructions["stall"].sum()


def test_in_amd_timing_a_barrier_is_stall(capture):
    barrier = by_text(hotspots(planned.timeline(capture, timing="amd")).rows)["s_barrier"]
    assert barrier["barrier_cycles"] == barrier["stall_cycles"] == barrier["latency_cycles"]


def test_unknown_costs_are_empty_not_zero(capture):
    timeline = planned.timeline(capture)
    unknown = replace(timeline.costs, cycles=np.full_like(timeline.costs.cycles, -1))
    timeline = replace(timeline, costs=unknown)
    rows = hotspots(timeline).rows
    mfma = rows["instruction"].str.startswith("v_mfma")
    assert rows.loc[mfma, "matrix_cycles"].isna().all()
    assert (rows.loc[~mfma, "matrix_cycles"] == 0).all()


def test_instructions_without_a_place_are_said_to_be_in_no_line(capture):
    timeline = planned.timeline(capture)
    timeline.executed.loc[1, "row"] = -1
    result = hotspots(timeline)
    assert result.rows["hits"].sum() == len(TEXTS) - 1
    assert "1 instructions have no program counter" in result.notes[0]


def test_without_waves_and_counts_nothing_is_made_up(capture):
    timeline = planned.timeline(capture).select(simd=3)
    result = hotspots(timeline)
    assert not len(result.rows)
    assert not result.counted
    assert "no instruction was traced" in result.notes[0]


def listing(**columns):
    """Two kernels of three instructions in object 1; one instruction before any in object 2."""
    return Listing.build(
        [1] * 6 + [2],
        [0x100, 0x104, 0x108, 0x200, 0x204, 0x208, 0x40],
        ["s_nop 0"] * 7,
        symbols=[
            Symbol(1, 0x200, "second"), Symbol(1, 0x100, "first"), Symbol(1, 0x100, "alias"),
            Symbol(2, 0x80, "later"),
        ],
        **columns,
    )  # fmt: skip


def test_whole_symbols_are_listed_when_one_instruction_ran():
    found = code_lines(listing(), np.array([0, 0, 0, 0, 3, 0, 0]))
    assert found.row.tolist() == [-1, 3, 4, 5]
    assert [found.symbols[i].name for i in found.symbol[:1]] == ["second"]
    assert found.line.tolist() == [0, 1, 2, 3]


def test_code_before_every_symbol_has_no_label_and_aliases_count_once():
    found = code_lines(listing(), np.array([1, 0, 0, 0, 0, 0, 1]))
    assert found.row.tolist() == [-1, 0, 1, 2, 6]
    assert found.symbols[found.symbol[0]].name == "first"
    assert found.line.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([5, 6, 7, 9, 10, 11, 12], [4, 5, 6, 7, 8, 9, 10, 11]),
        ([5, 6, 7, 9, 9, 11, 12], [0, 1, 2, 3, 3, 4, 5, 6]),
        ([5, 6, 7, -1, 10, 11, 12], [0, 1, 2, 3, 3, 4, 5, 6]),
    ],
    ids=["kept", "twice", "missing"],
)
def test_line_numbers_stay_where_they_are_unique(line, expected):
    found = code_lines(listing(line=line), np.array([1, 0, 0, 1, 0, 0, 0]))
    assert found.line.tolist() == expected


def test_an_empty_listing_has_no_lines():
    found = code_lines(Listing.build([], [], []), np.zeros(0, np.int64))
    assert not len(found.row)


def test_the_csv_begins_with_the_columns_of_rocprofv3(capsys):
    assert main(["hotspots", str(generate.ROOT / "pingpong"), "--csv"]) == 0
    out = capsys.readouterr().out
    first, label, *_ = out.splitlines()
    assert first == ",".join(f'"{name}"' for name in (*STATS, *OWN, "capture"))
    assert first.startswith(
        '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source",'
    )
    assert label == '1,5888,"; pingpong",0,0,0,0,"",0,0,0,0,0,0,"pingpong"'
    timeline = tracekit.open(generate.ROOT / "pingpong").timeline()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert sum(int(row["Hitcount"]) for row in rows) == len(timeline.instructions)
    places = [(int(row["CodeObj"]), int(row["Vaddr"])) for row in rows]
    assert places == sorted(places)


def test_json_names_units_and_says_that_it_is_synthetic(capsys):
    assert main(["hotspots", str(generate.ROOT / "pingpong"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == "tracekit.hotspots/2"
    (found,) = result["captures"]
    assert found["synthetic"] is True
    assert list(found["rows"][0]) == [*STATS.values(), *OWN]


def test_people_see_the_lines_that_ran_by_latency(capsys):
    assert main(["hotspots", str(generate.ROOT / "lockstep")]) == 0
    title, _, *rows, more = capsys.readouterr().out.splitlines()
    assert "rows: --all" in more
    assert "lockstep (synthetic): hotspots, exact timing" in title
    latency = [int(row.split()[3].replace(",", "")) for row in rows]
    assert latency == sorted(latency, reverse=True)
    assert min(int(row.split()[2].replace(",", "")) for row in rows) > 0


def test_quotes_in_a_text_are_doubled():
    import pandas as pd

    from tracekit.commands.hotspots import write_stats

    row = dict.fromkeys([*STATS.values(), *OWN], 0) | {
        "instruction": 'a "b"',
        "source": "",
        "capture": "c",
    }
    out = io.StringIO()
    write_stats(out, [pd.DataFrame([row]).assign(matrix_cycles=pd.array([None], "Int64"))])
    assert out.getvalue().splitlines()[1] == '0,0,"a ""b""",0,0,0,0,"",,0,0,0,0,0,"c"'
