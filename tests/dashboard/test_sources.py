"""Source text is read where the user pointed, and nowhere else."""

import json
import os

import pytest

from dashboard.library import Library
from dashboard.service import Service
from dashboard.sources import LARGEST, excerpts
from tests.support import odd_captures as odd

KEY = "0/odd"


@pytest.fixture
def capture(tmp_path):
    """A capture whose lines come from /build/kernel.py:12, called by /build/main.py:3."""
    return odd.missing_source(tmp_path / "root" / "odd")


def told(capture, **options):
    return excerpts(Service(Library([capture.parent]), options=options), KEY, 0)


def keep(capture, tree, **files):
    """Make the capture's folder a decoded directory that keeps copies of sources."""
    (capture / "filenames.json").write_text('{"wave_filenames": {}}')
    (capture / "snapshots.json").write_text(json.dumps(tree))
    for name, text in files.items():
        (capture / name).write_text(text)


def test_nothing_outside_is_read(capture):
    inner, caller = told(capture)
    assert inner["frame"] == "/build/kernel.py:12"
    assert caller["frame"] == "/build/main.py:3"
    assert inner["lines"] == caller["lines"] == []
    assert "--source-root" in inner["note"]


def test_a_code_object_cannot_name_a_file_of_the_machine(capture):
    code = capture / "code.json"
    for path in ("/etc/passwd", f"{capture}/../../secret.py"):
        code.write_text(code.read_text().replace("/build/kernel.py", path))
        (capture.parents[1] / "secret.py").write_text("secret\n" * 20)
        assert told(capture)[0]["lines"] == []


def test_a_link_below_the_root_does_not_lead_out(capture):
    (capture.parents[1] / "secret.py").write_text("secret\n" * 20)
    folder = capture.parent / "sources"
    folder.mkdir()
    os.symlink(capture.parents[1] / "secret.py", folder / "kernel.py")
    code = capture / "code.json"
    code.write_text(code.read_text().replace("/build", str(folder)))
    assert told(capture)[0]["lines"] == []


def test_the_target_of_a_source_root_is_read(capture, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kernel.py").write_text("".join(f"line {n}\n" for n in range(1, 15)))
    inner, caller = told(capture, source_root={"/build": str(elsewhere)})
    assert inner["first"] == 7
    assert inner["lines"] == [f"line {n}" for n in range(7, 15)]
    assert caller["note"].startswith("not read")


def test_the_copies_of_the_recorder_are_read(capture):
    text = "".join(f"copy {n}\n" for n in range(1, 31))
    keep(
        capture,
        {"/": {"build": {"kernel.py": "source_0_kernel.py"}}},
        **{"source_0_kernel.py": text},
    )
    service = Service(Library([capture.parent]))
    # The folder holds a stream too; rows come from code.json either way.
    (inner, caller) = excerpts(service, KEY, 0)
    assert inner["lines"][12 - inner["first"]] == "copy 12"
    assert caller["lines"] == []


@pytest.mark.parametrize("name", ["../secret.py", "/etc/passwd", "sub/secret.py"])
def test_a_copy_lies_beside_its_list(capture, name):
    (capture.parent / "secret.py").write_text("secret\n" * 20)
    keep(capture, {"/": {"build": {"kernel.py": name}}})
    assert told(capture)[0]["lines"] == []


@pytest.mark.parametrize("tree", ["", "[1", '{"/": 3}', "[" * 9000])
def test_a_broken_list_of_copies_is_ignored(capture, tree):
    keep(capture, {})
    (capture / "snapshots.json").write_text(tree)
    assert told(capture)[0]["lines"] == []


def test_other_files_are_named_as_such(capture, tmp_path):
    for text, note in (("x\n", "has 1 lines"), ("x" * (LARGEST + 1), "larger than")):
        (tmp_path / "kernel.py").write_text(text)
        assert note in told(capture, source_root={"/build": str(tmp_path)})[0]["note"]
