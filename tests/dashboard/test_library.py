"""What is on offer: what lies too deep is told, and found where it is asked for."""

import shutil

import pytest

pytest.importorskip("dash", reason="needs dash: pip install tracekit[dashboard]")

from dashboard.library import Library


def test_what_lies_too_deep_is_told_and_found_with_a_larger_depth(samples, tmp_path):
    shutil.copytree(samples / "pingpong", tmp_path / "1" / "2" / "3" / "4" / "5" / "run")
    library = Library([tmp_path])
    assert library.entries == {}
    assert any("deeper than 4 folders, not searched (--depth)" in note for note in library.notes)
    library = Library([tmp_path], 7)
    assert [entry.path.name for entry in library.entries.values()] == ["run"]
    assert library.notes == []
