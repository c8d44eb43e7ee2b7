"""``tracekit listing``: a code.json that stands for the code object."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

import tracekit
from tests.support.surroundings import TRACES, compared, expected
from tracekit.analysis.occupancy import occupancy
from tracekit.cli import main
from tracekit.isa import codejson, disassembler, elf
from tracekit.isa.disassembler import DisassemblerError

OBJECTS = sorted(TRACES.glob("*/*.out"))


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.parent.name)
def test_reading_it_back_gives_the_same_listing(path, tmp_path):
    out = tmp_path / "code.json"
    assert main(["listing", str(path), "-o", str(out)]) == 0
    made, read = elf.CodeObject(str(path)).listing(1), codejson.read(out)
    for each in dataclasses.fields(made):
        left, right = getattr(made, each.name), getattr(read, each.name)
        if each.name == "line":
            assert (right > 0).all()
        elif each.name == "symbols":
            assert [s.name for s in left] == [s.name for s in right]
            assert [(s.code_object, s.vaddr) for s in left] == [
                (s.code_object, s.vaddr) for s in right
            ]
        elif isinstance(left, np.ndarray):
            assert left.tolist() == right.tolist(), each.name
        else:
            assert left == right, each.name


def test_a_machine_without_llvm_has_the_same_occupancy_by_it(tmp_path, monkeypatch):
    run = shutil.copytree(TRACES / "zyfa_gap_lean", tmp_path / "run")
    (path,) = run.glob("*.out")
    assert main(["listing", str(path), "-o", str(run / "code.json")]) == 0
    path.unlink()
    (run / "meta.json").unlink()

    def missing(library):
        raise DisassemblerError("no LLVM")

    monkeypatch.setattr(disassembler, "_load", missing)
    timeline = tracekit.open(run).timeline()
    assert timeline.arch.name == "gfx950"
    found = compared(occupancy(timeline, "span").rows)
    assert found.equals(expected("zyfa_gap_lean"))


def test_the_id_comes_from_the_name_or_the_option(tmp_path):
    path = tmp_path / "9_gfx950_code_object_id_7.out"
    shutil.copy(OBJECTS[0], path)
    for options, number in (((), 7), (("--id", "3"), 3)):
        assert main(["listing", str(path), "-o", str(tmp_path / "c.json"), *options]) == 0
        assert set(codejson.read(tmp_path / "c.json").code_object.tolist()) == {number}


def test_counts_of_a_listing_are_kept(tmp_path):
    read = codejson.read(TRACES / "pingpong" / "code.json")
    again = codejson.read(json.loads(json.dumps(codejson.document(read))))
    for name in ("hits", "latency", "stall", "idle"):
        left, right = getattr(read, name), getattr(again, name)
        assert (left is None and right is None) or left.tolist() == right.tolist()


def test_what_is_no_code_object_is_one_line(tmp_path, capsys):
    (tmp_path / "x.out").write_text("text")
    assert main(["listing", str(tmp_path / "x.out"), "-o", str(tmp_path / "c.json")]) == 1
    assert "not an ELF code object" in capsys.readouterr().err
    assert main(["listing", str(OBJECTS[0]), "-o", str(tmp_path / "no" / "c.json")]) == 1
    assert "c.json: No such file" in capsys.readouterr().err
