"""Listings beside a capture, on disk or in an archive: reading them, and whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tracekit.capture.archive import MemberPath, Place
from tracekit.capture.files import read_bytes, read_json
from tracekit.errors import FormatError
from tracekit.isa import codejson
from tracekit.isa.listing import Listing


def read_listing(path: Place) -> Listing:
    """The listing of a code.json or of the directory that holds one, on disk or not."""
    if isinstance(path, MemberPath):
        content = read_json(path / "code.json" if path.is_dir() else path)
        if not isinstance(content, Mapping):
            raise FormatError(path, "no code.json: it has no list named 'code'")
        return codejson.read(content)
    return codejson.read(path)


def listing_of(paths: Iterable[Place]) -> Listing:
    """The listings of several files in one."""
    return Listing.concat([read_listing(path) for path in paths])


def taken(decoded: Sequence[Place], nearest: Sequence[tuple[Place, ...]]) -> list[Place]:
    """Decoded directories that are the streams' own: their listing is the one that is used.

    A copy of it counts too; without a listing those that hold none.
    """
    used = [path for paths in nearest for path in paths]
    if not used:
        return list(decoded)
    contents = {read_bytes(path) for path in used}
    return [
        folder
        for folder in decoded
        if not (own := folder / "code.json").is_file() or own in used or read_bytes(own) in contents
    ]


def counter_names(decoded: Sequence[Place]) -> list[str]:
    """Names of the SQ counters, where a directory tells them; a damaged one does not."""
    for path in decoded:
        if (path / "filenames.json").is_file():
            try:
                names = read_json(path / "filenames.json")
            except FormatError:
                continue
            if isinstance(names, dict) and isinstance(names.get("counter_names"), list):
                return [str(name) for name in names["counter_names"]]
    return []
