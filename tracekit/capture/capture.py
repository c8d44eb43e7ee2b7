"""A Capture: the streams, listings and metadata that belong together on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import TracekitError
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing
from tracekit.sqtt.header import Header

if TYPE_CHECKING:
    from tracekit.timeline import Timeline

#: Size assumed of a code object whose load base came without one: any kernel fits.
_UNKNOWN_SIZE = 1 << 32


@dataclass(frozen=True)
class Stream:
    """One raw stream: a shader engine of one trace."""

    name: str
    header: Header
    se: int
    agent: int
    dispatch: int
    size: int
    path: Path | None = None
    data: bytes | None = None

    def read(self) -> bytes:
        if self.data is not None:
            return self.data
        assert self.path is not None
        return self.path.read_bytes()


@dataclass
class Capture:
    """What was found; ``timeline`` decodes it.

    ``listing`` has what listings on disk say; ``code_objects`` are ELF files by id that are
    disassembled for the ids that waves run.  ``load_bases`` (id -> address) override the
    load records of the streams.
    """

    name: str
    path: Path
    arch: ArchChoice
    listing: Listing
    streams: list[Stream] = field(default_factory=list)
    decoded: Path | None = None
    code_objects: dict[int, Path] = field(default_factory=dict)
    load_bases: dict[int, int] = field(default_factory=dict)
    counter_names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    simulated: bool = False
    synthetic: bool = False

    def complete_listing(self, ids: Callable[[], Iterable[int]]) -> Listing:
        """The listing, with the code objects of ``ids`` disassembled and costs set.

        ``ids`` is asked only when there are code objects to choose from.
        """
        parts = [self.listing]
        if self.code_objects:
            from tracekit.isa import elf

            for number in sorted(set(ids()) & set(self.code_objects)):
                try:
                    parts.append(elf.read(self.code_objects[number], number))
                except TracekitError as error:
                    self.notes.append(f"code object {number} was not disassembled: {error}")
        listing = Listing.concat(parts) if len(parts) > 1 else self.listing
        return listing.with_costs(self.arch.name)

    def load_size(self, number: int) -> int:
        """Bytes from the load base of a code object that belong to it."""
        addresses = sorted(self.load_bases.values())
        above = [a for a in addresses if a > self.load_bases[number]]
        return above[0] - self.load_bases[number] if above else _UNKNOWN_SIZE

    def timeline(
        self, timing: str = "exact", *, se: int | None = None, decoder: str | None = None
    ) -> Timeline:
        """Decode the capture into tables (``tracekit.timeline`` documents them).

        ``timing``: "exact" or "amd"; ``se`` restricts the work to one shader engine;
        ``decoder``: "native" or "python".  Raises ValueError for another timing,
        TracekitError when nothing in the capture can be decoded.
        """
        if timing not in ("exact", "amd"):
            raise ValueError(f"timing must be 'exact' or 'amd', not {timing!r}")
        if self.streams:
            from tracekit.assemble import assemble

            return assemble(self, timing, se, decoder)
        if self.decoded is not None:
            from tracekit.decoded import read_decoded

            return read_decoded(self, timing, se)
        raise TracekitError(f"{self.path}: neither a stream (.att) nor decoded waves to read")
