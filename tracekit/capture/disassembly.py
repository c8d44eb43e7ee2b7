"""The listings that a capture may have: code.json files and code objects that waves run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tracekit.capture.archive import Place
from tracekit.capture.belonging import Seen, against_code, against_listing, against_object
from tracekit.capture.capture import UNNUMBERED, Capture
from tracekit.capture.listings import listing_of
from tracekit.capture.marker_names import marker_names
from tracekit.capture.sources import moved_sources
from tracekit.errors import TracekitError
from tracekit.isa import elf
from tracekit.isa.listing import Listing


@dataclass(frozen=True)
class Disassembly:
    """A listing with the files that it is of.

    ``told``: the part that is no disassembly; ``marker_names``: names of trace markers by
    id, from the code objects' function maps.
    """

    listing: Listing
    told: Listing
    paths: tuple[Place, ...] = ()
    objects: tuple[Place, ...] = ()
    marker_names: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Sources:
    """What could be the listing of a capture, given what its streams say."""

    def __init__(self, capture: Capture, seen: Seen) -> None:
        self.capture, self.seen = capture, seen
        #: What is not used, and why.
        self.notes: list[str] = []
        self._listed: dict[int, Listing] = {}
        self._objects = self._disassembled()

    def candidates(self) -> Iterator[Disassembly]:
        """The likeliest listing first: the nearest one that nothing contradicts.

        Each with the code objects that waves run, then without, then these alone.
        """
        capture = self.capture
        told = False
        if (capture.listing_paths or capture.given) and self._fits(
            capture.listing, capture.listing_paths
        ):
            told = True
            yield from self._with_objects(capture.listing, capture.listing_paths)
        for paths in capture.alternatives:
            try:
                listing = moved_sources(listing_of(paths), capture.source_root)
            except TracekitError as error:
                self.notes.append(f"{error}; it was left out")
                continue
            if self._fits(listing, paths):
                told = True
                yield from self._with_objects(listing, paths)
        if self._objects or not told:
            yield self._joined(Listing.concat([]), (), objects=True)

    def _fits(self, listing: Listing, paths: tuple[Place, ...]) -> bool:
        if self.capture.given:
            return True
        reason = against_listing(listing, self.seen) or self._against_nearer(listing, paths)
        if reason:
            self.notes.append(f"{_names(paths)}: not the listing of this capture: {reason}")
        return reason is None

    def _against_nearer(self, listing: Listing, paths: tuple[Place, ...]) -> str | None:
        """What code objects beside the streams say against a listing that lies farther off."""
        here = {s.path.parent for s in self.capture.streams if s.path is not None}
        if any(path.parent in here for path in paths):
            return None
        for number in self._objects:
            if self._paths[number].parent in here:
                try:
                    reason = against_code(listing, self._code(number))
                except TracekitError:  # told where it is disassembled to be used
                    continue
                if reason:
                    return reason
        return None

    def _code(self, number: int) -> Listing:
        """The listing of a code object, disassembled once."""
        if number not in self._listed:
            self._listed[number] = self._objects[number].listing(number)
        return self._listed[number]

    def _with_objects(self, listing: Listing, paths: tuple[Place, ...]) -> Iterator[Disassembly]:
        yield self._joined(listing, paths, objects=True)
        if self._objects and not self.capture.given:
            yield self._joined(listing, paths, objects=False)

    def _joined(self, told: Listing, paths: tuple[Place, ...], *, objects: bool) -> Disassembly:
        parts, names, files, notes = [told], dict[int, str](), [], list[str]()
        for number, found in self._objects.items() if objects else ():
            files.append(self._paths[number])
            try:
                parts.append(moved_sources(self._code(number), self.capture.source_root))
                names |= marker_names(found.funcmap() or "")
            except TracekitError as error:
                if number not in told.code_object:
                    notes.append(f"code object {number} was not disassembled: {error}")
        listing = Listing.concat(parts) if len(parts) > 1 else told
        return Disassembly(listing, told, paths, tuple(files), names, tuple(notes))

    def _disassembled(self) -> dict[int, elf.CodeObject]:
        """Code objects by id: of several files of an id the first that nothing contradicts."""
        found: dict[int, elf.CodeObject] = {}
        self._paths: dict[int, Place] = {}
        numbered = self._numbered()
        for number in sorted(self.seen.run & set(numbered)):
            for path in numbered[number]:
                try:
                    read = elf.CodeObject(path)
                    reason = None if self.capture.given else against_object(read, number, self.seen)
                except TracekitError as error:
                    if number not in self.capture.listing.code_object:
                        self.notes.append(f"code object {number} was not disassembled: {error}")
                    else:
                        self.notes.append(f"{error}; it was left out")
                    continue
                if reason is None:
                    found[number], self._paths[number] = read, path
                    break
                self.notes.append(f"{path}: not the code object {number} of this capture: {reason}")
        return found

    def _numbered(self) -> dict[int, tuple[Place, ...]]:
        """Code objects by id; one that was given without takes the id that no other file has."""
        objects = dict(self.capture.code_objects)
        if UNNUMBERED not in objects:
            return objects
        paths = objects.pop(UNNUMBERED)
        open_ids = sorted(self.seen.run - set(objects))
        if len(open_ids) == 1:
            return objects | {open_ids[0]: paths}
        run = ", ".join(map(str, open_ids)) or "none that is known"
        self.notes.append(
            f"{paths[0]}: which code object it is cannot be told (waves run {run}): give "
            "--listing ID=PATH, and --load-base ID=ADDR where the stream has no load record"
        )
        return objects


def _names(paths: tuple[Place, ...]) -> str:
    return ", ".join(map(str, paths))
