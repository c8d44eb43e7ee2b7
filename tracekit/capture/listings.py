"""Reading listings beside a capture, on disk or in an archive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tracekit.capture.archive import MemberPath, Place
from tracekit.capture.files import read_json
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
