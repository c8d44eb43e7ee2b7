"""Where the captures of a folder are: streams and decoded directories, also further down."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tracekit.capture.archive import Place, open_archive
from tracekit.capture.files import entries
from tracekit.capture.streams import grouped, is_stream_file
from tracekit.capture.surroundings import is_decoded_directory
from tracekit.errors import FormatError

#: Folders below the one given that are searched, and how many of them at most.
DEPTH, MOST_FOLDERS = 4, 20_000


@dataclass
class Found:
    """Groups of streams that belong together, and decoded directories."""

    groups: list[list[Place]] = field(default_factory=list)
    decoded: list[Place] = field(default_factory=list)


def root_of(path: Path) -> Place:
    """The path itself, or the root folder of an archive; FormatError when it is absent."""
    if not path.exists():
        raise FormatError(path, "no such file or directory")
    if path.is_file():
        return open_archive(path) or path
    return path


def find(path: Place) -> Found:
    """Everything to decode in a path: a stream, a decoded directory or a folder of them.

    Raises FormatError when the search would have to visit more than MOST_FOLDERS folders.
    """
    if path.is_file():
        return Found(groups=[[path]])
    found = Found()
    streams: list[Place] = []
    level, visited = [path], 0
    for _ in range(DEPTH + 1):
        below: list[Place] = []
        for folder in level:
            visited += 1
            if visited > MOST_FOLDERS:
                raise FormatError(path, f"more than {MOST_FOLDERS:,} folders to search")
            if is_decoded_directory(folder):
                found.decoded.append(folder)
                continue
            for entry in entries(folder):
                if is_stream_file(entry):
                    streams.append(entry)
                elif entry.is_dir() and not entry.name.startswith("."):
                    below.append(entry)
        level = below
    found.groups = grouped(streams)
    return found
