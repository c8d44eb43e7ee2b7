"""A Capture: the streams, listings and metadata that belong together on disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracekit.capture.archive import Place
from tracekit.capture.sources import moved_sources
from tracekit.capture.streams import Stream
from tracekit.errors import TracekitError
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing

if TYPE_CHECKING:
    from tracekit.tables.listing_tables import ListingTables
    from tracekit.tables.timeline import Timeline

__all__ = ["Capture", "Stream"]

#: Key of a code object that was given without its id.
UNNUMBERED = 0
#: Size assumed of a code object whose load base came without one: any kernel fits.
_UNKNOWN_SIZE = 1 << 32
#: A kernel that no symbol names: "code object / 0xentry".
_NAMELESS = re.compile(r"\d+ / 0x[0-9a-f]+$")


@dataclass
class Capture:
    """What was found; ``timeline`` decodes it.

    ``listing`` has what listings on disk say; ``code_objects`` are ELF files by id that are
    disassembled for the ids that waves run.  ``load_bases`` (id -> address) override the
    load records of the streams.  ``kernel_names`` (dispatch id -> name) come from the
    profiler's own tables; ``source_root`` moves source paths (old -> new beginning).
    """

    name: str
    path: Place
    arch: ArchChoice
    listing: Listing
    streams: list[Stream] = field(default_factory=list)
    decoded: Place | None = None
    code_objects: dict[int, Place] = field(default_factory=dict)
    load_bases: dict[int, int] = field(default_factory=dict)
    kernel_names: dict[int, str] = field(default_factory=dict)
    source_root: dict[str, str] = field(default_factory=dict)
    counter_names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    simulated: bool = False
    synthetic: bool = False
    #: Cycles that hold for every MFMA whose opcode is not known (no listing, no table entry).
    assume_mfma_cycles: int | None = None
    #: Told the bytes of each stream that is in the tables.
    progress: Callable[[int], None] | None = field(default=None, repr=False)
    #: Made of the listing by the first timeline, for those that follow.
    prepared: ListingTables | None = field(default=None, repr=False)
    #: Names of trace markers by id, filled as code objects are read.
    marker_names: dict[int, str] = field(default_factory=dict)

    def complete_listing(self, ids: Callable[[], Iterable[int]]) -> Listing:
        """The listing, with the code objects of ``ids`` disassembled and costs set.

        ``ids`` is asked only when there are code objects to choose from.
        """
        parts = [self.listing]
        if self.code_objects:
            wanted = set(ids())
            self._number(wanted)
            for number in sorted(wanted & set(self.code_objects)):
                try:
                    parts.append(self._read_code_object(number))
                except TracekitError as error:
                    if number not in self.listing.code_object:
                        self.notes.append(f"code object {number} was not disassembled: {error}")
        listing = Listing.concat(parts) if len(parts) > 1 else self.listing
        return listing.with_costs(self.arch.name)

    def _number(self, wanted: set[int]) -> None:
        """Give a code object without id the one that waves run and no other file has."""
        if UNNUMBERED not in self.code_objects:
            return
        path = self.code_objects.pop(UNNUMBERED)
        open_ids = sorted(wanted - set(self.code_objects))
        if len(open_ids) == 1:
            self.code_objects[open_ids[0]] = path
            return
        run = ", ".join(map(str, open_ids)) or "none that is known"
        self.notes.append(
            f"{path}: which code object it is cannot be told (waves run {run}): give --listing "
            "ID=PATH, and --load-base ID=ADDR where the stream has no load record"
        )

    def _read_code_object(self, number: int) -> Listing:
        from tracekit.isa import elf
        from tracekit.isa.funcmap import marker_names

        path = self.code_objects[number]
        found = elf.CodeObject(path)
        self.marker_names |= marker_names(found.funcmap() or "")
        return moved_sources(found.listing(number), self.source_root)

    def load_size(self, number: int) -> int:
        """Bytes from the load base of a code object that belong to it."""
        addresses = sorted(self.load_bases.values())
        above = [a for a in addresses if a > self.load_bases[number]]
        return above[0] - self.load_bases[number] if above else _UNKNOWN_SIZE

    def timeline(
        self, timing: str = "exact", *, se: int | None = None, decoder: str | None = None
    ) -> Timeline:
        """Decode the capture into tables (``tracekit.tables.timeline`` documents them).

        ``timing``: "exact" or "amd"; ``se`` restricts the work to one shader engine;
        ``decoder``: "native" or "python".  Raises ValueError for another timing,
        TracekitError when nothing in the capture can be decoded.
        """
        if timing not in ("exact", "amd"):
            raise ValueError(f"timing must be 'exact' or 'amd', not {timing!r}")
        if self.streams:
            from tracekit.build import assemble

            made = assemble(self, timing, se, decoder)
        elif self.decoded is not None:
            from tracekit.decoded.schema import read_decoded

            made = read_decoded(self, timing, se)
        else:
            raise TracekitError(f"{self.path}: neither a stream (.att) nor decoded waves to read")
        made.marker_names = dict(self.marker_names)
        if self.assume_mfma_cycles is not None:
            made.assume_mfma_cycles(self.assume_mfma_cycles)
        self._name_kernels(made)
        return made

    def _name_kernels(self, timeline: Timeline) -> None:
        """Names from the profiler's tables for dispatches that no symbol names."""
        table = timeline.dispatches
        if not self.kernel_names or not len(table):
            return
        pairs = zip(table["dispatch"].tolist(), table["kernel"].tolist(), strict=True)
        table["kernel"] = [
            self.kernel_names.get(number, name) if _NAMELESS.match(name) else name
            for number, name in pairs
        ]
