"""A Capture: the streams, listings and metadata that belong together on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracekit.capture.archive import Place
from tracekit.capture.streams import Stream
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing

__all__ = ["UNNUMBERED", "Capture", "Stream"]

#: Key of a code object that was given without its id.
UNNUMBERED = 0
#: Size assumed of a code object whose load base came without one: any kernel fits.
_UNKNOWN_SIZE = 1 << 32


@dataclass(frozen=True, eq=False)
class Capture:
    """What was found on disk, and nothing else: ``tracekit.build`` makes tables of it.

    ``listing`` has what listings on disk say; ``code_objects`` are ELF files by id that are
    disassembled for the ids that waves run.  ``load_bases`` (id -> address) override the
    load records of the streams.  ``kernel_names`` (dispatch id -> name) come from the
    profiler's own tables; ``source_root`` moves source paths (old -> new beginning).
    """

    name: str
    path: Place
    arch: ArchChoice
    listing: Listing
    streams: tuple[Stream, ...] = ()
    decoded: Place | None = None
    code_objects: Mapping[int, Place] = field(default_factory=dict)
    load_bases: Mapping[int, int] = field(default_factory=dict)
    kernel_names: Mapping[int, str] = field(default_factory=dict)
    source_root: Mapping[str, str] = field(default_factory=dict)
    counter_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False
    synthetic: bool = False

    def load_size(self, number: int) -> int:
        """Bytes from the load base of a code object that belong to it."""
        addresses = sorted(self.load_bases.values())
        above = [a for a in addresses if a > self.load_bases[number]]
        return above[0] - self.load_bases[number] if above else _UNKNOWN_SIZE
