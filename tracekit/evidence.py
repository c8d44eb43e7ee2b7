"""What decoded streams prove about the files beside them: which listing is theirs.

A listing is tried on the waves of one stream.  Where an instruction does not fit, farther
listings are tried too, and the best is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracekit.capture.archive import Place
from tracekit.capture.belonging import Seen, against_run
from tracekit.capture.capture import Capture, Stream
from tracekit.capture.disassembly import Disassembly, Sources
from tracekit.capture.kernels import RunFacts
from tracekit.isa.arch import ArchChoice
from tracekit.sqtt.raw import RawStream
from tracekit.sqtt.registers import LoadedObject, Registers, read_registers
from tracekit.sqtt.side import wave_starts
from tracekit.sqtt.stitch import stitch
from tracekit.tables.listing_tables import ListingTables
from tracekit.tables.stream_tables import STREAM_END

#: Waves of a stream on which a listing is tried, those with most instructions.
_SAMPLE = 16
#: Below this share of the sampled instructions a note names the listing: the check of the
#: capture calls it fatal then (checks.soundness.STITCHED).
GOOD_FIT = 0.9
#: Size assumed of a code object whose load base came without one: any kernel fits.
_UNKNOWN_SIZE = 1 << 32


@dataclass(frozen=True)
class Held:
    """A decoded stream with its own register writes."""

    stream: Stream
    raw: RawStream
    registers: Registers

    @classmethod
    def of(cls, stream: Stream, raw: RawStream) -> Held:
        return cls(stream, raw, read_registers(raw))


@dataclass(frozen=True)
class Placement:
    """Where code objects are: ``given`` overrides the streams, ``found`` fills what they lack."""

    given: dict[int, int]
    found: dict[int, int]

    def applied(self, own: Registers) -> Registers:
        """The register writes of a stream, with the load bases that others tell."""
        told = [_loaded(number, at, self.given) for number, at in reversed(self.given.items())]
        kept = [each for each in own.objects if each.id not in self.given]
        known = {each.id for each in (*told, *kept)}
        more = [
            _loaded(number, at, self.found)
            for number, at in self.found.items()
            if number not in known
        ]
        return replace(own, objects=[*told, *kept, *more])


def _loaded(number: int, address: int, all_bases: dict[int, int]) -> LoadedObject:
    """A code object that lasts to the next one above it."""
    above = [other for other in all_bases.values() if other > address]
    size = min(above) - address if above else _UNKNOWN_SIZE
    return LoadedObject(number, address, size, True, 0)


@dataclass(frozen=True)
class Evidence:
    """The files that belong to the streams of a capture, and notes on those that do not."""

    placement: Placement
    source: Disassembly
    tables: ListingTables
    kernel_names: dict[int, str]
    dropped: frozenset[object]
    notes: tuple[str, ...]

    def chip(self, capture: Capture) -> tuple[ArchChoice, tuple[str, ...]]:
        """The chip by what belongs to the capture, and notes on what says another."""
        kept = tuple(each for each in capture.chip.files if each.path not in self.dropped)
        told = replace(capture.chip, files=kept)
        if self.source.objects:
            return told.choose(self.source.told, self.source.objects, proven=True)
        return told.choose(self.source.told, _all_objects(capture))


def evidence(capture: Capture, held: Sequence[Held]) -> Evidence:
    """What belongs to the capture, by ``held``: its streams, or some of them."""
    notes: list[str] = []
    runs, dropped = _runs(capture, held, notes)
    found = dict(capture.found_bases)
    for run in runs:
        found = run.load_bases | found
    placement = Placement(dict(capture.load_bases), found)
    seen = _seen(held, placement)
    sources = Sources(capture, seen)
    sample = _sample(held)
    source, tables = _best(capture, sources, sample, placement, notes)
    notes = [*notes, *sources.notes, *source.notes]
    return Evidence(
        placement, source, tables, _kernel_names(runs, notes), frozenset(dropped), tuple(notes)
    )


class Loads:
    """Where each stream has a code object: streams of one process have it at one place."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[int, str]] = {}
        self.notes: list[str] = []

    def take(self, held: Held) -> None:
        for each in held.registers.objects:
            address, name = self._first.setdefault(each.id, (each.address, held.stream.name))
            if address != each.address and not self.notes:
                self.notes.append(
                    f"{name} and {held.stream.name} have code object {each.id} at different "
                    "addresses: they are of different runs, give them one by one"
                )


def _all_objects(capture: Capture) -> list[Place]:
    return [path for paths in capture.code_objects.values() for path in paths]


def _runs(
    capture: Capture, held: Sequence[Held], notes: list[str]
) -> tuple[list[RunFacts], list[object]]:
    """Files of profiler runs that the streams do not contradict, and those that they do."""
    if not capture.runs:
        return [], []
    seen = _seen(held, Placement(dict(capture.load_bases), {}))
    kept: list[RunFacts] = []
    dropped: list[object] = []
    for run in capture.runs:
        reason = against_run(run, seen)
        if reason is None:
            kept.append(run)
        else:
            dropped.append(run.path)
            notes.append(f"{run.path}: of another run, not used: {reason}")
    return kept, dropped


