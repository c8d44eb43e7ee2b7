"""What every wave of a SIMD does at every cycle of its life, as intervals.

Between two instructions a wave is in a *gap*; from the first attempt to the issue an
instruction is *refused*; then it *issues* for its cost.  s_waitcnt, s_nop and s_barrier
are what they wait for, from start to completion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals, intersect, union
from tracekit.analysis.model.simds import Simd
from tracekit.analysis.model.window import residence
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs
from tracekit.sqtt.raw import WaveFlag
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]


class Doing(IntEnum):
    """State of a wave."""

    GAP = 0
    MFMA_REFUSED = 1
    MFMA = 2
    VALU = 3
    VALU_REFUSED = 4
    PACKED_REFUSED = 5  # packed F32 and DOT, which a running MFMA keeps out
    LDS = 6  # refused or issuing
    VMEM = 7
    SCALAR = 8  # scalar, branch, message, priority; the gap after a branch or before these
    NOP = 9
    LGKM_WAIT = 10
    VM_WAIT = 11
    BARRIER = 12
    LOST = 13


#: Cycles without an attempt that, in a wave that lost tokens, are taken for a loss: the
#: longest gap that an instruction leaves by itself is 24 (v_cmp to the branch that reads it).
LOST_GAP = 64
_COUNTERS = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_PACKED = ("packed", "dot")


@dataclass(frozen=True)
class Codes:
    """Doing per listing row (one more for row -1) while it is refused and while it issues;
    ``vm`` and ``lgkm``: the count an s_waitcnt waits for, -1 none."""

    refused: NDArray[np.uint8]
    issuing: NDArray[np.uint8]
    vm: Array
    lgkm: Array
    in_vm: NDArray[np.bool_]  # counts in vmcnt
    in_lgkm: NDArray[np.bool_]


def codes(listing: Listing, costs: Costs) -> Codes:
    """The states that each instruction of ``listing`` means."""
    n = len(listing)
    by_pipe = {
        Pipe.MATRIX: (Doing.MFMA_REFUSED, Doing.MFMA),
        Pipe.VECTOR: (Doing.VALU_REFUSED, Doing.VALU),
        Pipe.LDS: (Doing.LDS, Doing.LDS),
        Pipe.VMEM: (Doing.VMEM, Doing.VMEM),
    }
    refused, issuing = (np.full(n + 1, Doing.SCALAR, np.uint8) for _ in range(2))
    pipe = np.append(costs.pipe, Pipe.NONE)
    for key, (before, after) in by_pipe.items():
        refused[pipe == key], issuing[pipe == key] = before, after
    klass = np.append(costs.klass, "")
    refused[(pipe == Pipe.VECTOR) & np.isin(klass, _PACKED)] = Doing.PACKED_REFUSED
    inside = pipe == Pipe.NONE
    for name, code in (("nop", Doing.NOP), ("barrier", Doing.BARRIER)):
        both = inside & (klass == name)
        refused[both] = issuing[both] = code
    vm, lgkm = np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64)
    for row in np.flatnonzero(inside & (klass == "wait")).tolist():
        for counter, value in _COUNTERS.findall(listing.text[row]):
            (vm if counter == "vmcnt" else lgkm)[row] = int(value)
    expect = np.append(listing.expect, Expect.UNKNOWN)
    flat = np.array([text.startswith("flat_") for text in listing.text] + [False])
    in_lgkm = (pipe == Pipe.LDS) | (expect == Expect.SMEM) | flat
    return Codes(refused, issuing, vm, lgkm, pipe == Pipe.VMEM, in_lgkm)


@dataclass(frozen=True)
class Activity:
    """States of all waves of a SIMD: intervals sorted by wave, then time, without holes.

    ``wave`` numbers the waves 0..; ``key`` (as Simd.wave_key), ``born`` and ``died`` go with
    the numbers.
    """

    start: Array
    end: Array
    code: NDArray[np.uint8]
    wave: Array
    key: Array
    born: Array
    died: Array

    def of(self, *wanted: Doing, within: Intervals | None = None) -> Intervals:
        """Cycles in which some wave is in one of the states."""
        mask = np.isin(self.code, wanted)
        found = union(self.start[mask], self.end[mask])
        return found if within is None else intersect(found, within)

    def clipped(self, first: Array, last: Array) -> Activity:
        """Only what lies in [first, last) of each wave."""
        start = np.maximum(self.start, first[self.wave])
        end = np.minimum(self.end, last[self.wave])
        keep = end > start
        return Activity(
            start[keep], end[keep], self.code[keep], self.wave[keep], self.key, self.born, self.died
        )

    def cycles_in(self, wave: int, first: Array, last: Array) -> Array:
        """Cycles (m x len(Doing)) that ``wave`` spends in each state in m intervals."""
        own = slice(*np.searchsorted(self.wave, (wave, wave + 1)).tolist())
        start, end, code = self.start[own], self.end[own], self.code[own]
        if not len(start):
            return np.zeros((len(first), len(Doing)), np.int64)
        total = np.zeros((len(start) + 1, len(Doing)), np.int64)
        total[np.arange(1, len(start) + 1), code] = end - start
        np.cumsum(total, axis=0, out=total)

        def below(time: Array) -> Array:
            at = np.searchsorted(start, time, side="right") - 1
            inside = np.maximum(at, 0)
            sums = total[inside].copy()
            part = np.clip(time - start[inside], 0, end[inside] - start[inside])
            sums[np.arange(len(time)), code[inside]] += np.where(at >= 0, part, 0)
            return sums

        result: Array = below(last) - below(first)
        return result


def activity(timeline: Timeline, simd: Simd, table: Codes) -> Activity:
    """The states of the waves of ``simd``; ``table`` is what ``codes`` says of its listing."""
    key, wave = np.unique(simd.wave_key, return_inverse=True)
    # Rows are sorted by wave already: numbers rise along them.
    keys, begins, ends = residence(timeline, simd)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys[order], key)] if len(keys) else np.zeros(0, np.intp)
    born, died = begins[at], ends[at]
    first = np.append(True, wave[1:] != wave[:-1])
    previous = np.where(first, born[wave], np.append(0, simd.end[:-1]))
    issue = np.where(table.issuing[simd.row] >= Doing.NOP, simd.time, simd.issue)
    edges = np.stack([previous, simd.time, issue, simd.end], 1)
    # AMD's rows may overlap by a few cycles: later edges give way.
    np.maximum.accumulate(edges, axis=1, out=edges)
    immed = _waits(simd, wave, table)
    code = np.stack([_gaps(timeline, simd, wave, first), table.refused[simd.row],
                     table.issuing[simd.row]], 1)  # fmt: skip
    code[immed >= 0, 1:] = immed[immed >= 0, None]
    lost = (simd.row < 0) & losing(timeline, simd)[wave]
    code[lost] = Doing.LOST
    start, end = edges[:, :3].ravel(), edges[:, 1:].ravel()
    owner, state = np.repeat(wave, 3), code.ravel().astype(np.uint8)
    last = np.flatnonzero(np.append(first[1:], True))
    tail = np.where(_endless(timeline, simd), Doing.LOST, Doing.GAP).astype(np.uint8)
    start = np.append(start, simd.end[last])
    end = np.append(end, np.maximum(died, simd.end[last]))
    owner = np.append(owner, np.arange(len(key)))
    state = np.append(state, tail)
    keep = np.flatnonzero(end > start)
    keep = keep[np.lexsort((start[keep], owner[keep]))]
    return Activity(start[keep], end[keep], state[keep], owner[keep], key, born, died)


def _gaps(
    timeline: Timeline, simd: Simd, wave: Array, first: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """The state before each instruction's first attempt."""
    scalar = np.isin(simd.pipe, (Pipe.SCALAR, Pipe.BRANCH))
    branched = np.append(False, simd.pipe[:-1] == Pipe.BRANCH) & ~first
    gap = np.where(scalar | branched, Doing.SCALAR, Doing.GAP).astype(np.uint8)
    lossy = losing(timeline, simd)[wave]
    if lossy.any():
        listing = timeline.listing
        before = np.append(-1, simd.row[:-1])
        jump = np.append(listing.expect == Expect.PC, False)[before]
        follows = (np.append(listing.next, -2)[before] == simd.row) | jump
        follows |= np.append(listing.target, -2)[before] == simd.row
        long = simd.time - np.append(0, simd.end[:-1]) >= LOST_GAP
        gap[lossy & ~first & (long | ~follows)] = Doing.LOST
    return gap


