"""The listing of a capture, with the code objects disassembled that its waves run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tracekit.capture.archive import Place
from tracekit.capture.capture import UNNUMBERED, Capture
from tracekit.capture.sources import moved_sources
from tracekit.errors import TracekitError
from tracekit.isa import elf
from tracekit.isa.funcmap import marker_names
from tracekit.isa.listing import Listing


@dataclass(frozen=True)
class Disassembly:
    """``marker_names``: names of trace markers by id, from the code objects' function maps."""

    listing: Listing
    marker_names: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def disassembly(capture: Capture, run: Iterable[int]) -> Disassembly:
    """The capture's listing and the code objects of the ids ``run``, in one."""
    wanted = set(run)
    objects, notes = _numbered(capture, wanted)
    parts = [capture.listing]
    names: dict[int, str] = {}
    for number in sorted(wanted & set(objects)):
        try:
            found = elf.CodeObject(objects[number])
            parts.append(moved_sources(found.listing(number), capture.source_root))
            names |= marker_names(found.funcmap() or "")
        except TracekitError as error:
            if number not in capture.listing.code_object:
                notes.append(f"code object {number} was not disassembled: {error}")
    listing = Listing.concat(parts) if len(parts) > 1 else capture.listing
    return Disassembly(listing, names, tuple(notes))


def _numbered(capture: Capture, wanted: set[int]) -> tuple[dict[int, Place], list[str]]:
    """Code objects by id; one that was given without takes the id that no other file has."""
    objects = dict(capture.code_objects)
    if UNNUMBERED not in objects:
        return objects, []
    path = objects.pop(UNNUMBERED)
    open_ids = sorted(wanted - set(objects))
    if len(open_ids) == 1:
        return objects | {open_ids[0]: path}, []
    run = ", ".join(map(str, open_ids)) or "none that is known"
    return objects, [
        f"{path}: which code object it is cannot be told (waves run {run}): give --listing "
        "ID=PATH, and --load-base ID=ADDR where the stream has no load record"
    ]
