"""``tracekit.open``: from a path to a Capture."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tracekit.capture.capture import Capture, Stream
from tracekit.capture.names import decoded_ids, stream_ids
from tracekit.capture.surroundings import (
    Surroundings,
    is_decoded_directory,
    look_around,
    read_json,
)
from tracekit.errors import FormatError, TracekitError
from tracekit.isa import arch, codejson
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing
from tracekit.sqtt import header

PathLike = str | os.PathLike[str]

_NO_LISTING = (
    "no listing found (code.json, ui_output directory or code object): matrix cycles need "
    "one; give --listing"
)


def open_capture(
    path: PathLike | Sequence[PathLike],
    *,
    listing: Sequence[str] | str = (),
    load_base: Mapping[int, int] | None = None,
    arch: str | None = None,
) -> Capture:
    """Open a capture: an ``.att`` stream, several, or a directory.

    A directory may hold streams (also in ``att/`` or one folder down, as rocprofv3 leaves
    them) or be a decoded ``ui_output_*`` directory; where both are there the streams are
    decoded and the decoded files serve as listing.  ``listing``: paths of a code.json, a
    ui_output directory or an ELF code object, each optionally as "ID=PATH";
    ``load_base``: code object id -> address where it was loaded; ``arch``: used when
    nothing in the capture tells it.

    Raises TracekitError (FormatError) when there is nothing to read.
    """
    paths = [Path(p) for p in ([path] if isinstance(path, str | os.PathLike) else path)]
    if not paths:
        raise TracekitError("no path given")
    for each in paths:
        if not each.exists():
            raise FormatError(each, "no such file or directory")
    wanted = [listing] if isinstance(listing, str) else list(listing)
    opening = _Opening(paths, wanted, dict(load_base or {}), arch)
    return opening.run()


class _Opening:
    def __init__(
        self, paths: list[Path], listings: list[str], bases: dict[int, int], arch_option: str | None
    ) -> None:
        self.paths, self.listings, self.bases, self.arch_option = (
            paths,
            listings,
            bases,
            arch_option,
        )
        self.notes: list[str] = []
        self.code_objects: dict[int, Path] = {}

    def run(self) -> Capture:
        first = self.paths[0]
        if len(self.paths) == 1 and is_decoded_directory(first):
            return self._decoded(first)
        files = [f for path in self.paths for f in _stream_files(path)]
        if not files:
            return self._without_streams(first)
        streams = sorted((read_stream(f) for f in files), key=lambda s: (s.se, s.dispatch))
        folders = [f.parent for f in files] + [f.parent.parent for f in files]
        around = look_around(dict.fromkeys(folders))
        beside = around.decoded_for({(s.agent, s.dispatch) for s in streams})
        listing = self._listing([d / "code.json" for d in beside], around)
        if any(s.header.suspicious for s in streams):
            self.notes.append(
                "a header names a target CU above 15: written by another tool than aqlprofile; "
                "the SE was taken from the file name"
            )
        meta = around.meta
        for number, base in _meta_bases(meta).items():
            self.bases.setdefault(number, base)
        return Capture(
            name=first.name,
            path=first,
            arch=self._arch(around, listing, streams[0].agent),
            listing=listing,
            streams=streams,
            code_objects=self.code_objects,
            load_bases=self.bases,
            counter_names=_counter_names(beside),
            notes=self.notes,
            simulated=bool(meta.get("simulated")),
            synthetic=bool(meta.get("synthetic")),
        )

    def _without_streams(self, path: Path) -> Capture:
        decoded = (
            sorted(d for d in path.iterdir() if is_decoded_directory(d)) if path.is_dir() else []
        )
        if len(decoded) == 1:
            return self._decoded(decoded[0])
        if decoded:
            names = ", ".join(d.name for d in decoded)
            raise TracekitError(
                f"{path}: holds {len(decoded)} decoded captures; name one of {names}"
            )
        raise FormatError(
            path,
            "no thread trace here: expected *.att streams or a ui_output_* directory "
            "(with filenames.json)",
        )

    def _decoded(self, path: Path) -> Capture:
        around = look_around([path, path.parent])
        around.listings = []
        listing = self._listing([path / "code.json"], around)
        ids = decoded_ids(path)
        return Capture(
            name=path.name,
            path=path,
            arch=self._arch(around, listing, ids[0] if ids else -1),
            listing=listing,
            decoded=path,
            code_objects=self.code_objects,
            load_bases=self.bases,
            counter_names=_counter_names([path]),
            notes=self.notes,
        )

    def _listing(self, beside: list[Path], around: Surroundings) -> Listing:
        parts: list[Listing] = []
        for option in self.listings:
            number, path = _option(option)
            if _is_elf(path):
                self.code_objects[1 if number is None else number] = path
            else:
                parts.append(codejson.read(path))
        if not parts and not self.code_objects:
            present = [p for p in beside if p.is_file()]
            parts = [codejson.read(p) for p in present or around.listings[:1]]
            self.code_objects = dict(around.code_objects)
        if not parts and not self.code_objects:
            self.notes.append(_NO_LISTING)
        return Listing.concat(parts)

    def _arch(self, around: Surroundings, listing: Listing, agent: int) -> ArchChoice:
        meta = around.meta.get("arch")
        return arch.choose(
            elf=elf_arch(self.code_objects.values()),
            agent=next(
                (c for p in around.agent_infos if (c := arch.from_agent_info(p, agent))), None
            ),
            meta=meta if isinstance(meta, str) else None,
            opcodes=arch.from_opcodes(listing.text),
            override=self.arch_option,
        )


def elf_arch(files: Iterable[Path]) -> ArchChoice | None:
    """Architecture by the ELF header of the first code object that tells it."""
    for path in files:
        with path.open("rb") as file:
            head = file.read(64)
        if head[:5] == b"\x7fELF\x02" and len(head) == 64:
            choice = arch.from_elf_flags(int.from_bytes(head[48:52], "little"))
            if choice is not None:
                return choice
    return None


def read_stream(path: Path) -> Stream:
    """A stream by its header and name; the tokens are read when it is decoded."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = header.parse(file.read(64), path)
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None
    agent, se, dispatch = stream_ids(path) or (-1, head.se, 0)
    return Stream(path.name, head, se, agent, dispatch, size, path=path)


def _stream_files(path: Path) -> list[Path]:
    """Streams of a path: the file itself, or those in a folder, else one folder down."""
    if path.is_file():
        return [path]
    for pattern in ("*.att", "*/*.att"):
        files = sorted(p for p in path.glob(pattern) if p.is_file())
        if files:
            return files
    return []


def _option(text: str) -> tuple[int | None, Path]:
    """``ID=PATH`` or ``PATH``."""
    head, separator, tail = text.partition("=")
    number, path = (int(head), Path(tail)) if separator and head.isdigit() else (None, Path(text))
    if not path.exists():
        raise FormatError(path, "no such listing")
    return number, path


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _counter_names(decoded: Sequence[Path]) -> list[str]:
    for path in decoded:
        names = read_json(path / "filenames.json")
        if isinstance(names, dict):
            return [str(name) for name in names.get("counter_names") or []]
    return []


def _meta_bases(meta: Mapping[str, Any]) -> dict[int, int]:
    """Load bases that a ``meta.json`` gives: {"code_object": 1, "load_base": address}."""
    base = meta.get("load_base")
    return {int(meta.get("code_object", 1)): base} if isinstance(base, int) else {}
