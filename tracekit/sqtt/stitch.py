"""Program counters: which line of the listing each record of a wave executed.

A wave starts at a known line and every record moves it on: branches by their type (JUMP
taken, NEXT not), barriers take their release with them, indirect jumps wait for an
INST_PC token.  Where a record does not fit its line (lost tokens, a listing of another
build) the walk stops trusting its place and looks for the only place in the listing that
fits the coming records; what lies between stays unstitched (-1) rather than guessed.

``native/stitch.cpp`` is the fast twin of ``Walker``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import INST_CONTEXT, INST_IMMED, INST_UNTYPED, Inst
from tracekit.isa.classify import Expect, strict_mask
from tracekit.isa.listing import Listing
from tracekit.sqtt.decode import native_core
from tracekit.sqtt.raw import RawStream, RecordFlag

#: Records that must fit before a place found by search is believed, and the most to look at.
EVIDENCE, PATIENCE = 12, 512
#: Work that one stream may spend on searching, in listing lines looked at.
SEARCH_BUDGET = 20_000_000


class Flow(IntEnum):
    """Where control goes after a line."""

    FALL = 0
    BRANCH = 1
    BARRIER = 2
    INDIRECT = 3
    CALL = 4
    PASS = 5  # emits no token


#: By classify.Expect.
_FLOW = np.zeros(max(Expect) + 1, np.uint8)
_FLOW[Expect.BRANCH] = Flow.BRANCH
_FLOW[Expect.BARRIER] = Flow.BARRIER
_FLOW[Expect.PC] = Flow.INDIRECT
_FLOW[[Expect.SKIP, Expect.UNKNOWN]] = Flow.PASS


@dataclass(frozen=True)
class StitchTable:
    """A listing as the walk needs it: arrays by row."""

    accept: NDArray[np.uint64]
    strict: NDArray[np.uint64]
    next: NDArray[np.int32]
    target: NDArray[np.int32]
    flow: NDArray[np.uint8]

    @classmethod
    def of(cls, listing: Listing) -> StitchTable:
        # A mask depends on the mnemonic alone (and the size): few differ in a listing.
        known: dict[tuple[int, int, str], int] = {}
        strict: list[int] = []
        lines = zip(listing.expect.tolist(), listing.size.tolist(), listing.text, strict=True)
        for expect, size, text in lines:
            key = (expect, size, text.partition(" ")[0])
            if key not in known:
                known[key] = strict_mask(Expect(expect), size, text)
            strict.append(known[key])
        flow = _FLOW[listing.expect]
        calls = [text.startswith("s_call") for text in listing.text]
        flow[np.array(calls, bool) & (listing.target >= 0)] = Flow.CALL
        return cls(listing.accept, np.array(strict, np.uint64), listing.next, listing.target, flow)


@dataclass
class Stitched:
    """``row`` int32 per record (-1 unstitched); the rest int64 per wave."""

    row: NDArray[np.int32]
    stitched: NDArray[np.int64]
    resynchronised: NDArray[np.int64]
    swapped: NDArray[np.int64]


def stitch(
    raw: RawStream,
    table: StitchTable,
    start: NDArray[np.int32],
    anchor_row: NDArray[np.int32],
    implementation: str | None = None,
) -> Stitched:
    """Rows of all records.

    ``start``: listing row of each wave's first record (-1 unknown); ``anchor_row``: of each
    anchor of ``raw`` (-1 unknown).
    """
    order = np.lexsort((raw.anchors[:, 1], raw.anchors[:, 0]))
    anchors = raw.anchors[order]
    arguments = (
        raw.type, raw.flags, raw.waves["first"], raw.waves["count"], start,
        np.ascontiguousarray(anchors[:, 0]), np.ascontiguousarray(anchors[:, 1]),
        anchor_row[order], table.accept, table.strict, table.next, table.target, table.flow,
        SEARCH_BUDGET,
    )  # fmt: skip
    core = None if implementation == "python" else native_core()
    row, counts = core.stitch(*arguments) if core is not None else _reference(*arguments)
    counts = counts.reshape(-1, 3)
    return Stitched(row, counts[:, 0].copy(), counts[:, 1].copy(), counts[:, 2].copy())


class Walker:
    """The walk over one stream, in plain Python."""

    def __init__(self, types: list[int], flags: list[int], table: StitchTable, budget: int):
        self.types, self.flags = types, flags
        self.accept, self.strict = table.accept.tolist(), table.strict.tolist()
        self.next, self.target = table.next.tolist(), table.target.tolist()
        self.flow = table.flow.tolist()
        self.budget = budget
        self.row = [-1] * len(types)

    def walk(
        self, first: int, count: int, start: int, anchors: list[tuple[int, int]]
    ) -> tuple[int, int, int]:
        """Stitch one wave; returns (stitched, resynchronised, swapped)."""
        stitched = resynchronised = swapped = 0
        row = self._pass(start)
        i = at_anchor = 0
        while i < count:
            while at_anchor < len(anchors) and anchors[at_anchor][0] <= i:
                if anchors[at_anchor][0] == i:
                    row = self._pass(anchors[at_anchor][1])
                at_anchor += 1
            limit = count
            if at_anchor < len(anchors):
                limit = min(limit, anchors[at_anchor][0])
            at = first + i
            kind = self.types[at]
            if kind in (INST_CONTEXT, Inst.GO_TO_TRAP):
                i += 1
            elif row >= 0 and kind == INST_UNTYPED:
                # Its type was lost, but only one line can come here.
                self.row[at] = row
                stitched += 1
                i += 1
                row = self._pass(self.next[row]) if self.flow[row] == Flow.FALL else -1
            elif row >= 0 and self.accept[row] >> kind & 1:
                self.row[at] = row
                stitched += 1
                i += 1
                barrier = self.flow[row] == Flow.BARRIER and kind == Inst.OTHER_MSG
                if barrier and i < limit and self._release(at + 1):
                    self.row[at + 1] = row
                    stitched += 1
                    i += 1
                row = self._step(row, kind)
            elif row >= 0 and i + 1 < limit and self._swapped(row, at):
                # Types of different pipes can arrive out of issue order.
                following = self._pass(self.next[row])
                self.row[at], self.row[at + 1] = row, following
                stitched += 2
                swapped += 1
                i += 2
                row = self._pass(self.next[following])
            else:
                i, row = self._search(first, i, limit)
                resynchronised += row >= 0
        return stitched, resynchronised, swapped

    def _pass(self, row: int) -> int:
        while row >= 0 and self.flow[row] == Flow.PASS:
            row = self.next[row]
        return row

    def _step(self, row: int, kind: int) -> int:
        flow = self.flow[row]
        if flow == Flow.INDIRECT:
            return -1
        jumps = flow == Flow.CALL or (flow == Flow.BRANCH and kind == Inst.JUMP)
        return self._pass(self.target[row] if jumps else self.next[row])

    def _release(self, at: int) -> bool:
        return self.types[at] == INST_IMMED and bool(self.flags[at] & RecordFlag.PREVIOUS_TYPED)

    def _swapped(self, row: int, at: int) -> bool:
        following = self._pass(self.next[row])
        return (
            following >= 0
            and self.flow[row] == Flow.FALL
            and self.flow[following] == Flow.FALL
            and self.types[at] != self.types[at + 1]
            and bool(self.strict[row] >> self.types[at + 1] & 1)
            and bool(self.strict[following] >> self.types[at] & 1)
        )

    def _search(self, first: int, start: int, limit: int) -> tuple[int, int]:
        """(record, row) of the next place that is certain; row -1: nothing before it fits."""
        if self.budget < len(self.flow):
            return limit, -1
        self.budget -= len(self.flow)
        alive = [(line, line) for line, flow in enumerate(self.flow) if flow != Flow.PASS]
        after_barrier = False
        i = start
        while i < limit and i < start + PATIENCE and alive:
            if i - start >= EVIDENCE and alive[0][1] >= 0 and len({row for _, row in alive}) == 1:
                return (start, alive[0][0]) if len(alive) == 1 else (i, alive[0][1])
            kind = self.types[first + i]
            if after_barrier and self._release(first + i):
                after_barrier = False
                i += 1
                continue
            self.budget -= len(alive)
            if self.budget < 0:
                return limit, -1
            fitting = [(s, row) for s, row in alive if row >= 0 and self.strict[row] >> kind & 1]
            after_barrier = kind == Inst.OTHER_MSG and any(
                self.flow[row] == Flow.BARRIER for _, row in fitting
            )
            alive = [(s, self._step(row, kind)) for s, row in fitting]
            i += 1
        return max(i, start + 1), -1


def _reference(  # noqa: PLR0913 - the signature of its native twin
    types: NDArray[np.uint8],
    flags: NDArray[np.uint8],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    start: NDArray[np.int32],
    anchor_wave: NDArray[np.int64],
    anchor_record: NDArray[np.int64],
    anchor_row: NDArray[np.int32],
    accept: NDArray[np.uint64],
    strict: NDArray[np.uint64],
    next_row: NDArray[np.int32],
    target: NDArray[np.int32],
    flow: NDArray[np.uint8],
    budget: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    table = StitchTable(accept, strict, next_row, target, flow)
    walker = Walker(types.tolist(), flags.tolist(), table, budget)
    anchors: dict[int, list[tuple[int, int]]] = {}
    for wave, record, row in zip(
        anchor_wave.tolist(), anchor_record.tolist(), anchor_row.tolist(), strict=True
    ):
        anchors.setdefault(wave, []).append((record, row))
    waves = zip(first.tolist(), count.tolist(), start.tolist(), strict=True)
    counts = [walker.walk(f, n, s, anchors.get(w, [])) for w, (f, n, s) in enumerate(waves)]
    return np.array(walker.row, np.int32), np.array(counts, np.int64).reshape(-1)
