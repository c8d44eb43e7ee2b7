"""Listings kept by content: the same listing, no pickle, a bound, and no error where it fails."""

import dataclasses
import pickle

import numpy as np
import pytest

from tests.support.surroundings import TRACES
from tracekit.isa import cache, elf
from tracekit.isa.disassembler import Disassembler

(OBJECT,) = (TRACES / "zyfa_gap_lean").glob("*.out")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "SMALLEST", 0)
    return tmp_path / "tracekit" / "listings"


def same(one, two):
    for each in dataclasses.fields(one):
        left, right = getattr(one, each.name), getattr(two, each.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, each.name
            assert left.tolist() == right.tolist(), each.name
        else:
            assert left == right, each.name


def test_the_second_listing_is_not_disassembled(folder, monkeypatch):
    first = elf.CodeObject(str(OBJECT)).listing(4)
    assert len(list(folder.glob("*.npz"))) == 1
    monkeypatch.setattr(Disassembler, "decode", None)
    same(elf.CodeObject(str(OBJECT)).listing(4), first)
    other = elf.CodeObject(str(OBJECT)).listing(5)
    assert set(other.code_object.tolist()) == {5}
    assert {symbol.code_object for symbol in other.symbols} == {5}


def test_another_content_is_another_listing(folder, assemble):
    for number, text in enumerate(("s_nop 0\n s_endpgm", "s_nop 1\n s_endpgm")):
        elf.CodeObject(str(assemble(text, name=f"k{number}"))).listing()
    assert len(list(folder.glob("*.npz"))) == 2


def test_small_code_objects_are_not_kept(folder, monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", 1 << 20)
    elf.CodeObject(str(OBJECT)).listing()
    assert not folder.exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", None, pickle.dumps({"vaddr": [1]})])
def test_a_damaged_file_is_made_anew(folder, content):
    first = elf.CodeObject(str(OBJECT)).listing()
    (path,) = folder.glob("*.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    same(elf.CodeObject(str(OBJECT)).listing(), first)
    assert path.stat().st_size == len(whole)


def test_an_array_that_is_a_pickle_is_not_loaded(folder, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "loaded"), "w"))

    elf.CodeObject(str(OBJECT)).listing()
    (path,) = folder.glob("*.npz")
    np.savez(path, vaddr=np.array([Bomb()], object), allow_pickle=True)
    assert cache.load(path.stem, 1) is None
    assert not (tmp_path / "loaded").exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(elf.CodeObject(str(OBJECT)).listing())


def test_the_oldest_go_above_the_limit(folder, assemble, monkeypatch):
    elf.CodeObject(str(OBJECT)).listing()
    (first,) = folder.glob("*.npz")
    monkeypatch.setattr(cache, "LIMIT", first.stat().st_size + 1000)
    elf.CodeObject(str(TRACES / "zyfa_serial_exact" / "1_gfx950_code_object_id_1.out")).listing()
    elf.CodeObject(str(assemble("s_endpgm"))).listing()
    assert first not in set(folder.glob("*.npz"))
    assert sum(path.stat().st_size for path in folder.glob("*.npz")) <= cache.LIMIT
