"""A file is named for what it is before a chip is blamed."""

import gzip
import json

import pytest

from tests.support.surroundings import CSV, NCU_REPORT, PFTRACE, PICKLE, PNG, TEXT, TRACES
from tracekit.capture.kinds import other_kind
from tracekit.cli import main
from tracekit.export import FORMATS

KINDS = {
    "text": (TEXT, "text"),
    "CSV": (CSV, "CSV text"),
    "PNG": (PNG, "a PNG image"),
    "pickle": (PICKLE, "a Python pickle"),
    "Perfetto trace": (PFTRACE, "a Perfetto trace"),
    "Nsight report": (NCU_REPORT, "Nsight Compute"),
    "JSON of 7 bytes": (b'{"a":1}', "JSON text"),
    "JSON list": (b"[[1, 2], [3]]", "JSON text"),
    "HTML": (b"<!DOCTYPE html><html></html>", "HTML"),
    "UTF-16 text": ("größe".encode("utf-16"), "text"),
    "Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(40), "zstd"),
    "xz": (b"\xfd7zXZ\0" + bytes(40), "xz"),
    "SQLite": (b"SQLite format 3\0" + bytes(40), "rocpd database"),
    "Parquet": (b"PAR1" + bytes(40), "Parquet"),
    "gzip of text": (gzip.compress(TEXT), "text"),
}

EXPORTED = {"pftrace": "a Perfetto trace", "speedscope": "JSON text", "html": "HTML"}
#: Formats that are a directory of files.
FOLDERS = {"parquet", "rcv"}
#: Packets that begin with other fields than a track does.
PACKETS = b"\x0a\x04\x68\x01\x50\x01\x0a\x0f\xe2\x03\x0a\x08\x02\x12\x04SE 0(\x01P\x01"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_named_as_a_stream_is_called_what_it_is(kind, tmp_path, capsys):
    content, said = KINDS[kind]
    path = tmp_path / ("x.att.gz" if kind == "gzip of text" else "1_1_shader_engine_0_1.att")
    path.write_bytes(content)
    assert main(["occupancy", str(path)]) == 1
    told = capsys.readouterr().err
    # An archive is opened as one, and then there is nothing in it.
    assert said in told or kind == "zstd"
    assert "RDNA" not in told
    assert "buffer" not in told
    assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in FOLDERS])
def test_what_tracekit_itself_exports_is_called_what_it_is(name, tmp_path, capsys):
    """Named as a stream, and told as what it is whatever its first bytes are."""
    path = tmp_path / "1_1_shader_engine_0_1.att"
    assert main(["export", str(TRACES / "pingpong"), "--format", name, "-o", str(path), "-q"]) == 0
    capsys.readouterr()
    assert main(["occupancy", str(path)]) == 1
    told = capsys.readouterr().err
    assert EXPORTED[name] in told
    assert "RDNA" not in told


def test_every_export_that_is_a_file_is_here():
    assert set(FORMATS) == set(EXPORTED) | FOLDERS


@pytest.mark.parametrize("length", [6, 7, 8, 30, 64, 200])
def test_a_trace_cut_anywhere_is_one(length):
    assert "Perfetto" in other_kind((PACKETS * 9)[:length])


def test_a_pickle_is_never_loaded(tmp_path, capsys):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "loaded"), "w"))

    import pickle

    (tmp_path / "profile.att").write_bytes(pickle.dumps(Bomb()))
    assert main(["occupancy", str(tmp_path)]) == 1
    assert "pickle" in capsys.readouterr().err
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize("length", range(1, 40))
def test_json_is_json_however_short(length):
    text = json.dumps({"code": [[1, 2, 3], [4, 5, 6]], "header": "ISA"}).encode()[:length]
    assert "JSON" in other_kind(text)


@pytest.mark.parametrize("start", [b"\0" * 64, b"\x01\x20\0\0" + bytes(60), bytes(range(200, 256))])
def test_what_is_not_known_is_not_guessed(start):
    assert other_kind(start) is None
