"""What lies beside a capture without being its own changes nothing, or is named."""

import json
import shutil

import pytest

import tracekit
from tests.support.surroundings import (
    AGENT_INFO,
    FOREIGN,
    KERNEL_TRACE,
    SAMPLES,
    TRACES,
    Changed,
    compared,
    decoded,
    expected,
    placed,
    results_json,
    verdict,
)
from tracekit.analysis.occupancy import occupancy
from tracekit.build import open_all


@pytest.mark.parametrize("where", ["run", "root"])
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_changes_nothing_or_is_named(kind, sample, where, tmp_path):
    run = placed(tmp_path, sample)
    state = Changed(tmp_path, sample, done=[kind])
    state.named += FOREIGN[kind](run if where == "run" else tmp_path)
    verdict(state)


@pytest.fixture
def run(tmp_path):
    return placed(tmp_path, "pingpong")


def test_results_of_another_run_give_neither_address_nor_name(run):
    (run / "results.json").write_bytes(results_json(0x7000))
    timeline = tracekit.open(run).timeline()
    assert not timeline.streams["resynchronised"].any()
    assert "0" not in set(timeline.dispatches["kernel"])
    (note,) = [note for note in timeline.notes if "results.json" in note]
    assert "of another run, not used: code object" in note


def test_results_of_the_own_process_are_used_beside_those_of_others(run):
    number = 1000
    own = json.loads(results_json())
    tool = own["rocprofiler-sdk-tool"][0]
    tool["code_objects"] = []
    tool["kernel_symbols"][0]["kernel_name"] = "ours"
    del tool["buffer_records"]["kernel_dispatch"][0]["dispatch_info"]["workgroup_size"]
    (run / f"{number}_results.json").write_text(json.dumps(own))
    (run / "777_results.json").write_bytes(results_json())
    capture = tracekit.open(run)
    assert [facts.kernels for facts in capture.runs] == [{1: "ours"}]
    assert not any("777" in note for note in capture.timeline().notes)


def test_a_kernel_trace_with_other_workgroups_is_of_another_run(run):
    (run / "kernel_trace.csv").write_bytes(KERNEL_TRACE)
    (note,) = [n for n in tracekit.open(run).timeline().notes if "kernel_trace.csv" in n]
    assert "workgroups of dispatch 1 are 7 x 1 x 1 there" in note


def test_two_tables_that_differ_name_nothing(run):
    plain = b"Dispatch_Id,Kernel_Name\n1,"
    (run / "a_kernel_trace.csv").write_bytes(plain + b"one\n")
    (run / "b_kernel_trace.csv").write_bytes(plain + b"two\n")
    (run / "code.json").write_text(
        json.dumps({**(content := json.loads((run / "code.json").read_text())),
                    "code": [row for row in content["code"] if not row[0].startswith(";")]})
    )  # fmt: skip
    timeline = tracekit.open(run).timeline()
    assert not {"one", "two"} & set(timeline.dispatches["kernel"])
    assert any("name dispatch 1 differently" in note for note in timeline.notes)


def test_a_listing_given_keeps_the_chip_of_the_code_object_beside(tmp_path, assemble):
    """No opcode of the kernel tells the chip."""
    run = placed(tmp_path, "code object alone")
    (run / "meta.json").unlink()
    listed = json.loads((TRACES / "zyfa_gap_lean" / "code.json").read_text())
    plain = [row for row in listed["code"] if row[0].startswith((";", "s_"))]
    elsewhere = tmp_path / "elsewhere" / "code.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text(json.dumps({**listed, "code": plain}))
    capture = tracekit.open(run, listing=str(elsewhere))
    assert str(capture.arch) == "gfx950 (code object)"
    assert str(capture.timeline().arch) == "gfx950 (code object)"


def test_a_neighbouring_decoded_directory_replaces_no_listing_and_stays_a_capture(run, tmp_path):
    shutil.copytree(decoded("lockstep"), tmp_path / "ui_output_agent_1_dispatch_1")
    found = {capture.name: capture for capture in open_all(tmp_path)}
    assert set(found) == {"run", "ui_output_agent_1_dispatch_1"}
    timeline = found["run"].timeline()
    assert (timeline.waves["stitched"] == timeline.waves["instructions"]).all()
    assert compared(occupancy(timeline, "span").rows).equals(expected("pingpong"))


def test_the_own_decoded_directory_is_no_second_capture(tmp_path):
    placed(tmp_path, "decoded beside")
    (capture,) = open_all(tmp_path)
    assert capture.streams


