"""Streams to tables: decode each SE, stitch, time, and lay the columns side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from tracekit.sqtt.decode import decode, release_memory
from tracekit.sqtt.raw import RawStream
from tracekit.sqtt.side import wave_starts
from tracekit.tables.columns import Columns, join
from tracekit.tables.listing_tables import ListingTables
from tracekit.tables.states import exact_states
from tracekit.tables.stream_tables import STREAM_END, StreamTables, stream_registers
from tracekit.tables.timeline import COLUMNS, Timeline

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.capture.capture import Capture, Stream


def assemble(
    capture: Capture, timing: str = "exact", se: int | None = None, decoder: str | None = None
) -> Timeline:
    """The timeline of a capture with raw streams.

    ``timing``: "exact" or "amd"; ``se``: decode this shader engine only; ``decoder``:
    "native" or "python" (default: native where it was built).
    """
    streams = [s for s in capture.streams if se is None or s.se == se]
    if capture.prepared is None or capture.code_objects:
        # Which code objects are needed depends on the streams; a listing stays as it is.
        capture.prepared = ListingTables.of(
            capture.complete_listing(lambda: _objects_run(capture, streams, decoder))
        )
    tables = capture.prepared
    parts: dict[str, list[Columns]] = {name: [] for name in COLUMNS}
    notes = list(capture.notes)
    for stream, raw in _decoded(streams, decoder):
        StreamTables(capture, stream, raw, tables, timing, parts, notes).add()
        if capture.progress is not None:
            capture.progress(stream.size)
    if len(streams) > 1:
        release_memory()
    return timeline_of(capture, timing, tables, parts, notes)


def timeline_of(
    capture: Capture,
    timing: str,
    tables: ListingTables,
    parts: dict[str, list[Columns]],
    notes: list[str],
    *,
    decoded: bool = False,
) -> Timeline:
    """A timeline of the columns of all parts.

    States come with the parts where AMD's timing made them; in exact timing they follow
    from the rows.
    """
    own_states = decoded or timing == "amd"

    def table(name: str) -> pd.DataFrame:
        return join(name, parts[name], tables.texts)

    return Timeline(
        capture=capture.name,
        timing=timing,
        arch=capture.arch,
        listing=tables.listing,
        waves=table("waves"),
        instructions=table("instructions"),
        occupancy=table("occupancy"),
        markers=table("markers"),
        counters=table("counters"),
        clock=table("clock"),
        dispatches=table("dispatches"),
        streams=table("streams"),
        _states=table("states") if own_states else None,
        _make_states=exact_states,
        counter_names=list(capture.counter_names),
        notes=notes,
        simulated=capture.simulated,
        synthetic=capture.synthetic,
        decoded=decoded,
    )


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


def _objects_run(capture: Capture, streams: list[Stream], decoder: str | None) -> set[int]:
    """Ids of the code objects that traced waves enter."""
    found: set[int] = set()
    for _, raw in _decoded(streams, decoder):
        registers = stream_registers(capture, raw)
        starts = wave_starts(raw, registers)
        at = starts.position(raw.waves["start_offset"])
        found.update(starts.code_object[at].tolist())
        jumps = raw.anchors[:, 2][raw.anchors[:, 2] >= 0]
        found.update(registers.resolve(pc, STREAM_END)[0] for pc in np.unique(jumps).tolist())
    return found - {0}
