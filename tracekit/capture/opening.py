"""From a path to the captures in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from tracekit.capture.archive import MemberPath, Place
from tracekit.capture.capture import UNNUMBERED, Capture
from tracekit.capture.files import head, is_elf, read_json
from tracekit.capture.finding import find, root_of
from tracekit.capture.names import decoded_ids
from tracekit.capture.sources import moved_sources
from tracekit.capture.streams import Stream, read_stream
from tracekit.capture.surroundings import Surroundings, look_around
from tracekit.errors import FormatError, TracekitError
from tracekit.isa import arch, codejson, elf
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
    known (of no use here: for the builder).
    """

    listing: Sequence[str] | str
    load_base: Mapping[int, int] | None
    arch: str | None
    source_root: Mapping[str, str] | None
    assume_mfma_cycles: int | None


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
    )
    if len(roots) > 1 and all(root.is_file() for root in roots):
        return [_Opening(given, paths[0].name).streams(list(roots))]
    return [c for root in roots for c in _of_root(root, given)]


def _of_root(root: Place, options: _Options) -> list[Capture]:
    found = find(root)
    parts = len(found.groups) + len(found.decoded)
    if not parts:
        raise FormatError(
            root,
            "no thread trace here: expected *.att streams or a ui_output_* directory "
            "(with filenames.json)",
        )
    captures: list[Capture] = []
    used: set[Place] = set()
    for group in found.groups:
        opening = _Opening(options, _name(root, group[0].parent))
        captures.append(opening.streams(group))
        used |= {d.resolve() for d in opening.beside}
    rest = [d for d in found.decoded if d.resolve() not in used]
    for folder in rest:
        captures.append(_Opening(options, folder.name).decoded(folder))
    if len(captures) == 1:
        return [replace(captures[0], name=_title(root), path=root)]
    return captures


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


class _Opening:
    """One capture in the making; ``beside`` are the decoded directories it took."""

    def __init__(self, options: _Options, name: str) -> None:
        self.options, self.name = options, name
        self.bases = dict(options.bases)
        self.notes: list[str] = []
        self.code_objects: dict[int, Place] = {}
        self.beside: list[Place] = []

    def streams(self, files: Sequence[Place]) -> Capture:
        """The capture of raw streams that belong together."""
        streams = sorted(self._readable(files), key=lambda s: (s.se, s.dispatch))
        folders = [f.parent for f in files] + [f.parent.parent for f in files]
        around = look_around(dict.fromkeys(folders))
        self.beside = around.decoded_for({(s.agent, s.dispatch) for s in streams})
        listing = self._listing([d / "code.json" for d in self.beside], around)
        if any(s.header.suspicious for s in streams):
            self.notes.append(
                "a header names a target CU above 15: written by another tool than aqlprofile; "
                "the SE was taken from the file name"
            )
        for bases in (_meta_bases(around.meta), around.run.load_bases):
            for number, base in bases.items():
                self.bases.setdefault(number, base)
        path = files[0] if len(files) == 1 else files[0].parent
        return self._capture(path, around, listing, streams[0].agent, streams=tuple(streams))

    def _readable(self, files: Sequence[Place]) -> Iterator[Stream]:
        """The streams; one that is none is a note, unless there is no other."""
        found, broken = 0, []
        for file in files:
            try:
                yield read_stream(file)
                found += 1
            except FormatError as error:
                broken.append(error)
        if not found:
            raise broken[0]
        self.notes += [f"{error}; this stream was left out" for error in broken]

    def decoded(self, path: Place) -> Capture:
        """The capture of a decoded directory."""
        around = look_around([path, path.parent])
        around.listings = []
        self.beside = [path]
        listing = self._listing([path / "code.json"], around)
        ids = decoded_ids(path)
        return self._capture(path, around, listing, ids[0] if ids else -1, decoded=path)

    def _capture(
        self, path: Place, around: Surroundings, listing: Listing, agent: int, **what: Any
    ) -> Capture:
        self.notes += around.notes
        return Capture(
            name=self.name,
            path=path,
            arch=self._arch(around, listing, agent),
            listing=moved_sources(listing, self.options.source_root),
            code_objects=self.code_objects,
            load_bases=self.bases,
            kernel_names=around.run.kernels,
            source_root=self.options.source_root,
            counter_names=tuple(_counter_names(self.beside)),
            notes=tuple(self.notes),
            simulated=bool(around.meta.get("simulated")),
            synthetic=bool(around.meta.get("synthetic")),
            **what,
        )

    def _listing(self, beside: list[Place], around: Surroundings) -> Listing:
        parts: list[Listing] = []
        for option in self.options.listings:
            number, path = _option(option)
            if is_elf(path):
                elf.CodeObject(path)  # a wrong one that was asked for is an error, not a note
                self.code_objects[UNNUMBERED if number is None else number] = path
            else:
                parts.append(read_listing(path))
        if not parts and not self.code_objects:
            present = [p for p in beside if p.is_file()]
            parts = [read_listing(p) for p in present or around.listings[:1]]
            self.code_objects = dict(around.code_objects)
        if not parts and not self.code_objects:
            self.notes.append(_NO_LISTING)
        return Listing.concat(parts)

    def _arch(self, around: Surroundings, listing: Listing, agent: int) -> ArchChoice:
        meta = around.meta.get("arch")
        versions = around.run.target_versions
        by_agent = next(
            (c for p in around.agent_infos if (c := arch.from_agent_info(p, agent))), None
        )
        if by_agent is None and len(versions) == 1:
            by_agent = arch.from_target_version(*versions)
        target = listing.arch and ArchChoice(listing.arch, "target in the listing")
        return arch.choose(
            elf=elf_arch(self.code_objects.values()) or target or None,
            agent=by_agent,
            meta=meta if isinstance(meta, str) else None,
            opcodes=arch.from_opcodes(listing.text),
            override=self.options.arch,
        )


def read_listing(path: Place) -> Listing:
    """The listing of a code.json or of the directory that holds one, on disk or not."""
    if isinstance(path, MemberPath):
        content = read_json(path / "code.json" if path.is_dir() else path)
        if not isinstance(content, Mapping):
            raise FormatError(path, "no code.json: it has no list named 'code'")
        return codejson.read(content)
    return codejson.read(path)


def elf_arch(files: Iterable[Place]) -> ArchChoice | None:
    """Architecture by the ELF header of the first code object that tells it."""
    for path in files:
        start = head(path, 64)
        if start[:5] == b"\x7fELF\x02" and len(start) == 64:
            choice = arch.from_elf_flags(int.from_bytes(start[48:52], "little"))
            if choice is not None:
                return choice
    return None


def _option(text: str) -> tuple[int | None, Path]:
    """``ID=PATH`` or ``PATH``."""
    start, separator, tail = text.partition("=")
    number, path = (int(start), Path(tail)) if separator and start.isdigit() else (None, Path(text))
    if not path.exists():
        raise FormatError(path, "no such listing")
    return number, path


def _counter_names(decoded: Sequence[Place]) -> list[str]:
    for path in decoded:
        if (path / "filenames.json").is_file():
            names = read_json(path / "filenames.json")
            if isinstance(names, dict):
                return [str(name) for name in names.get("counter_names") or []]
    return []


def _meta_bases(meta: Mapping[str, Any]) -> dict[int, int]:
    """Load bases that a ``meta.json`` gives: {"code_object": 1, "load_base": address}."""
    base = meta.get("load_base")
    return {int(meta.get("code_object", 1)): base} if isinstance(base, int) else {}
