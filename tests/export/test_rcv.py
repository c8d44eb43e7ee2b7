"""The directory for ROCprof Compute Viewer: schema, wait rows, states, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.cli import main
from tracekit.export import rcv
from tracekit.export.rcv_waves import wave_files
from tracekit.export.waitcnt import WaitTable, wait_rows
from tracekit.export.wstates import wave_states
from tracekit.isa.listing import Listing, Symbol
from traces import generate

ROOT = generate.ROOT
SAMPLES = ["pingpong", "lockstep", "zyfa_gap_lean"]
TABLES = ("waves", "instructions", "states", "occupancy", "counters", "clock")
#: What docs/exports.md says that the schema does not carry.
LOST = {"instructions": {"type", "line"}}


@pytest.fixture(scope="module")
def timeline():
    return tracekit.open(ROOT / "pingpong").timeline("amd")


@pytest.fixture(scope="module")
def files(timeline):
    return dict(rcv.documents(Analysis(timeline)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_written_reads_back_identically(name, tmp_path):
    timeline = tracekit.open(ROOT / name).timeline("amd")
    path = tmp_path / "ui_output_agent_1_dispatch_1"
    rcv.write(Analysis(timeline), path)
    again = tracekit.open(path).timeline("amd")
    for table in TABLES:
        ours, theirs = getattr(timeline, table), getattr(again, table)
        assert len(ours) == len(theirs), table
        for column in ours.columns.difference(LOST.get(table, set())):
            assert ours[column].astype(str).tolist() == theirs[column].astype(str).tolist(), column
    assert again.simulated == timeline.simulated
    assert again.synthetic == timeline.synthetic
    assert dict(rcv.documents(Analysis(again))) == dict(rcv.documents(Analysis(timeline)))


def test_wave_files_have_the_fields_of_the_schema(timeline, files):
    tree = files["filenames.json"]["wave_filenames"]
    listed = [e for simds in tree.values() for slots in simds.values() for waves in slots.values()
              for e in waves.values()]  # fmt: skip
    assert len(listed) == len(timeline.waves)
    for name, begin, end in listed:
        content = files[name]
        wave = content["wave"]
        assert set(content) == {"duration", "name", "num_insts", "num_stitched", "wave"}
        assert set(wave) == {
            "begin", "cu", "end", "id", "instructions", "simd", "slot", "timeline", "waitcnt",
        }  # fmt: skip
        assert (wave["begin"], wave["end"]) == (begin, end)
        assert content["duration"] == end - begin
        assert content["num_insts"] == len(wave["instructions"])
        assert name == f"se0_sm{wave['simd']}_sl{wave['slot']}_wv{wave['id']}.json"
        assert sum(duration for _, duration in wave["timeline"]) - (end - begin) in (0, 4)


def test_code_has_a_label_before_its_lines_and_sums_of_all_waves(timeline, files):
    code = files["code.json"]
    assert code["header"] == rcv.HEADER
    label, *rows = code["code"]
    assert label == ["; pingpong", 0, 0, "", 1, generate.ENTRY, 0, 0, 0, 0]
    assert [row[2] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row[6] for row in rows) == len(timeline.instructions)
    assert sum(row[7] for row in rows) == timeline.instructions["duration"].sum()


def test_a_kernel_has_its_name_where_the_entry_is_the_symbol(files):
    assert files["occupancy.json"]["dispatches"] == {"0": "0 / 0x0", "1": "pingpong"}
    assert {row[5] for row in files["occupancy.json"]["0"]} == {1}


def test_a_kernel_is_named_by_its_entry_where_a_symbol_is_not_there(timeline):
    late = timeline.occupancy.assign(entry=generate.ENTRY + 0x100)
    moved = replace(timeline, occupancy=late)
    names = dict(rcv.documents(Analysis(moved)))["occupancy.json"]["dispatches"]
    assert names["1"] == "1 / 0x1800"


def test_a_name_that_two_kernels_bear_is_not_used(timeline):
    symbols = [*timeline.listing.symbols, Symbol(7, 0x40, "pingpong")]
    twice = replace(timeline, listing=replace(timeline.listing, symbols=symbols))
    names = dict(rcv.documents(Analysis(twice)))["occupancy.json"]["dispatches"]
    assert names["1"] == f"1 / {generate.ENTRY:#x}"


def test_a_kernel_without_traced_instructions_keeps_name_and_entry(timeline, tmp_path):
    part = timeline.select(simd=77)
    part = replace(part, occupancy=timeline.occupancy, streams=timeline.streams)
    rcv.write(Analysis(part), tmp_path / "out")
    assert [row[0] for row in json.loads((tmp_path / "out/code.json").read_text())["code"]] == [
        "; pingpong"
    ]
    again = tracekit.open(tmp_path / "out").timeline("amd").occupancy
    assert set(again["entry"]) == {generate.ENTRY}


def test_states_are_counted_at_every_edge(timeline):
    found = wave_states(timeline)
    states = timeline.states
    for number, (times, counts) in found.items():
        name = ("EMPTY", "IDLE", "EXEC", "WAIT", "STALL")[number]
        own = states[states["state"] == name]
        ends = own["begin"] + own["duration"]
        assert times == sorted(set(own["begin"]) | set(ends))
        assert counts[-1] == 0
        assert min(counts) >= 0
        area = int(np.sum(np.diff(times) * np.array(counts[:-1])))
        assert area == own["duration"].sum()
    assert 0 not in found


def waits(*texts):
    listing = Listing.build(1, [8 * i for i in range(len(texts))], texts)
    rows = np.arange(len(texts), dtype=np.int32)
    return wait_rows(WaitTable.of(listing), rows, rows.astype(np.int64) + 1)


LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
READ = "ds_read_b128 v[4:7], v8"
SCALAR = "s_load_dwordx2 s[2:3], s[0:1], 0x0"
FLAT = "flat_load_dword v1, v[2:3]"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([LOAD, LOAD, "s_waitcnt vmcnt(0)"], [[3, [[1, 0], [2, 0]]]]),
        ([LOAD, LOAD, LOAD, "s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(1)"],
         [[4, [[1, 0]]], [5, [[2, 0]]]]),
        ([LOAD, "s_waitcnt vmcnt(1)"], []),
        ([LOAD, "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0)"], [[2, [[1, 0]]]]),
        ([READ, LOAD, "s_waitcnt vmcnt(0) lgkmcnt(0)"], [[3, [[1, 0]]], [3, [[2, 0]]]]),
        ([SCALAR, READ, "s_waitcnt lgkmcnt(1)"], []),
        ([SCALAR, READ, "s_waitcnt lgkmcnt(0)", READ, READ, "s_waitcnt lgkmcnt(1)"],
         [[3, [[1, 0], [2, 0]]], [6, [[4, 0]]]]),
        (["s_sendmsg sendmsg(MSG_INTERRUPT)", "s_waitcnt lgkmcnt(0)"], [[2, [[1, 0]]]]),
        ([LOAD, FLAT, "s_waitcnt vmcnt(1)"], []),
        ([LOAD, FLAT, "s_waitcnt vmcnt(0)"], [[3, [[1, 0], [2, 0]]]]),
        (["buffer_store_dword v1, off, s[4:7], 0", "s_waitcnt expcnt(0)"], []),
    ],
)  # fmt: skip
def test_s_waitcnt_names_what_it_waits_for(texts, expected):
    assert waits(*texts) == expected


def test_an_instruction_without_a_place_produces_nothing():
    table = WaitTable.of(Listing.build(1, [0], ["s_waitcnt vmcnt(0)"]))
    assert wait_rows(table, np.array([-1, 0], np.int32), np.array([0, 1])) == []


def test_exact_timing_is_refused_and_the_command_takes_amd(tmp_path):
    exact = tracekit.open(ROOT / "pingpong").timeline()
    with pytest.raises(tracekit.TracekitError, match="--timing amd"):
        rcv.write(Analysis(exact), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    command = ["export", str(ROOT / "pingpong"), "--format", "rcv", "-o", str(tmp_path / "out")]
    assert main(command) == 0
    assert (tmp_path / "out" / "filenames.json").is_file()


def test_waves_of_two_streams_of_one_engine_are_refused(timeline):
    import pandas as pd

    waves = pd.concat([timeline.waves, timeline.waves], ignore_index=True)
    twice = replace(timeline, waves=waves)
    with pytest.raises(tracekit.TracekitError, match="--dispatch"):
        list(wave_files(twice, np.zeros(len(timeline.listing) + 1, np.int64)))


def test_code_without_addresses_is_refused(timeline):
    nowhere = Listing.build(0, -1, ["s_nop 0", "s_endpgm"])
    rows = timeline.executed.assign(row=0)
    part = replace(timeline, listing=nowhere, executed=rows).with_costs()
    with pytest.raises(tracekit.TracekitError, match="rocprofv2"):
        list(rcv.documents(Analysis(part)))


def test_nothing_is_overwritten_unless_forced_and_then_no_old_wave_stays(tmp_path, capsys):
    path = tmp_path / "out.rcv.d"
    command = ["export", str(ROOT / "pingpong"), "-o", str(path)]
    assert main(command) == 0
    stale, foreign = path / "se9_sm0_sl0_wv0.json", path / "notes.txt"
    stale.write_text("{}")
    foreign.write_text("mine")
    assert main(command) == 1
    assert "--force" in capsys.readouterr().err
    assert stale.exists()
    assert main([*command, "--force"]) == 0
    assert not stale.exists()
    assert foreign.read_text() == "mine"


def test_a_file_in_the_way_is_an_error_not_a_crash(tmp_path, capsys):
    path = tmp_path / "out"
    path.write_text("")
    command = ["export", str(ROOT / "pingpong"), "--format", "rcv", "-o", str(path), "--force"]
    assert main(command) == 1
    assert "is a file" in capsys.readouterr().err