def _kernel_names(runs: Sequence[RunFacts], notes: list[str]) -> dict[int, str]:
    """Names by dispatch id: the nearest file's; where equally good ones differ, none."""
    names: dict[int, str] = {}
    by: dict[int, RunFacts] = {}
    for run in runs:
        for number, name in run.kernels.items():
            first = by.setdefault(number, run)
            same_place = first.path.parent == run.path.parent and first.proven == run.proven
            if names.setdefault(number, name) != name and same_place:
                names[number] = ""
                note = f"{first.path} and {run.path} name dispatch {number} differently: not used"
                notes.append(note)
    return {number: name for number, name in names.items() if name}


def _seen(held: Sequence[Held], placement: Placement) -> Seen:
    loaded: dict[int, tuple[int, int]] = {}
    entries: dict[int, set[int]] = {}
    run: set[int] = set()
    workgroups: dict[int, tuple[int, int, int]] = {}
    for each in held:
        stream, raw, own = each.stream, each.raw, each.registers
        registers = placement.applied(own)
        for found in own.objects:
            if found.id not in placement.given:
                loaded.setdefault(found.id, (found.address, found.size))
        starts = wave_starts(raw, registers)
        at = starts.position(raw.waves["start_offset"])
        for number, entry in zip(
            starts.code_object[at].tolist(), starts.entry[at].tolist(), strict=True
        ):
            entries.setdefault(number, set()).add(entry)
        run |= set(entries)
        jumps = raw.anchors[:, 2][raw.anchors[:, 2] >= 0]
        run |= {registers.resolve(pc, STREAM_END)[0] for pc in np.unique(jumps).tolist()}
        if len(own.dispatches) == 1 and stream.agent >= 0 and all(own.dispatches[0].threads):
            workgroups.setdefault(stream.dispatch, own.dispatches[0].threads)
    entries.pop(0, None)
    return Seen(
        loaded, {n: frozenset(e) for n, e in entries.items()}, frozenset(run - {0}), workgroups
    )


def _sample(held: Sequence[Held]) -> Held | None:
    """The longest waves of the first stream that has instructions."""
    for each in held:
        count = each.raw.waves["count"]
        if len(count) and count.any():
            break
    else:
        return None
    raw = each.raw
    longest = np.sort(np.argsort(count, kind="stable")[-_SAMPLE:])
    order = np.full(len(count), -1)
    order[longest] = np.arange(len(longest))
    anchors = raw.anchors[order[raw.anchors[:, 0]] >= 0].copy()
    anchors[:, 0] = order[anchors[:, 0]]
    waves = {name: values[longest] for name, values in raw.waves.items()}
    return replace(each, raw=replace(raw, waves=waves, anchors=anchors))


def _best(
    capture: Capture, sources: Sources, sample: Held | None, placement: Placement,
    notes: list[str],
) -> tuple[Disassembly, ListingTables]:  # fmt: skip
    """The first listing that fits all of the sample, else the one that fits most."""
    best: tuple[Disassembly, ListingTables] | None = None
    best_fit = (-1.0, 0)
    for each in sources.candidates():
        tables = ListingTables.of(each.listing)
        if capture.given or sample is None:
            return each, tables
        fit = _fit(sample, tables, placement)
        if fit > best_fit:
            best, best_fit = (each, tables), fit
        if fit == (1.0, 0):
            break
    assert best is not None
    source, tables = best
    where = ", ".join(map(str, (*source.paths, *source.objects)))
    if best[0].paths != capture.listing_paths and capture.listing_paths and len(capture.listing):
        first = ", ".join(map(str, capture.listing_paths))
        notes.append(f"{first}: not used, {where or 'nothing'} fits the instructions better")
    elif len(source.listing) and best_fit[0] < GOOD_FIT:
        notes.append(f"{where}: fits {100 * best_fit[0]:.1f} % of the instructions looked at")
    return best


def _fit(sample: Held, tables: ListingTables, placement: Placement) -> tuple[float, int]:
    """Share of the sampled instructions that the listing fits, and minus the searches for it."""
    raw, registers = sample.raw, placement.applied(sample.registers)
    starts = wave_starts(raw, registers)
    at = starts.position(raw.waves["start_offset"])
    rows = tables.listing.rows_of(starts.code_object[at], starts.entry[at])
    anchors = [
        tables.listing.row_of(*(registers.resolve(pc, STREAM_END) if pc >= 0 else (0, -1)))
        for pc in raw.anchors[:, 2].tolist()
    ]
    made = stitch(raw, tables.stitch, rows, np.array(anchors, np.int32))
    total = int(raw.waves["count"].sum())
    return int(made.stitched.sum()) / total, -int(made.resynchronised.sum())
