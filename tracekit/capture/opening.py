"""From a path to the captures in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from tracekit.capture.archive import Place
from tracekit.capture.capture import UNNUMBERED, Capture
from tracekit.capture.chip import ChipEvidence, Told, agent_files, of_objects
from tracekit.capture.duplicates import once
from tracekit.capture.files import is_elf
from tracekit.capture.finding import DEPTH, Found, find, root_of
from tracekit.capture.listings import counter_names, listing_of, read_listing, taken
from tracekit.capture.names import decoded_ids, process_of, same_process, stream_group, stream_ids
from tracekit.capture.sources import moved_sources
from tracekit.capture.streams import Stream, is_stream_name, read_stream
from tracekit.capture.surroundings import Surroundings, look_around
from tracekit.errors import FormatError, TracekitError
from tracekit.gfx9 import ARCHS
from tracekit.isa import arch, elf
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing

PathLike = str | os.PathLike[str]

_NO_LISTING = (
    "no listing found (code.json, ui_output directory or code object): matrix cycles need "
    "one; give --listing"
)


#: Folders that rocprofv3 and its users name alike in every run.
_PLAIN = ("att", "out")


class OpenOptions(TypedDict, total=False):
    """What can be said beside a path.

    ``listing``: paths of a code.json, a ui_output directory or an ELF code object, each
    optionally as "ID=PATH"; ``load_base``: code object id -> address where it was loaded;
    ``arch``: used when nothing in the capture tells it; ``source_root``: old -> new
    beginning of source paths; ``assume_mfma_cycles``: cycles of MFMAs whose opcode is not
    known (of no use here: for the builder); ``depth``: folders below the path to search;
    ``within``: resolved folders outside of which nothing beside the path is looked at.
    """

    listing: Sequence[str] | str
    load_base: Mapping[int, int] | None
    arch: str | None
    source_root: Mapping[str, str] | None
    assume_mfma_cycles: int | None
    depth: int
    within: Sequence[Path]


def captures_of(
    path: PathLike | Sequence[PathLike], **options: Unpack[OpenOptions]
) -> list[Capture]:
    """All captures of a path, in order of their folders.

    Streams given one by one are one capture.  Raises TracekitError when there is none.
    """
    paths = [Path(p) for p in ([path] if isinstance(path, str | os.PathLike) else path)]
    if not paths:
        raise TracekitError("no path given")
    roots = [root_of(each) for each in paths]
    listing = options.get("listing") or ()
    given = _Options(
        [listing] if isinstance(listing, str) else list(listing),
        dict(options.get("load_base") or {}),
        options.get("arch"),
        dict(options.get("source_root") or {}),
        options.get("depth", DEPTH),
        tuple(options.get("within") or ()),
    )
    if len(roots) > 1 and all(root.is_file() for root in roots):
        files, notes = once(roots)
        return [_Opening(given, paths[0].name, notes).streams(files)]
    return [c for root in roots for c in _of_root(root, given)]


def _of_root(root: Place, options: _Options) -> list[Capture]:
    found = find(root, options.depth)
    told = found.told(options.depth)
    if not found.groups and not found.decoded:
        raise FormatError(
            root,
            "no thread trace here: expected *.att streams or a ui_output_* directory "
            "(with filenames.json)" + "".join(f"; {note}" for note in told),
        )
    captures, left = _opened(root, found, options)
    captures = [
        replace(
            each,
            notes=(*told, *left, *each.notes),
            left_out=(*_missing(found, each), *each.left_out),
        )
        for each in captures
    ]
    if len(captures) == 1:
        return [replace(captures[0], name=_title(root), path=root)]
    return captures


def _opened(root: Place, found: Found, options: _Options) -> tuple[list[Capture], list[str]]:
    """The captures that can be opened, and a note on each that cannot.

    Raises the FormatError of the first when none can be.
    """
    captures: list[Capture] = []
    broken: list[TracekitError] = []
    used: set[Place] = set()
    for group in found.groups:
        opening = _Opening(options, _name(root, group[0].parent))
        try:
            captures.append(opening.streams(group))
        except FormatError as error:
            broken.append(error)
            continue
        used |= {d.resolve() for d in opening.beside}
    for folder in found.decoded:
        if folder.resolve() in used:
            continue
        try:
            captures.append(_Opening(options, folder.name).decoded(folder))
        except FormatError as error:
            broken.append(error)
    if not captures:
        raise broken[0]
    return captures, [f"{error}; it was left out" for error in broken]


def _missing(found: Found, capture: Capture) -> list[str]:
    """Streams of the capture's folder of which only a link is left."""
    folders = {s.path.parent for s in capture.streams if s.path is not None}
    return [str(each) for each in found.missing if each.parent in folders]


