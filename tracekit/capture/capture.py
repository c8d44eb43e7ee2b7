"""A Capture: the streams, listings and metadata that belong together on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracekit.capture.archive import Place
from tracekit.capture.chip import ChipEvidence
from tracekit.capture.kernels import RunFacts
from tracekit.capture.streams import Stream
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing

__all__ = ["UNNUMBERED", "Capture", "Stream"]

#: Key of a code object that was given without its id.
UNNUMBERED = 0


@dataclass(frozen=True, eq=False)
class Capture:
    """What was found on disk, and nothing else: ``tracekit.build`` makes tables of it.

    ``listing`` has what the caller gave (``given``) or the nearest listing on disk says,
    which lies at ``listing_paths``; ``alternatives`` are farther ones.  ``code_objects``
    are ELF files by id, the likeliest first, that are disassembled for the ids that waves
    run.  ``load_bases`` (id -> address) override the load records of the streams,
    ``found_bases`` are used where a stream has none.  ``runs`` is what the profiler's own
    tables say.  ``left_out``: streams that should be here and could not be read.
    ``source_root`` moves source paths (old -> new beginning).
    """

    name: str
    path: Place
    arch: ArchChoice
    listing: Listing
    given: bool = False
    listing_paths: tuple[Place, ...] = ()
    alternatives: tuple[tuple[Place, ...], ...] = ()
    chip: ChipEvidence = field(default_factory=ChipEvidence)
    streams: tuple[Stream, ...] = ()
    left_out: tuple[str, ...] = ()
    decoded: Place | None = None
    code_objects: Mapping[int, tuple[Place, ...]] = field(default_factory=dict)
    load_bases: Mapping[int, int] = field(default_factory=dict)
    found_bases: Mapping[int, int] = field(default_factory=dict)
    runs: tuple[RunFacts, ...] = ()
    source_root: Mapping[str, str] = field(default_factory=dict)
    counter_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False
    synthetic: bool = False
