"""The instructions of all waves as columns, wave by wave, whatever the SIMD.

Analyses that follow one wave to another (barriers, queues of outstanding memory operations)
need all of them side by side; a wave is an index here and its rows are a slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.simds import Simd, each_simd
from tracekit.isa.listing import Pipe
from tracekit.isa.listing_costs import Costs
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]
#: Above every time: "never".
NEVER = int(np.iinfo(np.int64).max) // 4
#: Columns that are enough to name a wave of a timeline.
_NAMES = ("se", "dispatch", "simd", "slot", "wave")


@dataclass(frozen=True)
class Waves:
    """All traced waves, sorted by se, dispatch, simd, slot, wave.

    ``number`` is the n-th wave of its slot; ``begin`` and ``end`` are WAVE_START and WAVE_END
    in cycles; ``simd_of`` numbers (se, dispatch, simd); ``rows`` (one longer) are the offsets
    of each wave's slice of the rows, empty where it has no instruction.
    """

    se: Array
    cu: Array
    simd: Array
    dispatch: Array
    slot: Array
    number: Array
    begin: Array
    end: Array
    flags: Array
    simd_of: Array
    rows: Array

    def __len__(self) -> int:
        return len(self.se)


@dataclass(frozen=True)
class Rows:
    """Executed instructions, sorted by wave and program order (n of each).

    ``at``: position in the timeline's instruction table; ``row``: of the listing, -1 without;
    ``time``: first attempt; ``issue`` (of what runs inside the wave: its completion);
    ``arrival``: time + stall, where an s_barrier arrives in exact timing; ``end``: end of the
    issue cost; ``cycles``: what the table says that its pipe is held, -1 unknown.  Times are
    cycles.
    """

    waves: Waves
    simds: list[Simd]
    at: Array
    wave: Array
    row: Array
    time: Array
    issue: Array
    arrival: Array
    end: Array
    pipe: NDArray[np.uint8]
    cycles: Array
    tolerant: bool  # times are AMD's
    costs: Costs  # of the listing's rows

    def __len__(self) -> int:
        return len(self.at)

    @cached_property
    def span(self) -> tuple[int, int]:
        """[first, last) cycle of anything that a wave or row does."""
        parts: list[Array] = [self.waves.begin, self.waves.end, self.time, self.end]
        edges = [part for part in parts if len(part)]
        if not edges:
            return 0, 1
        return min(int(e.min()) for e in edges), max(int(e.max()) for e in edges) + 1

    @cached_property
    def stride(self) -> int:
        """More than any two times of the timeline lie apart, for keys of (number, time)."""
        first, last = self.span
        return (last - first + 1024) * 2

    def key(self, number: Array, time: Array) -> Array:
        """Sortable keys of (number, time), for times anywhere (they are clipped to the span)."""
        first, last = self.span
        result: Array = number * self.stride + (np.clip(time, first - 512, last + 512) - first)
        return result

    def number(self, simd: Simd) -> int:
        """The number that ``waves.simd_of`` gives to the waves of ``simd``."""
        waves = self.waves
        mine = (waves.se == simd.se) & (waves.simd == simd.simd) & (waves.dispatch == simd.dispatch)
        return int(waves.simd_of[np.argmax(mine)])

    def previous(self, mask: NDArray[np.bool_]) -> Array:
        """Per row the last row before it, in its wave, with ``mask``; -1 without one."""
        marks = np.where(mask, np.arange(len(mask)), -1)
        last = np.append(-1, np.maximum.accumulate(marks)[:-1])[: len(mask)]
        return np.where(last >= self.waves.rows[self.wave], last, -1)

    @cached_property
    def first_of_wave(self) -> NDArray[np.bool_]:
        """Rows with which a wave begins."""
        return np.append(True, self.wave[1:] != self.wave[:-1])[: len(self.wave)]

    @cached_property
    def mfmas(self) -> NDArray[np.intp]:
        """Rows that are MFMAs, by wave and then by issue."""
        rows = np.flatnonzero(self.pipe == Pipe.MATRIX)
        return rows[np.lexsort((self.issue[rows], self.wave[rows]))]


def rows_of(timeline: Timeline) -> Rows:
    """The rows and waves of ``timeline``."""
    simds = list(each_simd(timeline))
    table = timeline.waves
    names = [table[name].to_numpy().astype(np.int64) for name in _NAMES]
    order = np.lexsort(names[::-1])
    columns = [column[order] for column in names]
    fresh = np.zeros(len(order), bool)
    for column in columns[:3]:
        fresh[1:] |= column[1:] != column[:-1]
    simd_of = np.cumsum(fresh) if len(fresh) else np.zeros(0, np.int64)

    def joined(name: str) -> Array:
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *(getattr(s, name).astype(np.int64) for s in simds)])

    at = joined("rows")

    def table_at(name: str) -> Array:
        return timeline.executed[name].to_numpy()[at].astype(np.int64)

    wave_key = joined("wave_key")
    sizes = [len(simd.rows) for simd in simds]
    place = [np.repeat(np.array([getattr(s, n) for s in simds], np.int64), sizes)
             for n in ("se", "dispatch", "simd")]  # fmt: skip
    wave = _find(columns, [*place, wave_key >> 32, wave_key & 0xFFFFFFFF])
    waves = Waves(
        se=columns[0],
        cu=table["cu"].to_numpy().astype(np.int64)[order],
        simd=columns[2],
        dispatch=columns[1],
        slot=columns[3],
        number=columns[4],
        begin=table["begin"].to_numpy().astype(np.int64)[order],
        end=table["end"].to_numpy().astype(np.int64)[order],
        flags=table["flags"].to_numpy().astype(np.int64)[order],
        simd_of=simd_of.astype(np.int64),
        rows=np.searchsorted(wave, np.arange(len(order) + 1)).astype(np.int64),
    )
    return Rows(
        waves=waves,
        simds=simds,
        at=at,
        wave=wave,
        row=joined("row"),
        time=joined("time"),
        issue=joined("issue"),
        arrival=table_at("time") + table_at("stall"),
        end=joined("end"),
        pipe=joined("pipe").astype(np.uint8),
        cycles=joined("cycles"),
        tolerant=timeline.decoded or timeline.timing == "amd",
        costs=timeline.costs,
    )


def _find(table: list[Array], wanted: list[Array]) -> Array:
    """Positions of the tuples ``wanted`` in the sorted, distinct tuples of ``table``.

    Both are sorted alike, so only the rows where ``wanted`` changes are looked up.
    """
    n = len(wanted[0])
    if not n:
        return np.zeros(0, np.int64)
    fresh = np.append(True, np.any([w[1:] != w[:-1] for w in wanted], axis=0))
    starts = np.flatnonzero(fresh)
    places = {key: i for i, key in enumerate(zip(*(c.tolist() for c in table), strict=True))}
    found = [places[key] for key in zip(*(w[starts].tolist() for w in wanted), strict=True)]
    return np.repeat(np.array(found, np.int64), np.diff(np.append(starts, n)))
