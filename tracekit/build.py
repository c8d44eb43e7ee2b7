"""Captures to timelines: the only place that knows both what lies on disk and the tables.

Each stream is decoded once: its code-object ids choose what is disassembled, then the same
raw facts are stitched, timed and laid out in columns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Unpack

from tracekit.capture.capture import Capture, Stream
from tracekit.capture.opening import OpenOptions, PathLike, captures_of
from tracekit.decoded.schema import Read, read_decoded
from tracekit.errors import TracekitError
from tracekit.evidence import Evidence, Held, Loads, evidence
from tracekit.isa.listing_costs import Costs
from tracekit.sqtt.decode import decode, release_memory
from tracekit.sqtt.raw import RawStream
from tracekit.tables.columns import join
from tracekit.tables.parts import Parts
from tracekit.tables.stream_tables import StreamFacts, StreamTables
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

#: Told the bytes of each stream that is in the tables.
Progress = Callable[[int], None]
#: A kernel that no symbol names: "code object / 0xentry".
_NAMELESS = re.compile(r"\d+ / 0x[0-9a-f]+$")


@dataclass(frozen=True, eq=False)
class OpenCapture(Capture):
    """A capture that can be decoded; ``assumed_mfma_cycles``: see ``Timeline.with_costs``."""

    assumed_mfma_cycles: int | None = None

    def timeline(
        self,
        timing: str = "exact",
        *,
        se: int | None = None,
        decoder: str | None = None,
        progress: Progress | None = None,
    ) -> Timeline:
        """Decode the capture into tables (``tracekit.tables.schema`` documents them).

        ``timing``: "exact" or "amd"; ``se`` restricts the work to one shader engine;
        ``decoder``: "native" or "python" (default: native where it was built);
        ``progress`` is told the bytes of each stream done.  Raises ValueError for another
        timing, TracekitError when nothing in the capture can be decoded.
        """
        if timing not in ("exact", "amd"):
            raise ValueError(f"timing must be 'exact' or 'amd', not {timing!r}")
        if self.streams:
            streams = [s for s in self.streams if se is None or s.se == se]
            made = _of_streams(self, timing, _decoded(streams, decoder), progress)
            if len(streams) > 1:
                release_memory()
        elif self.decoded is not None:
            made = _of_directory(self, timing, se)
        else:
            raise TracekitError(f"{self.path}: neither a stream (.att) nor decoded waves to read")
        if self.assumed_mfma_cycles is None:
            return made
        return made.with_costs(assumed_mfma_cycles=self.assumed_mfma_cycles)


def open_capture(
    path: PathLike | Sequence[PathLike], **options: Unpack[OpenOptions]
) -> OpenCapture:
    """Open a capture: an ``.att`` stream, several, a directory or an archive of them.

    A directory (or .zip, .tar, .tar.gz, .tar.zst) may hold streams, also further down as
    rocprofv3 leaves them, or be a decoded ``ui_output_*`` directory; where both are there
    the streams are decoded and the decoded files serve as listing.  Options: ``listing``:
    paths of a code.json, a ui_output directory or an ELF code object, each optionally as
    "ID=PATH"; ``load_base``: code object id -> address where it was loaded; ``arch``: used
    when nothing in the capture tells it; ``source_root``: old -> new beginning of source
    paths; ``assume_mfma_cycles``: cycles of MFMAs whose opcode is not known; ``depth``:
    folders below the path that are searched.

    Raises TracekitError (FormatError) when there is nothing to read or more than one
    capture (``open_all`` gives them all).
    """
    captures = open_all(path, **options)
    if len(captures) > 1:
        names = ", ".join(str(c.path) for c in captures[:8])
        more = f" and {len(captures) - 8} more" if len(captures) > 8 else ""
        raise TracekitError(f"{path}: holds {len(captures)} captures; name one of {names}{more}")
    return captures[0]


def open_all(
    path: PathLike | Sequence[PathLike], **options: Unpack[OpenOptions]
) -> list[OpenCapture]:
    """All captures of a path, in order of their folders; options as ``open_capture``.

    Streams given one by one are one capture.  Raises TracekitError when there is none.
    """
    assumed = options.get("assume_mfma_cycles")
    return [opened(each, assumed) for each in captures_of(path, **options)]


def opened(capture: Capture, assumed_mfma_cycles: int | None = None) -> OpenCapture:
    """A capture that can be decoded, of what was found on disk."""
    found = {field.name: getattr(capture, field.name) for field in fields(capture)}
    return OpenCapture(**found, assumed_mfma_cycles=assumed_mfma_cycles)


def _of_streams(
    capture: Capture,
    timing: str,
    raws: Iterator[tuple[Stream, RawStream]],
    progress: Progress | None,
) -> Timeline:
    held = _held(capture, raws)
    found = evidence(capture, held)
    # What is in the tables is not held any longer.
    streams = chain((held.pop(0) for _ in range(len(held))), (Held.of(*each) for each in raws))
    parts, loads = Parts(), Loads()
    for each in streams:
        stream = each.stream
        loads.take(each)
        facts = StreamFacts(
            stream.name, stream.se, stream.dispatch, stream.size,
            stream.header.target_cu, stream.header.simd_mask,
        )  # fmt: skip
        registers = found.placement.applied(each.registers)
        parts.take(StreamTables(facts, each.raw, registers, found.tables, timing).parts())
        if progress is not None:
            progress(stream.size)
    parts.notes += loads.notes
    return _timeline(capture, timing, found, parts)


def _held(capture: Capture, raws: Iterator[tuple[Stream, RawStream]]) -> list[Held]:
    """Streams decoded before the listing is chosen.

    Code objects are disassembled for what any stream runs: then all of them; else those up
    to the first that has instructions.
    """
    held: list[Held] = []
    for stream, raw in raws:
        held.append(Held.of(stream, raw))
        if not capture.code_objects and raw.waves["count"].any():
            break
    return held


def _of_directory(capture: Capture, timing: str, se: int | None) -> Timeline:
    assert capture.decoded is not None
    found = evidence(capture, ())
    read = read_decoded(capture.decoded, found.tables, timing, se)
    return _timeline(capture, timing, found, read.parts, read)


def _timeline(
    capture: Capture, timing: str, found: Evidence, parts: Parts, read: Read | None = None
) -> Timeline:
    """A timeline of the pieces of all streams, or of what was ``read`` of a directory.

    States come with the parts where AMD's timing made them; in exact timing they follow
    from the rows.
    """
    source, tables = found.source, found.tables

    def table(name: str) -> pd.DataFrame:
        return join(name, parts[name], tables.texts)

    own_states = read is not None or timing == "amd"
    chip, chip_notes = found.chip(capture)
    return Timeline(
        capture=capture.name,
        timing=timing,
        arch=chip,
        listing=source.listing,
        costs=Costs.of(source.listing.text, chip.name),
        waves=table("waves"),
        executed=table("instructions"),
        occupancy=table("occupancy"),
        markers=table("markers"),
        counters=table("counters"),
        clock=table("clock"),
        dispatches=_named(found.kernel_names, table("dispatches")),
        streams=table("streams"),
        own_states=table("states") if own_states else None,
        counter_names=capture.counter_names,
        marker_names=source.marker_names,
        decode_notes=tuple(
            dict.fromkeys((*capture.notes, *chip_notes, *found.notes, *parts.notes))
        ),
        simulated=capture.simulated,
        synthetic=capture.synthetic,
        streams_left_out=capture.left_out,
        **({} if read is None else asdict(read.losses) | {"decoded": True}),
    )


def _named(kernel_names: Mapping[int, str], dispatches: pd.DataFrame) -> pd.DataFrame:
    """Names from the profiler's tables for dispatches that no symbol names."""
    if not kernel_names or not len(dispatches):
        return dispatches
    pairs = zip(dispatches["dispatch"].tolist(), dispatches["kernel"].tolist(), strict=True)
    names = [
        kernel_names.get(number, name) if _NAMELESS.match(name) else name for number, name in pairs
    ]
    return dispatches.assign(kernel=names)


def _decoded(streams: list[Stream], decoder: str | None) -> Iterator[tuple[Stream, RawStream]]:
    """Decode ahead on all cores, but hold no more than a few results."""
    workers = min(len(streams), os.cpu_count() or 1) or 1

    def work(stream: Stream) -> RawStream:
        return decode(stream.read(), stream.header.target_cu, decoder)

    if workers == 1:
        for stream in streams:
            yield stream, work(stream)
        return
    with ThreadPoolExecutor(workers) as pool:
        queue: list[tuple[Stream, Future[RawStream]]] = []
        for stream in streams:
            queue.append((stream, pool.submit(work, stream)))
            if len(queue) > workers:
                first, result = queue.pop(0)
                yield first, result.result()
                del result
        while queue:
            first, result = queue.pop(0)
            yield first, result.result()
