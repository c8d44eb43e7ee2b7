"""Everything that a capture is made of, in one archive that opens as the capture does."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracekit.build import OpenCapture
from tracekit.capture.archive import SUFFIXES, Place
from tracekit.errors import FormatError, TracekitError
from tracekit.record import rocm
from tracekit.version import VERSION

#: What the profiler, or a sample, leaves beside streams.
BESIDE = ("agent_info.csv", "kernel_trace.csv", "results.json", "meta.json", "filenames.json")
#: Names that source files have, and bytes beyond which a file is none.
SOURCES = (
    ".py", ".hip", ".cpp", ".cc", ".c", ".cu", ".h", ".hpp", ".hh", ".cuh", ".s", ".asm", ".ll",
    ".mlir", ".inc",
)  # fmt: skip
SOURCE_BYTES = 1 << 20
#: Name of the list in the archive.
MANIFEST = "bundle.txt"
#: Of zstd: streams shrink little beyond it.
LEVEL = 10
ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.zst")


@dataclass(frozen=True)
class Item:
    """A file and what it is: stream, decoded, listing, code object, profiler, source."""

    path: Path
    inside: str
    kind: str
    size: int


def contents(capture: OpenCapture, *, sources: bool = True) -> list[Item]:
    """What a bundle of ``capture`` holds, by kind and name; source files lie in ``sources/``.

    Raises TracekitError for a capture that is itself in an archive.
    """
    found: dict[Path, str] = {}
    for place, kind in _own(capture):
        if not isinstance(place, Path):
            raise TracekitError(f"{capture.path}: is an archive already")
        if place.is_file():
            found.setdefault(place.resolve(), kind)
    for folder in dict.fromkeys(_folders(capture, list(found))):
        for each in sorted(folder.iterdir()):
            if each.name.endswith(BESIDE):
                found.setdefault(each, "profiler")
    # The name of a decoded directory tells the dispatch.
    named = [capture.decoded.resolve()] if isinstance(capture.decoded, Path) else []
    root = _root([*found, *named])
    items = [
        Item(path, path.relative_to(root).as_posix(), kind, path.stat().st_size)
        for path, kind in found.items()
    ]
    return items + (_sources(capture) if sources else [])


def _own(capture: OpenCapture) -> Iterator[tuple[Place | None, str]]:
    """The files of the capture that it knows of."""
    yield from ((stream.path, "stream") for stream in capture.streams)
    if isinstance(capture.decoded, Path):
        names = sorted(each.name for each in capture.decoded.iterdir())
        for name in names:
            if name.lower().endswith(SUFFIXES):
                yield capture.decoded / name, "decoded"
    for place in capture.listing_paths:
        yield (place / "code.json" if place.is_dir() else place), "listing"
    yield from ((places[0], "code object") for places in capture.code_objects.values() if places)


def _folders(capture: OpenCapture, found: list[Path]) -> Iterator[Path]:
    """Those of the files, and those between them and the capture's own."""
    own = Path(str(capture.path)).resolve()
    own = own if own.is_dir() else own.parent
    for path in found:
        yield from (each for each in path.parents if each == own or own in each.parents)


def _root(found: list[Path]) -> Path:
    """The deepest folder that holds them all."""
    folders = [path.parent for path in found]
    root = folders[0]
    while not all(root == each or root in each.parents for each in folders):
        root = root.parent
    return root


def _sources(capture: OpenCapture) -> list[Item]:
    """Files that the listing names and that are here."""
    named = {
        part.rpartition(":")[0]
        for source in dict.fromkeys(capture.listing.source)
        for part in source.split(" -> ")
    }
    found = []
    for name in sorted(named - {""}):
        path = Path(name)
        if path.suffix.lower() in SOURCES and path.is_file():
            size = path.stat().st_size
            inside = f"sources/{path.resolve().as_posix().lstrip('/')}"
            if size <= SOURCE_BYTES:
                found.append(Item(path, inside, "source", size))
    return found


def environment() -> dict[str, Any]:
    """What made the bundle; no variables of the environment."""
    program = rocm.rocprofv3()
    return {
        "tracekit": VERSION,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "rocm": rocm.rocm_version(),
        "rocprofv3": None if program is None else rocm.rocprofv3_version(program),
    }


def write(capture: OpenCapture, items: Sequence[Item], output: Path) -> int:
    """Write the archive, a manifest first; returns its size in bytes.

    The ending of ``output`` (one of ENDINGS) says how; .tar.zst needs the extra ``zstd``.
    Raises FormatError where the file cannot be written, or one that goes in cannot be read.
    """
    entries = [
        {"file": each.inside, "kind": each.kind, "bytes": each.size,
         "sha256": hashlib.sha256(_read(each.path)).hexdigest()}
        for each in items
    ]  # fmt: skip
    about = {"schema": "tracekit.bundle/1", "capture": capture.name, "arch": capture.arch.name,
             "environment": environment(), "files": entries}  # fmt: skip
    try:
        with _archive(output) as archive:
            _add(archive, MANIFEST, json.dumps(about, indent=1).encode())
            for each in items:
                _add(archive, each.inside, _read(each.path))
        return output.stat().st_size
    except OSError as error:
        raise FormatError(output, error.strerror or "cannot be written") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    """Without owner and time: what is in it is what was listed."""
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(data), 0o644
    archive.addfile(about, io.BytesIO(data))


@contextmanager
def _archive(output: Path) -> Iterator[tarfile.TarFile]:
    name = output.name.lower()
    if name.endswith(".tar.zst"):
        try:
            import zstandard
        except ImportError:
            raise TracekitError(
                f"{output}: writing .tar.zst needs: pip install 'tracekit[zstd]'"
            ) from None
        with (
            output.open("wb") as file,
            zstandard.ZstdCompressor(LEVEL).stream_writer(file) as out,
            tarfile.open(fileobj=out, mode="w|") as archive,
        ):
            yield archive
    elif name.endswith("gz"):
        with tarfile.open(output, "w:gz") as archive:
            yield archive
    else:
        with tarfile.open(output, "w:") as archive:
            yield archive