def test_a_copy_of_the_listing_is_no_second_capture(run, tmp_path):
    shutil.copytree(decoded("pingpong"), ui := tmp_path / "ui_output_agent_1_dispatch_1")
    shutil.copy(run / "code.json", ui / "code.json")
    assert len(open_all(tmp_path)) == 1


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_renamed_stream_keeps_its_listing(tmp_path, sample):
    run = placed(tmp_path, sample)
    (path,) = run.glob("*.att")
    path.rename(run / "renamed.att")
    (capture,) = [c for c in open_all(tmp_path) if c.streams]
    assert compared(occupancy(capture.timeline(), "span").rows).equals(expected(sample))


def test_a_damaged_listing_gives_way_to_the_next(tmp_path):
    run = placed(tmp_path, "decoded beside")
    (run / "code.json").write_text('{"code": [')
    (capture,) = [c for c in open_all(tmp_path) if c.streams]
    timeline = capture.timeline()
    assert compared(occupancy(timeline, "span").rows).equals(expected("decoded beside"))
    assert any("code.json" in note and "left out" in note for note in timeline.notes)


def test_an_agent_table_that_the_opcodes_contradict_is_named(run):
    (run / "agent_info.csv").write_bytes(AGENT_INFO)
    capture = tracekit.open(run)
    assert capture.arch.name == "gfx950"
    (note,) = [n for n in capture.timeline().notes if "agent_info.csv" in n]
    assert "says gfx90a, but the capture is of gfx950" in note
    # The table of the very process is believed; the listing is what is odd then.
    (run / "agent_info.csv").rename(run / "1000_agent_info.csv")
    assert tracekit.open(run).arch.name == "gfx90a"


def test_a_broken_capture_does_not_take_the_others_along(run, tmp_path, capsys):
    broken = tmp_path / "a_ui"
    broken.mkdir()
    (broken / "filenames.json").write_text("{}")
    (broken / "code.json").write_text("[]")
    timelines = [capture for capture in open_all(tmp_path) if capture.streams]
    assert len(timelines) == 1
    from tracekit.cli import main

    assert main(["occupancy", str(tmp_path), "--json"]) == 0
    assert "a_ui" in capsys.readouterr().err


def test_a_decoded_directory_of_another_dispatch_is_named_where_there_is_no_listing(tmp_path):
    run = placed(tmp_path, "decoded beside")
    (path,) = run.glob("*.att")
    path.rename(run / "5_6_shader_engine_0_7.att")
    found = {capture.name: capture for capture in open_all(tmp_path)}
    assert set(found) == {"run", "ui_output_agent_1_dispatch_1"}
    notes = found["run"].timeline().notes
    assert any("ui_output_agent_1_dispatch_1: by its name of another agent" in n for n in notes)


@pytest.mark.parametrize("content", ['{"code": null}', '{"code": []}'])
def test_a_listing_without_an_instruction_is_told(run, tmp_path, content):
    (run / "code.json").write_text(content)
    notes = tracekit.open(run).timeline().notes
    assert any("code.json: it lists no instruction; this listing was left out" in n for n in notes)
    assert any("no listing found" in note for note in notes)


@pytest.mark.parametrize("name", ["a_ui", "ui_output_agent_1_dispatch_1"])
def test_a_listing_of_other_opcodes_gives_way_to_the_code_object_beside(tmp_path, name):
    """Every instruction at its address, of its category; only the MFMAs are others."""
    placed(tmp_path, "code object alone")
    shutil.copytree(decoded("zyfa_gap_lean"), tmp_path / name)
    listed = (tmp_path / name / "code.json").read_text()
    other = listed.replace("32x32x64_f8f6f4", "16x16x128_f8f6f4")
    assert other != listed
    (tmp_path / name / "code.json").write_text(other)
    (capture,) = [c for c in open_all(tmp_path) if c.streams]
    timeline = capture.timeline()
    assert compared(occupancy(timeline, "span").rows).equals(expected("code object alone"))
    assert any("are others in code object 1" in note for note in timeline.notes)


def test_another_spelling_of_the_opcodes_is_no_other_code(tmp_path):
    placed(tmp_path, "code object alone")
    folder = shutil.copytree(decoded("zyfa_gap_lean"), tmp_path / "ui_output_agent_1_dispatch_1")
    listed = (folder / "code.json").read_text()
    (folder / "code.json").write_text(listed.replace("_e32 ", " "))
    (capture,) = open_all(tmp_path)
    assert not any("others in code object" in note for note in capture.timeline().notes)
