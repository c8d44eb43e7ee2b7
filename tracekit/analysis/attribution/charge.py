"""Each idle cycle charged to a cause: what the deciding wave does there.

Where it sits at a barrier, what the workgroup's last arriver does until it arrives counts
instead, by the same rules and on whichever SIMD that wave is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.barriers import Barriers
from tracekit.analysis.attribution.cuts import Cut, inside, outside
from tracekit.analysis.attribution.names import Cause, Phase, Split
from tracekit.analysis.attribution.pieces import Pieces, joined
from tracekit.analysis.attribution.steps import Steps, execution_ends
from tracekit.analysis.model.intervals import Intervals, union
from tracekit.analysis.model.rows import Rows
from tracekit.analysis.model.simds import matrix_use
from tracekit.isa.blocking import blocking
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Classes of vector instructions that a running MFMA and its tail keep out.
_PACKED = ("packed", "dot")


class Charger:
    """Says what waves do in given pieces of time, barriers followed, for one timeline."""

    def __init__(self, rows: Rows, listing: Listing, found: Steps, meetings: Barriers) -> None:
        self.rows, self.steps, self.meetings = rows, found, meetings
        self._lives = Intervals(rows.key(found.wave, found.start), rows.key(found.wave, found.end))
        self._barrier = np.full(len(rows) + 1, -1)
        self._barrier[meetings.row] = np.arange(len(meetings.row))
        costs = rows.costs
        packed = (costs.pipe == Pipe.VECTOR) & np.isin(costs.klass, _PACKED)
        self._packed = np.append(packed, False)
        self._busy, self._keeps_packed_out = self._matrix(listing, costs)
        vector = np.flatnonzero(rows.pipe == Pipe.VECTOR)
        end = execution_ends(rows)[vector]
        self._port = self._on_simd(rows.wave[vector], rows.issue[vector], end)
        mfmas = rows.mfmas
        offset = np.searchsorted(rows.wave[mfmas], np.arange(len(rows.waves) + 1))
        some = offset[1:] > offset[:-1]
        issue = np.append(rows.issue[mfmas], 0)
        self._first = np.where(some, issue[offset[:-1]], rows.span[0] - 1)
        self._last = np.where(some, issue[offset[1:] - 1], rows.span[1] + 1)

    def charge(self, start: Array, end: Array, wave: Array) -> Pieces:
        """What ``wave`` does in [start, end), which lie in its life; pieces by ``of``, time."""
        none = np.zeros(0, np.int64)
        of, own = np.arange(len(start)), none
        done = [Pieces(*[none] * 10)]
        while len(of):
            cut = self._cut(start, end, wave)
            kind, row = self.steps.kind[cut.by].astype(np.int64), self.steps.row[cut.by]
            own = kind if len(done) == 1 else own[cut.of]
            of, wave, left, right = of[cut.of], wave[cut.of], cut.start, cut.end
            # From its start on and up to its arrival, the last arriver is asked instead.
            at = self._barrier[np.where(kind == Cause.BARRIER, row, -1)]
            last = np.append(self.meetings.last, -1)[at]
            low = np.maximum(left, self.rows.waves.begin[last])
            high = np.minimum(right, np.append(self.meetings.last_arrival, 0)[at])
            follows = (at >= 0) & (last != wave) & (high > low)
            zero = np.zeros(len(of), np.int64)
            found = Pieces(
                of, left, np.where(follows, low, right), kind, zero, zero, wave, row, own, zero
            )
            rest = found.cut(np.flatnonzero(follows), high[follows], right[follows])
            done += [part.take(part.end > part.start) for part in (found, rest)]
            of, own, wave, start, end = (c[follows] for c in (of, own, last, low, high))
        return self._finish(joined(done))

    def _cut(self, start: Array, end: Array, wave: Array) -> Cut:
        """The pieces cut along the waves' steps, in cycles."""
        key = self.rows.key(wave, start)
        cut = inside(key, key + (end - start), self._lives)
        shift = (start - key)[cut.of]
        return Cut(cut.of, cut.start + shift, cut.end + shift, cut.by)

    def _finish(self, pieces: Pieces) -> Pieces:
        """Split what was refused, tell MFMAs elsewhere, and name the phases."""
        matrix = np.isin(pieces.cause, (Cause.MFMA_REFUSED, Cause.MFMA))
        pieces = replace(pieces, cause=np.where(matrix, Cause.MFMA_REFUSED, pieces.cause))
        refused = pieces.cause == Cause.VECTOR_REFUSED
        pieces = replace(pieces, split=np.where(refused, Split.REST, Split.NONE))
        pieces = self._set("split", Split.PORT, pieces, refused, self._port)
        packed = (pieces.split == Split.REST) & self._packed[self.rows.row[pieces.row]]
        pieces = self._set("split", Split.PACKED, pieces, packed, self._keeps_packed_out)
        matrix = pieces.cause == Cause.MFMA_REFUSED
        pieces = self._set("cause", Cause.MATRIX_ELSEWHERE, pieces, matrix, self._busy)
        phase = np.full(len(pieces), int(Phase.MAIN))
        phase[pieces.start < self._first[pieces.wave]] = Phase.PROLOGUE
        phase[pieces.start > self._last[pieces.wave]] = Phase.EPILOGUE
        return replace(pieces, phase=phase).ordered()

    def _set(
        self, column: str, value: int, pieces: Pieces, chosen: Mask, where: Intervals
    ) -> Pieces:
        """Set ``column`` of the ``chosen`` pieces to ``value`` where their SIMD is in ``where``."""
        picked = pieces.take(chosen)
        key = self.rows.key(self.rows.waves.simd_of[picked.wave], picked.start)
        shift = picked.start - key
        parts = [pieces.take(~chosen)]
        for cuts in (inside, outside):
            cut = cuts(key, key + picked.cycles, where)
            part = picked.cut(cut.of, cut.start + shift[cut.of], cut.end + shift[cut.of])
            if cuts is inside:
                part = replace(part, **{column: np.full(len(part), int(value))})
            parts.append(part)
        return joined(parts)

    def _on_simd(self, wave: Array, start: Array, end: Array) -> Intervals:
        """The set that intervals cover, on the SIMD of each ``wave``, as keys."""
        key = self.rows.key(self.rows.waves.simd_of[wave], start)
        return union(key, key + (end - start))

    def _matrix(self, listing: Listing, costs: Costs) -> tuple[Intervals, Intervals]:
        """When each SIMD's matrix pipe is busy, and when it keeps packed F32 out."""
        blocked = np.zeros(len(listing) + 1, np.int64)
        for row in np.flatnonzero((costs.pipe == Pipe.MATRIX) & (costs.cycles > 0)).tolist():
            blocked[row] = blocking(costs.arch, listing.text[row], int(costs.cycles[row])).packed
        none = np.zeros(0, np.int64)
        parts = [(none, none, none, none)]
        offset = 0
        for simd in self.rows.simds:
            use = matrix_use(simd)
            tail = np.maximum(use.start + blocked[simd.row[use.order]], use.end)
            parts.append((self.rows.wave[use.order + offset], use.start, use.end, tail))
            offset += len(simd.rows)
        wave, start, end, tail = (np.concatenate(c) for c in zip(*parts, strict=True))
        return self._on_simd(wave, start, end), self._on_simd(wave, start, tail)
