"""What a capture takes its listing, load address and architecture from."""

import shutil
from pathlib import Path

import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy
from tracekit.isa import disassembler
from tracekit.isa.disassembler import DisassemblerError

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"


@pytest.fixture
def sample(tmp_path):
    copy = tmp_path / "pingpong"
    shutil.copytree(SAMPLE, copy)
    return copy


def rows(capture):
    return occupancy(capture.timeline(), "span").rows


def test_a_code_object_serves_as_listing(sample, assemble):
    expected = rows(tracekit.open(sample))
    kernel = assemble((sample / "kernel.s").read_text())
    (sample / "code.json").unlink()
    (sample / "meta.json").unlink()
    capture = tracekit.open(sample, listing=str(kernel), load_base={})
    assert capture.arch.name == "gfx950"
    found = rows(capture)
    assert found["matrix_busy_cycles"].tolist() == expected["matrix_busy_cycles"].tolist()
    assert found["vector_busy_cycles"].tolist() == expected["vector_busy_cycles"].tolist()


def test_a_code_object_beside_the_stream_is_found(sample, assemble):
    expected = rows(tracekit.open(sample))
    kernel = assemble((sample / "kernel.s").read_text())
    (sample / "code.json").unlink()
    timeline = tracekit.open(sample).timeline()
    number = int(timeline.waves["code_object"].iloc[0])
    shutil.copy(kernel, sample / f"1000_gfx950_code_object_id_{number}.out")
    found = rows(tracekit.open(sample))
    assert found["matrix_busy_cycles"].tolist() == expected["matrix_busy_cycles"].tolist()


@pytest.mark.parametrize("listed", [True, False])
def test_without_llvm_a_code_json_serves_and_nothing_is_noted(listed, tmp_path, monkeypatch):
    def missing(library):
        raise DisassemblerError("no LLVM")

    monkeypatch.setattr(disassembler, "_load", missing)
    folder = shutil.copytree(SAMPLE.parent / "zyfa_gap_lean", tmp_path / "run")
    if not listed:
        (folder / "code.json").unlink()
    timeline = tracekit.open(folder).timeline()
    assert any("was not disassembled" in note for note in timeline.notes) is not listed
    assert bool(len(timeline.listing)) is listed


def test_a_listing_of_another_folder_is_used(sample, tmp_path):
    expected = rows(tracekit.open(sample))
    elsewhere = tmp_path / "elsewhere" / "code.json"
    elsewhere.parent.mkdir()
    shutil.move(sample / "code.json", elsewhere)
    assert rows(tracekit.open(sample))["matrix_busy_cycles"].isna().all()
    found = rows(tracekit.open(sample, listing=str(elsewhere)))
    assert found["matrix_busy_cycles"].tolist() == expected["matrix_busy_cycles"].tolist()


def test_a_wrong_load_base_leaves_nothing_to_start_from(sample):
    number = int(tracekit.open(sample).timeline().waves["code_object"].iloc[0])
    timeline = tracekit.open(sample, load_base={number: 0x10000}).timeline()
    # The start is unknown then, but the instructions tell their place.
    assert (timeline.streams["resynchronised"] > 0).all()


def test_one_file_opens_that_stream_alone(captures):
    folder = captures / "wave_gemm_bf16_gfx950"
    (path,) = folder.glob("att/*_shader_engine_22_3.att")
    timeline = tracekit.open(path).timeline()
    assert set(timeline.streams["se"]) == {22}
    assert len(timeline.instructions) == 1776
    assert (timeline.waves["stitched"] == 222).all()


def test_an_external_load_base_comes_from_meta_json(captures):
    timeline = tracekit.open(captures / "tinygrad_gemm_gfx950").timeline()
    assert (timeline.waves["stitched"] == 58).all()
    assert timeline.arch.source == "meta.json"


def test_an_assumed_architecture_is_said_to_be_assumed(captures):
    capture = tracekit.open(captures / "gemm_bf16_gfx942")
    assert capture.arch.assumed
    assert "assumed" in str(capture.arch)