def _flags(timeline: Timeline, simd: Simd) -> Array:
    """WaveFlags of the waves of the SIMD, in the order of their keys."""
    waves = timeline.waves
    own = (waves["se"] == simd.se) & (waves["simd"] == simd.simd)
    own &= waves["dispatch"] == simd.dispatch
    part = waves[own.to_numpy()]
    key = part["slot"].to_numpy().astype(np.int64) << 32 | part["wave"].to_numpy()
    known = np.isin(key, simd.wave_key)
    flags = part["flags"].to_numpy().astype(np.int64)[known]
    return flags[np.argsort(key[known])]


def losing(timeline: Timeline, simd: Simd) -> NDArray[np.bool_]:
    """Per wave: tokens were lost in its life."""
    lossy: NDArray[np.bool_] = _flags(timeline, simd) & WaveFlag.PACKETS_LOST != 0
    return lossy


def _endless(timeline: Timeline, simd: Simd) -> NDArray[np.bool_]:
    """Per wave: its end was lost."""
    endless: NDArray[np.bool_] = _flags(timeline, simd) & WaveFlag.LOST_END != 0
    return endless


def _waits(simd: Simd, wave: Array, table: Codes) -> Array:
    """Doing of each s_waitcnt (-1 for other rows): the counter that can make it wait.

    Of a wait for both counters vmcnt is named if a vector memory access may be outstanding:
    one issued since the waits before it let that many through.
    """
    result = np.full(len(wave), -1, np.int64)
    vm, lgkm = table.vm[simd.row], table.lgkm[simd.row]
    rows = np.flatnonzero((vm >= 0) | (lgkm >= 0))
    if not len(rows):
        return result
    start = np.searchsorted(wave, wave[rows])
    pending = {}
    for name, counts, value in (("vm", table.in_vm, vm), ("lgkm", table.in_lgkm, lgkm)):
        total = np.append(0, np.cumsum(counts[simd.row]))
        issued = total[rows] - total[start]
        pending[name] = _pending(issued, value[rows], wave[rows])
    for_vm = (vm[rows] >= 0) & (pending["vm"] | (lgkm[rows] < 0))
    # Neither can be outstanding, or only the counter that is not waited for: lgkmcnt.
    result[rows] = np.where(for_vm, Doing.VM_WAIT, Doing.LGKM_WAIT)
    return result


def _pending(issued: Array, allowed: Array, wave: Array) -> NDArray[np.bool_]:
    """Whether more than ``allowed`` accesses may be outstanding at each wait.

    ``issued``: accesses of the wave before it; they complete in order.
    """
    apart = wave * (np.int64(1) << 40)
    done = np.maximum.accumulate(np.where(allowed >= 0, issued - allowed, 0) + apart)
    before = np.append(0, done[:-1]) - apart  # negative: the first wait of its wave
    pending: NDArray[np.bool_] = (allowed >= 0) & (issued - np.maximum(before, 0) > allowed)
    return pending
