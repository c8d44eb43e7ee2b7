"""The captures that may be opened: those under the paths given at start, never others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tracekit.capture.archive import MemberPath, Place, open_archive
from tracekit.capture.finding import DEPTH, find
from tracekit.capture.surroundings import is_decoded_directory
from tracekit.errors import TracekitError


class Refused(TracekitError):
    """A capture was asked for that is not offered."""


@dataclass(frozen=True)
class Entry:
    """One capture on offer: ``key`` names it in URLs, ``path`` is what tracekit opens."""

    key: str
    name: str
    path: Path
    place: Place
    kind: str
    bytes: int


class Library:
    """Captures under ``roots``; a key is "<number of the root>/<path below it>".

    ``depth``: folders below a root that are searched; what lies deeper is a note.
    Keys are looked up in what the search found, so a key can never lead elsewhere; what a
    symbolic link points to outside of its root is not found in the first place.
    """

    def __init__(self, roots: list[Path], depth: int = DEPTH) -> None:
        self.roots, self.depth = [root.absolute() for root in roots], depth
        self.entries: dict[str, Entry] = {}
        self.notes: list[str] = []
        self.refresh()

    def refresh(self) -> None:
        """Search the roots again."""
        self.entries, self.notes = {}, []
        for number, root in enumerate(self.roots):
            try:
                self._search(number, root)
            except TracekitError as error:
                self.notes.append(str(error))

    def get(self, key: str) -> Entry:
        """The entry of ``key``; Refused for any other text, or a path that moved outside."""
        entry = self.entries.get(key)
        if entry is None:
            raise Refused(
                f"no capture {key!r} on offer here: choose one of the list in Open, or start "
                "the dashboard with its directory"
            )
        if not self._inside(int(key.partition("/")[0]), entry.path):
            raise Refused(f"{entry.name} leads out of the directory given at start")
        return entry

    def first(self, number: int) -> str:
        """Key of the first capture of a root when it has just one, else ""."""
        own = [key for key in self.entries if key.startswith(f"{number}/")]
        return own[0] if len(own) == 1 else ""

    def _inside(self, number: int, path: Path) -> bool:
        """Whether ``path`` and all that is read along with it lie below the root.

        Read are files of the folder, and files and decoded directories of the one above.
        """
        root = self.roots[number].resolve()
        if not path.resolve().is_relative_to(root):
            return False
        if path == self.roots[number] and path.is_file():
            return True  # named by the user: what lies beside it is read as by any command
        folder = path if path.is_dir() else path.parent
        read = _links(folder)
        if folder.parent.resolve().is_relative_to(root):
            above = _links(folder.parent)
            read += [each for each in above if each.is_file() or is_decoded_directory(each)]
        return all(each.resolve().is_relative_to(root) for each in read)

    def _search(self, number: int, root: Path) -> None:
        if root.is_file():
            size = root.stat().st_size
            kind = "archive" if open_archive(root) else "stream"
            self._add(number, Entry(self._key(number, root), root.name, root, root, kind, size))
            return
        found = find(root, self.depth)
        self.notes += found.told(self.depth)
        taken: set[Path] = set()
        for group in found.groups:
            folder = group[0].parent
            if isinstance(folder, MemberPath):
                continue
            # Of several dispatches in one folder each is its streams' own path.
            path = folder if folder not in taken else Path(str(group[0]))
            taken.add(folder)
            sizes = [os.stat(str(each)).st_size for each in group]
            key, name = self._key(number, path), self._name(root, folder)
            self._add(number, Entry(key, name, path, path, _streams(len(group)), sum(sizes)))
        beside = {folder.parent for folder in taken} | taken
        for place in found.decoded:
            if isinstance(place, MemberPath) or place.parent in beside:
                continue
            key, name = self._key(number, place), self._name(root, place)
            self._add(number, Entry(key, name, place, place, "decoded directory", 0))

    def _name(self, root: Path, folder: Path) -> str:
        below = folder.relative_to(root).as_posix()
        return root.name if below == "." else below

    def _key(self, number: int, path: Path) -> str:
        root = self.roots[number]
        return f"{number}/{path.name if path == root else path.relative_to(root).as_posix()}"

    def _add(self, number: int, entry: Entry) -> None:
        if not self._inside(number, entry.path):
            self.notes.append(f"{entry.name}: a link that leads outside was left out")
            return
        self.entries[entry.key] = entry


def _streams(number: int) -> str:
    return f"{number} stream{'s' * (number > 1)}"


def _links(folder: Path) -> list[Path]:
    """Symbolic links of a folder."""
    try:
        return [each for each in folder.iterdir() if each.is_symlink()]
    except OSError:
        return []
