"""Raw streams: the ``.att`` files of a path, what their header and name say, and groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracekit.capture.archive import Place, is_gzip, unpacked
from tracekit.capture.files import head, read_bytes, size_of
from tracekit.capture.kinds import other_kind
from tracekit.capture.names import stream_group, stream_ids
from tracekit.errors import FormatError
from tracekit.sqtt import header
from tracekit.sqtt.header import Header

#: Enough for any magic number, a tar header's included.
_HEAD_BYTES = 512


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

    One that is compressed with gzip is unpacked into memory.  Raises FormatError for
    anything that is no gfx9 stream, naming what it is instead.
    """
    start = head(path, _HEAD_BYTES)
    data = None
    if is_gzip(start):
        data = unpacked(path)
        start = data[:_HEAD_BYTES]
    try:
        parsed = header.parse(start, path)
    except FormatError:
        what = other_kind(start)
        if what is None:
            raise
        raise FormatError(path, what) from None
    agent, se, dispatch = stream_ids(path) or (-1, parsed.se, 0)
    name = path.name.removesuffix(".gz") if data is not None else path.name
    size = len(data) if data is not None else size_of(path)
    return Stream(name, parsed, se, agent, dispatch, size, path=path, data=data)


def grouped(files: Iterable[Place]) -> list[list[Place]]:
    """Streams that belong together: of one folder, one traced process and one GPU.

    Files whose names tell nothing (given one by one) stay in one group.
    """
    groups: dict[tuple[object, ...], list[Place]] = {}
    for file in files:
        key = (file.parent.resolve(), *stream_group(file))
        groups.setdefault(key, []).append(file)
    return list(groups.values())


def is_stream_name(path: Place) -> bool:
    return path.name.endswith((".att", ".att.gz"))
