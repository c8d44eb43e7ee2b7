"""Raw streams: the ``.att`` files of a path, what their header and name say, and groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracekit.capture.archive import Place
from tracekit.capture.files import head, read_bytes, size_of
from tracekit.capture.kernels import SQLITE_MAGIC
from tracekit.capture.names import stream_group, stream_ids
from tracekit.errors import FormatError
from tracekit.sqtt import header
from tracekit.sqtt.header import Header

_HEAD_BYTES = 64


@dataclass(frozen=True)
class Stream:
    """One raw stream: a shader engine of one trace."""

    name: str
    header: Header
    se: int
    agent: int
    dispatch: int
    size: int
    path: Place | None = None
    data: bytes | None = None

    def read(self) -> bytes:
        if self.data is not None:
            return self.data
        assert self.path is not None
        return read_bytes(self.path)


def read_stream(path: Place) -> Stream:
    """A stream by its header and name; the tokens are read when it is decoded.

    Raises FormatError for anything that is no gfx9 stream, naming what it is instead.
    """
    start = head(path, _HEAD_BYTES)
    if start.startswith(b"\x7fELF"):
        raise FormatError(path, "a code object, not a stream: pass it with --listing")
    if start.startswith(SQLITE_MAGIC):
        raise FormatError(path, "a rocpd database holds no thread trace: name the .att files")
    parsed = header.parse(start, path)
    agent, se, dispatch = stream_ids(path) or (-1, parsed.se, 0)
    return Stream(path.name, parsed, se, agent, dispatch, size_of(path), path=path)


def grouped(files: Iterable[Place]) -> list[list[Place]]:
    """Streams that belong together: of one folder, one traced process and one GPU.

    Files whose names tell nothing (given one by one) stay in one group.
    """
    groups: dict[tuple[object, ...], list[Place]] = {}
    for file in files:
        key = (file.parent.resolve(), *stream_group(file))
        groups.setdefault(key, []).append(file)
    return list(groups.values())


def is_stream_file(path: Place) -> bool:
    return path.suffix == ".att" and path.is_file()