def _title(root: Place) -> str:
    """Name of the only capture of a path."""
    full = root.absolute() if isinstance(root, Path) else root
    return (full.parent.name if full.name in _PLAIN else "") or full.name


def _name(root: Place, folder: Place) -> str:
    """Name of a capture among several: its folder."""
    parent = folder.parent
    inside = folder.name in _PLAIN and parent.resolve() != root.resolve()
    return parent.name if inside else folder.name


@dataclass(frozen=True)
class _Options:
    """What the caller says about every capture of the path."""

    listings: list[str]
    bases: dict[int, int]
    arch: str | None
    source_root: dict[str, str]
    depth: int = DEPTH
    within: tuple[Path, ...] = ()


class _Opening:
    """One capture in the making; ``beside`` are the decoded directories it took."""

    def __init__(self, options: _Options, name: str, notes: Sequence[str] = ()) -> None:
        self.options, self.name = options, name
        self.notes: list[str] = list(notes)
        self.given = False
        self.code_objects: dict[int, tuple[Place, ...]] = {}
        self.beside: list[Place] = []
        #: Where listings lie, the nearest first; those of one element belong together.
        self.listings: list[tuple[Place, ...]] = []
        self.left_out: list[str] = []

    def streams(self, files: Sequence[Place]) -> Capture:
        """The capture of raw streams that belong together."""
        streams = sorted(self._readable(files), key=lambda s: (s.se, s.dispatch))
        near = dict.fromkeys(f.parent for f in files)
        far = dict.fromkeys(f.parent.parent for f in files)
        process = stream_group(files[0])[0]
        around = look_around([near, far], process, self.options.within)
        listing = self._stream_listing(streams, around)
        if any(s.header.suspicious for s in streams):
            self.notes.append(
                "a header names a target CU above 15: written by another tool than aqlprofile; "
                "the SE was taken from the file name"
            )
        path = files[0] if len(files) == 1 else files[0].parent
        what = {"streams": tuple(streams), "left_out": tuple(self.left_out)}
        return self._capture(path, around, listing, streams[0].agent, process, **what)

    def _readable(self, files: Sequence[Place]) -> Iterator[Stream]:
        """The streams; one that is none is a note, unless there is no other."""
        found, broken = 0, []
        for file in files:
            try:
                yield read_stream(file)
                found += 1
            except FormatError as error:
                broken.append(error)
                if stream_ids(file) or not is_stream_name(file):
                    self.left_out.append(file.name)
        if not found:
            raise broken[0]
        self.notes += [f"{error}; this stream was left out" for error in broken]

    def decoded(self, path: Place) -> Capture:
        """The capture of a decoded directory."""
        around = look_around([[path], [path.parent]], within=self.options.within)
        self.beside = [path]
        own: list[tuple[Place, ...]] = (
            [(path / "code.json",)] if (path / "code.json").is_file() else []
        )
        listing = self._listing(own, around)
        ids = decoded_ids(path)
        return self._capture(path, around, listing, ids[0] if ids else -1, "", decoded=path)

    def _stream_listing(self, streams: Sequence[Stream], around: Surroundings) -> Listing:
        """The nearest listing; what lies equally near comes after, code.json files first."""
        ids = {(s.agent, s.dispatch) for s in streams}
        decoded = around.decoded_for(ids)
        listed = [(distance, d) for distance, d in decoded if (d / "code.json").is_file()]
        unknown = any(s.agent < 0 for s in streams)
        named = [each for each in listed if not unknown and decoded_ids(each[1]) is not None]
        places: list[tuple[int, int, tuple[Place, ...]]] = [
            (distance, 0, (path,)) for distance, path in around.listings
        ]
        for at in {distance for distance, _ in named}:
            places.append((at, 1, tuple(d / "code.json" for n, d in named if n == at)))
        places += [(at, 2, (d / "code.json",)) for at, d in listed if (at, d) not in named]
        places.sort(key=lambda place: place[:2])
        order = [paths for _, _, paths in places]
        listing = self._listing(order, around)
        if not (self.given or self.listings or self.code_objects):
            self.notes += around.decoded_against(ids)
        self.beside = taken([d for _, d in decoded], self.listings[:1])
        return listing

    def _capture(
        self, path: Place, around: Surroundings, listing: Listing, agent: int, process: str,
        **what: Any,
    ) -> Capture:  # fmt: skip
        self.notes += around.notes
        chip = self._chip(around, agent, process)
        objects = [file for files in self.code_objects.values() for file in files]
        choice, _ = chip.choose(listing, objects)
        return Capture(
            name=self.name,
            path=path,
            arch=choice,
            listing=moved_sources(listing, self.options.source_root),
            given=self.given,
            listing_paths=self.listings[0] if self.listings else (),
            alternatives=tuple(self.listings[1:]),
            chip=chip,
            code_objects=self.code_objects,
            load_bases=self.options.bases,
            found_bases=_meta_bases(around.meta),
            runs=tuple(around.runs),
            source_root=self.options.source_root,
            counter_names=tuple(counter_names(self.beside)),
            notes=tuple(self.notes),
            simulated=bool(around.meta.get("simulated")),
            synthetic=bool(around.meta.get("synthetic")),
            **what,
        )

    def _listing(self, found: list[tuple[Place, ...]], around: Surroundings) -> Listing:
        """What the caller gave, else the first of ``found`` that can be read."""
        parts: list[Listing] = []
        for option in self.options.listings:
            number, path = _option(option)
            if is_elf(path):
                elf.CodeObject(path)  # a wrong one that was asked for is an error, not a note
                self.code_objects[UNNUMBERED if number is None else number] = (path,)
            else:
                parts.append(read_listing(path))
        if parts or self.code_objects:
            self.given = True
            return Listing.concat(parts)
        self.code_objects = around.code_objects
        while found:
            try:
                listing = listing_of(found[0])
                if not len(listing) and not listing.symbols:
                    raise FormatError(found[0][0], "it lists no instruction")
            except FormatError as error:
                self.notes.append(f"{error}; this listing was left out")
                found = found[1:]
                continue
            self.listings = found
            return listing
        if not self.code_objects:
            self.notes.append(_NO_LISTING)
        return Listing.concat([])

    def _chip(self, around: Surroundings, agent: int, process: str) -> ChipEvidence:
        """Code objects beside the streams tell the chip, also where a listing was given."""
        proven = [p for p in around.agent_infos if same_process(process, process_of(p))]
        told = list(agent_files(around.agent_infos, agent, proven))
        for run in around.runs:
            choices = [arch.from_target_version(version) for version in run.target_versions]
            if len(choices) == 1 and choices[0] is not None:
                told.append(Told(choices[0], run.path, run.proven))
        meta = around.meta.get("arch")
        if isinstance(meta, str):
            if meta in ARCHS:
                told.append(Told(ArchChoice(meta, "meta.json"), around.meta_path))
            else:
                self.notes.append(f"{around.meta_path}: {meta} is not supported, not used")
        if self.given:
            beside = [file for files in around.code_objects.values() for file in files]
            told = [*(Told(choice, path) for path, choice in of_objects(beside)), *told]
        return ChipEvidence(tuple(told), self.options.arch)


def _option(text: str) -> tuple[int | None, Path]:
    """``ID=PATH`` or ``PATH``."""
    start, separator, tail = text.partition("=")
    number, path = (int(start), Path(tail)) if separator and start.isdigit() else (None, Path(text))
    if not path.exists():
        raise FormatError(path, "no such listing")
    return number, path


def _meta_bases(meta: Mapping[str, Any]) -> dict[int, int]:
    """Load bases that a ``meta.json`` gives: {"code_object": 1, "load_base": address}."""
    base, number = meta.get("load_base"), meta.get("code_object", 1)
    return {number: base} if type(base) is int and type(number) is int else {}
