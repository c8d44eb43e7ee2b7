"""Where the captures of a folder are: streams and decoded directories, also further down."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tracekit.capture.archive import MemberPath, Place, open_archive
from tracekit.capture.duplicates import once
from tracekit.capture.files import entries
from tracekit.capture.streams import grouped, is_stream_name
from tracekit.capture.surroundings import is_decoded_directory
from tracekit.errors import FormatError

#: Folders below the one given that are searched, and how many of them at most.
DEPTH, MOST_FOLDERS = 4, 20_000


@dataclass
class Found:
    """Groups of streams that belong together, and decoded directories.

    ``missing``: links of streams that lead nowhere; ``notes``: what was not read, and why;
    ``deeper``: folders at which the search stopped.
    """

    groups: list[list[Place]] = field(default_factory=list)
    decoded: list[Place] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    deeper: list[Place] = field(default_factory=list)

    def told(self, depth: int) -> list[str]:
        """Everything that was not read, a sentence each."""
        links = [f"{each}: a link that leads nowhere, left out" for each in self.missing]
        if not self.deeper:
            return self.notes + links
        more = f" and {len(self.deeper) - 1} more" if self.deeper[1:] else ""
        return [
            *self.notes,
            *links,
            f"{self.deeper[0]}{more}: deeper than {depth} folders, not searched (--depth)",
        ]


def root_of(path: Path) -> Place:
    """The path itself, or the root folder of an archive; FormatError when it is absent."""
    if not path.exists():
        raise FormatError(path, "no such file or directory")
    if path.is_file():
        return open_archive(path) or path
    return path


def find(path: Place, depth: int = DEPTH) -> Found:
    """Everything to decode in a path: a stream, a decoded directory or a folder of them.

    Folders down to ``depth`` below the path are searched, each once, whatever links lead to
    it.  Raises FormatError when the search would have to visit more than MOST_FOLDERS.
    """
    if path.is_file():
        return Found(groups=[[path]])
    search = _Search(path, depth)
    search.below([(path, 0)])
    # What lies behind links comes last: under its own name it is better known.
    while search.links:
        links, search.links = search.links, []
        search.below(links)
    found = search.found
    if isinstance(path, MemberPath):
        found.notes += [
            f"{path.archive.path}:{name}: a link in the archive, left out"
            for name in path.archive.links
        ]
    streams, notes = once(search.streams)
    found.groups = grouped(streams)
    found.notes += notes
    return found


class _Search:
    def __init__(self, root: Place, depth: int) -> None:
        self.root, self.depth = root, depth
        self.found = Found()
        self.streams: list[Place] = []
        self.links: list[tuple[Place, int]] = []
        self.seen: dict[Place, Place] = {}

    def below(self, folders: list[tuple[Place, int]]) -> None:
        """Search ``folders`` (each with its depth) and those in them, level by level."""
        while folders:
            folders = [each for folder in folders for each in self._folder(*folder)]

    def _folder(self, folder: Place, level: int) -> list[tuple[Place, int]]:
        real = folder.resolve()
        if real in self.seen:
            if self.seen[real] != folder and (
                is_decoded_directory(folder) or any(map(is_stream_name, entries(folder)))
            ):
                self.found.notes.append(
                    f"{folder}: the same folder as {self.seen[real]}, read once"
                )
            return []
        if level > self.depth:
            self.found.deeper.append(folder)
            return []
        self.seen[real] = folder
        if len(self.seen) > MOST_FOLDERS:
            raise FormatError(self.root, f"more than {MOST_FOLDERS:,} folders to search")
        if is_decoded_directory(folder):
            self.found.decoded.append(folder)
        return self._entries(folder, level)

    def _entries(self, folder: Place, level: int) -> list[tuple[Place, int]]:
        deeper: list[tuple[Place, int]] = []
        for entry in entries(folder):
            if is_stream_name(entry) and entry.is_file():
                self.streams.append(entry)
            elif entry.is_dir():
                if not entry.name.startswith("."):
                    (self.links if entry.is_symlink() else deeper).append((entry, level + 1))
            elif entry.is_symlink() and not entry.exists():
                self._dangling(entry)
        return deeper

    def _dangling(self, entry: Place) -> None:
        """A link that leads nowhere: a stream that is missing, or something that is not read."""
        if is_stream_name(entry):
            self.found.missing.append(entry)
        else:
            self.found.notes.append(f"{entry}: a link that leads nowhere, left out")
