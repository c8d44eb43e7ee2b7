"""Archives read as the folder does, within limits, and damage is one clear error."""

import tarfile
import zipfile
from pathlib import Path

import pytest

import tracekit
from tracekit.build import open_all

SAMPLE = Path(__file__).parents[2] / "traces" / "pingpong"


def _tar(path, mode):
    with tarfile.open(path, mode) as archive:
        archive.add(SAMPLE, "run")
    return path


def _zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in SAMPLE.iterdir():
            archive.write(file, f"run/{file.name}")
    return path


def _zstd(path):
    zstandard = pytest.importorskip("zstandard", reason="the extra 'zstd' is not installed")
    path.write_bytes(zstandard.compress(_tar(path.with_suffix(""), "w").read_bytes()))
    return path


@pytest.fixture(params=["run.zip", "run.tar", "run.tar.gz", "run.tar.zst"])
def archive(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".zip":
        return _zip(path)
    if path.suffix == ".zst":
        return _zstd(path)
    return _tar(path, "w:gz" if path.suffix == ".gz" else "w")


def test_archive_reads_as_the_folder(archive):
    expected = tracekit.open(SAMPLE).timeline()
    found = tracekit.open(archive).timeline()
    assert found.instructions.equals(expected.instructions)
    assert found.synthetic == expected.synthetic


def test_archive_over_the_limit_is_refused(archive, monkeypatch):
    monkeypatch.setenv("TRACEKIT_ARCHIVE_LIMIT", "1000")
    with pytest.raises(tracekit.FormatError, match="unpacks to more than 1,000 bytes"):
        tracekit.open(archive)


def test_cut_archive_is_one_clear_error(tmp_path):
    whole = _tar(tmp_path / "run.tar.gz", "w:gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(tracekit.FormatError, match="damaged archive"):
        tracekit.open(tmp_path / "cut.tar.gz")


@pytest.mark.parametrize("flags", [0x00, 0x04, 0x08, 0x1F])
def test_gzip_header_cut_anywhere_is_one_clear_error(tmp_path, flags):
    """Found by fuzzing: the tarfile module raises TypeError there."""
    path = tmp_path / "run.tar.gz"
    for length in range(2, 24):
        path.write_bytes((b"\x1f\x8b\x08" + bytes([flags]) + bytes(20))[:length])
        with pytest.raises(tracekit.TracekitError, match="archive"):
            tracekit.open(path)


def test_member_without_a_name_is_skipped(tmp_path):
    """Found by fuzzing: zipfile looks at the last letter of every name."""
    path = _zip(tmp_path / "run.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"nothing")
    assert len(tracekit.open(path).timeline().instructions)


def test_folder_of_captures_keeps_them_apart():
    samples = sorted(folder.name for folder in SAMPLE.parent.iterdir() if folder.is_dir())
    found = [capture.name for capture in open_all(SAMPLE.parent)]
    assert found == [name for name in samples if not name.startswith("_")]
    assert {"lockstep", "pingpong"} <= set(found)
