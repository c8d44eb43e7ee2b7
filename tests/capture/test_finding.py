"""Which files of a folder are read: each once, and what is not read is told."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

import tracekit
from tests.support.surroundings import TRACES, compared, expected, placed
from tracekit.analysis.checks.quality import quality
from tracekit.analysis.occupancy import occupancy
from tracekit.build import open_all
from tracekit.cli import main


@pytest.fixture
def run(tmp_path):
    return placed(tmp_path, "pingpong")


def stream(folder):
    (path,) = folder.glob("*.att")
    return path


def unchanged(*paths, **options):
    """The only capture of paths, which has the occupancy of the sample; its notes."""
    timeline = tracekit.open([*paths] if len(paths) > 1 else paths[0], **options).timeline()
    assert compared(occupancy(timeline, "span").rows).equals(expected("pingpong"))
    return " ".join(timeline.notes)


def test_a_linked_folder_is_read_once(run, tmp_path):
    (tmp_path / "latest").symlink_to("run")
    told = unchanged(tmp_path)
    assert "latest: the same folder as" in told
    assert "read once" in told


def test_a_link_in_a_circle_is_no_more_than_a_link(run, tmp_path):
    (run / "up").symlink_to(tmp_path)
    unchanged(tmp_path)


def test_a_linked_stream_is_read_once(run):
    (run / "again.att").symlink_to(stream(run).name)
    assert "again.att: the same file as" in unchanged(run)


def test_a_stream_given_twice_is_read_once(run):
    path = stream(run)
    assert "the same file as" in unchanged(path, path)


@pytest.mark.parametrize("name", ["copy.att", "1000_1_shader_engine_3_1.att", "x.att.gz"])
def test_a_copied_stream_is_read_once(run, name):
    content = stream(run).read_bytes()
    (run / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    told = unchanged(run)
    assert f"{name}: the same content as" in told


def test_a_stream_behind_a_link_is_read(run, tmp_path):
    blob = tmp_path / "blob"
    shutil.move(path := stream(run), blob)
    path.symlink_to(blob)
    unchanged(run)


def test_a_copied_folder_is_a_capture_of_its_own(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    assert sorted(capture.name for capture in open_all(tmp_path)) == ["copy", "run"]


@pytest.mark.parametrize("alone", [True, False])
def test_a_stream_compressed_with_gzip_is_read(run, alone):
    path = stream(run)
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    unchanged(packed if alone else run)


def test_a_damaged_gzip_is_called_that_and_no_archive(run, capsys):
    path = stream(run)
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes())[:-100])
    path.unlink()
    assert main(["occupancy", str(packed)]) == 1
    assert "damaged gzip file" in capsys.readouterr().err


def test_what_lies_too_deep_is_told(tmp_path, capsys):
    deep = tmp_path / "a" / "b" / "c" / "d" / "e"
    placed(deep.parent, "pingpong").rename(deep)
    assert main(["occupancy", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "deeper than 4 folders, not searched (--depth)" in told
    assert main(["occupancy", str(tmp_path), "--depth", "5", "--json"]) == 0


def test_what_lies_too_deep_beside_a_capture_is_told(run, tmp_path):
    (tmp_path / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    assert "not searched (--depth)" in unchanged(tmp_path)
    assert "--depth" not in unchanged(tmp_path, depth=5)


def test_a_link_that_leads_nowhere_is_told_and_counts_as_a_lost_stream(run):
    (run / "1000_1_shader_engine_1_1.att").symlink_to("gone.att")
    timeline = tracekit.open(run).timeline()
    assert any("leads nowhere" in note for note in timeline.notes)
    found = {finding.id: finding for finding in quality(timeline).findings}
    assert found["streams_left_out"].severity == "fatal"


def test_streams_among_decoded_files_are_read(run):
    (run / "filenames.json").write_text("{")
    (capture,) = [c for c in open_all(run) if c.streams]
    assert compared(occupancy(capture.timeline(), "span").rows).equals(expected("pingpong"))


@pytest.mark.parametrize("depth", ["-1", "x"])
def test_an_impossible_depth_is_wrong_usage(depth):
    assert main(["occupancy", str(TRACES / "pingpong"), "--depth", depth]) == 2


def test_hidden_folders_are_not_searched(run, tmp_path):
    shutil.copytree(run, tmp_path / ".hidden")
    assert len(open_all(tmp_path)) == 1
    assert os.listdir(tmp_path / ".hidden")
    assert Path(open_all(tmp_path)[0].streams[0].path).parent == run
