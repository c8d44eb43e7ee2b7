"""What a timeline viewer shows: tracks of slices and counters, from one Timeline.

SE > CU > SIMD > {matrix, vector, bubbles, slot}: the form that the formats write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.causes import CAUSES
from tracekit.analysis.model.activity import activity, codes
from tracekit.analysis.model.markers import scopes
from tracekit.analysis.model.simds import Simd, each_simd, matrix_use, vector_use
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]


@dataclass
class Track:
    """Slices [start, end) in cycles with ``names[name]``, or values of a counter.

    ``path``: names from the outside in.  Slices are sorted and nest or are disjoint.
    """

    path: tuple[str, ...]
    start: Array
    end: Array
    name: NDArray[np.int64]
    names: list[str] = field(default_factory=list)
    counter: bool = False


def tracks(analysis: Analysis) -> Iterator[Track]:
    """All tracks of a timeline, parents before children."""
    timeline = analysis.timeline
    painted = {
        (each.simd.se, each.simd.dispatch, each.simd.simd): each
        for each in analysis.in_window("span").causes.simds
    }
    table = codes(timeline.listing, timeline.costs)
    for simd in each_simd(timeline):
        place = (f"SE {simd.se}", f"CU {simd.cu}", f"SIMD {simd.simd}")
        if simd.dispatch >= 0 and timeline.streams["dispatch"].nunique() > 1:
            place = (*place[:2], f"SIMD {simd.simd}, dispatch {simd.dispatch}")
        yield from _pipes(timeline, simd, place)
        each = painted.get((simd.se, simd.dispatch, simd.simd))
        if each is not None:
            yield Track(
                (*place, "matrix idle"), each.start, each.end, each.cause.astype(np.int64),
                list(CAUSES),
            )  # fmt: skip
        doing = activity(timeline, simd, table)
        for slot in np.unique(doing.key >> 32).tolist():
            yield _slot(timeline, simd, place, slot)
    yield from _markers(timeline)
    yield from _counters(timeline)


def _pipes(timeline: Timeline, simd: Simd, place: tuple[str, ...]) -> Iterator[Track]:
    """Execution on the matrix pipe and on the vector port (two lanes for paired VALU)."""
    use = matrix_use(simd)
    texts = timeline.listing.text
    names = [text.split(None, 1)[0] for text in texts] + ["(unknown)"]
    short = sorted(set(names))
    number = np.array([short.index(name) for name in names], np.int64)
    yield Track((*place, "matrix pipe"), use.start, _cut(use.start, use.end),
                number[simd.row[use.order]], short)  # fmt: skip
    rows = np.flatnonzero((simd.pipe == Pipe.VECTOR) & (simd.cycles > 0))
    start, end = vector_use(simd)
    order = np.argsort(start, kind="stable")
    start, end, row = start[order], end[order], simd.row[rows[order]]
    # A tick that two waves share goes to a second lane.
    second = np.append(False, start[1:] < np.maximum.accumulate(end)[:-1])[: len(start)]
    for label, part in (("vector pipe", ~second), ("vector pipe, paired", second)):
        if part.any():
            yield Track((*place, label), start[part], _cut(start[part], end[part]),
                        number[row[part]], short)  # fmt: skip


def _cut(start: Array, end: Array) -> Array:
    """Ends that do not pass the next start."""
    result: Array = np.minimum(end, np.append(start[1:], np.iinfo(np.int64).max))
    return result


def _slot(timeline: Timeline, simd: Simd, place: tuple[str, ...], slot: int) -> Track:
    """Instructions of the waves of one slot: from first attempt to the end of the cost."""
    rows = np.flatnonzero(simd.wave_key >> 32 == slot)
    rows = rows[np.argsort(simd.time[rows], kind="stable")]
    start, end = simd.time[rows], simd.end[rows]
    row = simd.row[rows].astype(np.int64)
    names = [*timeline.listing.text, "(no program counter)"]
    kept = end > start
    start, end, row = start[kept], end[kept], row[kept]
    return Track((*place, f"slot {slot}"), start, _cut(start, end),
                 np.where(row < 0, len(names) - 1, row), names)  # fmt: skip


def _markers(timeline: Timeline) -> Iterator[Track]:
    """Marker scopes per wave slot: they nest."""
    table = scopes(timeline)
    for key, part in table.groupby(["se", "cu", "simd", "slot"], sort=True):
        se, cu, simd, slot = (str(value) for value in np.asarray(key).tolist())
        part = part.sort_values(["begin", "depth"])
        names = sorted(set(part["name"]))
        yield Track(
            (f"SE {se}", f"CU {cu}", f"SIMD {simd}", f"slot {slot} markers"),
            part["begin"].to_numpy(), part["end"].to_numpy(),
            np.array([names.index(name) for name in part["name"]], np.int64), names,
        )  # fmt: skip


def _counters(timeline: Timeline) -> Iterator[Track]:
    """SQ counters: counts since the sample before."""
    table = timeline.counters
    places = table[["se", "cu", "bank"]].drop_duplicates().to_numpy().tolist()
    names = timeline.counter_names
    for se, cu, bank in sorted(places):
        part = table[(table["se"] == se) & (table["cu"] == cu) & (table["bank"] == bank)]
        time = part["time"].to_numpy()
        for column in range(4):
            number = 4 * bank + column
            value = part[f"c{column}"].to_numpy().astype(np.int64)
            if number < len(names) or value.any():
                label = names[number] if number < len(names) else f"counter {number}"
                yield Track((f"SE {se}", f"CU {cu}", label), time, time, value, counter=True)
