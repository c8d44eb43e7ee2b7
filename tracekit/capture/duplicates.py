"""The same stream under several names: read once, and told."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tracekit.capture.archive import MemberPath, Place, is_gzip, unpacked
from tracekit.capture.files import head, read_bytes, size_of
from tracekit.capture.names import stream_ids
from tracekit.errors import FormatError
from tracekit.sqtt.header import Header, parse
from tracekit.sqtt.layout import HEADER_BYTES

#: A gzip file ends in the size of what it holds.
_SIZE_BYTES = 4


def once(files: Sequence[Place]) -> tuple[list[Place], list[str]]:
    """``files`` without those that are another's file or content, and a note on each of them.

    Contents are compared within a folder: a copied folder is a capture of its own.
    """
    kept: list[Place] = []
    notes: list[str] = []
    real: dict[Place, Place] = {}
    for file in sorted(files, key=lambda file: file.is_symlink()):
        first = real.setdefault(file.resolve(), file)
        if first is file:
            kept.append(file)
        else:
            notes.append(f"{file}: the same file as {first}, read once")
    for same in _same_size(kept):
        for file, first in _copies(same):
            kept.remove(file)
            notes.append(f"{file}: the same content as {first}, read once")
    order = {id(file): at for at, file in enumerate(files)}
    return sorted(kept, key=lambda file: order[id(file)]), notes


def _same_size(files: Sequence[Place]) -> list[list[Place]]:
    """Files of one folder that are equally long, unpacked."""
    sizes: dict[tuple[Place, int], list[Place]] = {}
    for file in files:
        try:
            sizes.setdefault((file.parent, _size(file)), []).append(file)
        except FormatError:
            continue  # it is told of where it is read
    return [same for (_, size), same in sizes.items() if len(same) > 1 and size]


def _size(file: Place) -> int:
    if not file.name.endswith(".gz"):
        return size_of(file)
    if isinstance(file, MemberPath):
        return int.from_bytes(file.read_bytes()[-_SIZE_BYTES:], "little")
    try:
        with file.open("rb") as content:
            content.seek(-_SIZE_BYTES, 2)
            return int.from_bytes(content.read(), "little")
    except OSError as error:
        raise FormatError(file, error.strerror or "cannot be read") from None


def _copies(files: Sequence[Place]) -> list[tuple[Place, Place]]:
    """(copy, original) among files that are equally long."""
    contents: dict[bytes, list[Place]] = {}
    for file in files:
        try:
            data = unpacked(file) if is_gzip(head(file, 2)) else read_bytes(file)
        except FormatError:
            continue
        contents.setdefault(hashlib.sha256(data).digest(), []).append(file)
    found: list[tuple[Place, Place]] = []
    for same in contents.values():
        told = _header(same[0])
        first, *others = sorted(same, key=lambda file: _doubt(file, told))
        found += [(file, first) for file in others if not _distinct(file, first, told)]
    return found


def _doubt(file: Place, told: Header | None) -> tuple[bool, bool, bool, str]:
    """The likeliest original comes first: named by the profiler as its header says."""
    ids = stream_ids(file)
    wrong = ids is not None and told is not None and not told.suspicious and told.se != ids[1]
    return ids is None, wrong, file.name.endswith(".gz"), file.name


def _distinct(file: Place, other: Place, told: Header | None) -> bool:
    """Whether two files of one content may be two traces, both without a wave.

    Their names then differ in what no header contradicts.
    """
    one, two = stream_ids(file), stream_ids(other)
    if one is None or two is None or one == two:
        return False
    return told is None or (told.suspicious and one[1] != two[1])


def _header(file: Place) -> Header | None:
    try:
        start = head(file, HEADER_BYTES + 1)
        return parse(unpacked(file) if is_gzip(start) else start, file)
    except FormatError:
        return None
