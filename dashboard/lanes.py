"""Lanes of the timeline: intervals per wave slot, pipe, bubble, scope, sorted by start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard import palette
from dashboard.service import Service
from tracekit.analysis.causes import Causes
from tracekit.analysis.model.markers import scopes
from tracekit.analysis.model.simds import Simd, each_simd, matrix_use, vector_use
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
Place = tuple[int, int]


@dataclass(frozen=True)
class Lane:
    """Intervals [start, end) in cycles, sorted by start.

    ``kind`` numbers a look of the palette; ``row`` is a listing row (-1 none), ``index`` a
    row of the instruction table, or of the bubble table in a bubble lane (-1 none).
    """

    name: str
    group: str  # slot, matrix, vector, bubbles, scope, counter, clock
    simd: int
    slot: int
    start: Array
    end: Array
    kind: NDArray[np.uint8]
    row: NDArray[np.int32]
    index: NDArray[np.int32]
    texts: tuple[str, ...] = ()
    level: NDArray[np.uint8] | None = None  # height of each interval, 255 the lane's
    window: tuple[tuple[int, int], ...] = ()  # of a bubble lane: what its numbers are about

    @cached_property
    def reach(self) -> Array:
        """Latest end up to each interval: ends are not sorted where intervals overlap."""
        return np.maximum.accumulate(self.end)

    @classmethod
    def of(  # noqa: PLR0913 - one argument a field of the lane
        cls, name: str, group: str, simd: int, slot: int, start: Array, end: Array,
        kind: Integers, row: Integers, index: Integers, texts: tuple[str, ...] = (),
    ) -> Lane:  # fmt: skip
        """A lane of intervals in any order; empty ones vanish."""
        kept = np.flatnonzero(end > start)
        order = kept[np.argsort(start[kept], kind="stable")]
        return cls(
            name, group, simd, slot, start[order], end[order], kind[order].astype(np.uint8),
            row[order].astype(np.int32), index[order].astype(np.int32), texts,
        )  # fmt: skip


def waves_and_pipes(service: Service, key: str, place: Place) -> list[Lane]:
    """Lanes of wave slots and pipes of one SE and dispatch, then scopes and clock."""
    return service.cached(key, ("lanes", place), lambda t: list(_lanes(t, service, key, place)))


def bubble_lanes(service: Service, key: str, place: Place, window: str) -> list[Lane]:
    """The lane of matrix-idle time by cause, one a SIMD, over ``window``."""
    found, rows = service.analysis(key, window).causes, service.analysis(key, window).bubbles.rows

    def make(_: Timeline) -> list[Lane]:
        return [_bubbles(found, number, rows) for number, simd in enumerate(found.simds)
                if (simd.simd.se, simd.simd.dispatch) == place]  # fmt: skip

    return service.cached(key, ("bubble lanes", place, window), make)


def _lanes(timeline: Timeline, service: Service, key: str, place: Place) -> Iterator[Lane]:
    kinds = row_kinds(timeline.listing, timeline.costs)
    marked = scopes(timeline)
    for simd in each_simd(timeline):
        if (simd.se, simd.dispatch) != place:
            continue
        slots = simd.wave_key >> 32
        for slot in np.unique(slots).tolist():
            yield _slot(simd, slot, np.flatnonzero(slots == slot), kinds)
            own = marked[
                (marked["se"] == simd.se) & (marked["simd"] == simd.simd) & (marked["slot"] == slot)
            ]
            if len(own):
                yield _scopes(simd, slot, own)
        matrix = matrix_use(simd)
        at = matrix.order
        yield Lane.of(
            "matrix pipe", "matrix", simd.simd, -1, matrix.start, matrix.end,
            np.full(len(at), Pipe.MATRIX), simd.row[at], simd.rows[at],
        )  # fmt: skip
        vector = np.flatnonzero((simd.pipe == Pipe.VECTOR) & (simd.cycles > 0))
        start, end = vector_use(simd)
        yield Lane.of(
            "vector pipe", "vector", simd.simd, -1, start, end,
            np.full(len(vector), Pipe.VECTOR), simd.row[vector], simd.rows[vector],
        )  # fmt: skip
    yield from _counters(timeline, place[0])
    table = service.whole(key).clock.intervals
    table = table[table["se"] == place[0]]
    if len(table):
        none = np.full(len(table), -1)
        texts = tuple(f"{value:,.1f} MHz" for value in table["mhz"])
        yield Lane.of(
            "shader clock", "clock", -1, -1, table["start"].to_numpy(), table["end"].to_numpy(),
            np.full(len(table), palette.CLOCK), none, np.arange(len(table)), texts,
        )  # fmt: skip


def _counters(timeline: Timeline, se: int) -> Iterator[Lane]:
    """One lane a counter: what each sample counted since the one before it."""
    table, names = timeline.counters, timeline.counter_names
    table = table[table["se"] == se]
    for (cu, _), group in table.groupby(["cu", "bank"], sort=True):
        bank = int(group["bank"].iloc[0])
        time = group["time"].to_numpy()
        for column in range(4):
            value = group[f"c{column}"].to_numpy()
            if len(time) < 2 or not value.any():
                continue
            number = 4 * bank + column
            name = names[number] if number < len(names) else f"counter {number}"
            level = np.ceil(255 * value[1:] / max(int(value[1:].max()), 1)).astype(np.uint8)
            many = len(time) - 1
            yield Lane(
                f"{name} CU {cu}", "counter", -1, number, time[:-1], time[1:],
                np.full(many, palette.COUNTER, np.uint8), np.full(many, -1, np.int32),
                np.arange(many, dtype=np.int32),
                tuple(f"{v:,}" for v in value[1:].tolist()), level,
            )  # fmt: skip


def row_kinds(listing: Listing, costs: Costs) -> NDArray[np.uint8]:
    """Kind of each listing row, and of row -1 at the end."""
    kinds = np.append(costs.pipe, palette.UNKNOWN).astype(np.uint8)
    texts = np.array([*listing.text, ""], dtype=object)
    inside = np.flatnonzero(kinds == Pipe.NONE)
    for row in inside.tolist():
        if texts[row].startswith("s_waitcnt"):
            kinds[row] = palette.WAIT
        elif texts[row].startswith("s_nop"):
            kinds[row] = palette.NOP
    kinds[np.append(listing.expect == Expect.BARRIER, False)] = palette.BARRIER
    return kinds


def _slot(simd: Simd, slot: int, at: NDArray[np.intp], kinds: NDArray[np.uint8]) -> Lane:
    """Refused time and issue of each instruction of a slot; waits are whole."""
    kind = kinds[simd.row[at]]
    waits = np.isin(kind, (palette.WAIT, palette.NOP, palette.BARRIER))
    start, end, issue = simd.time[at], simd.end[at], simd.issue[at]
    issue = np.where(waits, start, np.clip(issue, start, end))
    refused = issue > start
    return Lane.of(
        f"slot {slot}", "slot", simd.simd, slot,
        np.concatenate([issue, start[refused]]), np.concatenate([end, issue[refused]]),
        np.concatenate([kind, np.full(int(refused.sum()), palette.STALL, np.uint8)]),
        np.concatenate([simd.row[at], simd.row[at][refused]]),
        np.concatenate([simd.rows[at], simd.rows[at][refused]]),
    )  # fmt: skip


def _scopes(simd: Simd, slot: int, own: pd.DataFrame) -> Lane:
    table = own.sort_values("begin")
    n = len(table)
    return Lane.of(
        f"slot {slot} scopes", "scope", simd.simd, slot, table["begin"].to_numpy(),
        table["end"].to_numpy(), np.full(n, palette.SCOPE), np.full(n, -1), np.arange(n),
        tuple(table["name"].astype(str)),
    )  # fmt: skip


def _bubbles(found: Causes, number: int, rows: pd.DataFrame) -> Lane:
    """Pieces of idle time by cause; ``index`` is the bubble of the table they belong to."""
    simd = found.simds[number]
    view = simd.simd
    own = (rows["se"] == view.se) & (rows["simd"] == view.simd)
    own &= (rows["dispatch"] == view.dispatch) & (rows["start"] >= 0)
    index = np.flatnonzero(own.to_numpy())
    start = rows["start"].to_numpy()[index]
    cycles = rows["cycles"].to_numpy()[index]
    bubble = np.full(len(simd.start), -1, np.int64)
    if len(index):
        at = np.searchsorted(start, simd.start, side="right") - 1
        inside = (at >= 0) & (simd.start < (start + cycles)[at])
        bubble[inside] = index[at[inside]]
    made = Lane.of(
        "matrix idle", "bubbles", view.simd, -1, simd.start, simd.end,
        simd.cause + palette.FIRST_CAUSE, np.full(len(simd.start), -1), bubble,
    )  # fmt: skip
    pieces = simd.window.intervals
    return replace(made, window=tuple(zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)))
