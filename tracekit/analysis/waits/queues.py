"""The queues behind vmcnt and lgkmcnt: what each s_waitcnt has to wait for.

vmcnt counts vector loads, stores, atomics and loads to LDS, which return in order; lgkmcnt
counts LDS in order, scalar memory and messages in any order; FLAT is in both, in any order.
A wait for n needs all but the youngest n, and what it needs has left the queue.  With n > 0
and something unordered outstanding nobody can say what it waits for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.rows import Rows
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]

_COUNTERS = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
#: Vector memory that returns something to count; cache control does not.
_COUNTED = ("load", "load_lds", "store", "atomic")


class Counter(IntEnum):
    """The counters that an s_waitcnt of gfx9 can name."""

    VM = 0
    LGKM = 1


COUNTERS = ("vmcnt", "lgkmcnt")


@dataclass(frozen=True)
class Queue:
    """One counter, over all waves.

    ``operations``: rows (of Rows) that it counts, by wave and program order.  One entry per
    s_waitcnt that names it, in the same order: ``wait`` its row, ``value`` its count,
    ``first``/``last`` the slice of ``operations`` that it needs (empty: nothing),
    ``unknown`` whether it may need something that cannot be told.
    """

    counter: Counter
    operations: Array
    wait: Array
    value: Array
    first: Array
    last: Array
    unknown: Mask

    @property
    def needs(self) -> Mask:
        """Waits that need at least one operation, known to be."""
        result: Mask = self.last > self.first
        return result

    @property
    def producer(self) -> Array:
        """Row of the youngest operation needed; -1 where nothing is, or it is unknown."""
        ops = np.append(self.operations, -1)
        return np.where(self.needs, ops[self.last - 1], -1)


def counts(listing: Listing, costs: Costs) -> Array:
    """(2, n + 1) counts that each listing row waits for, -1 where it names no such counter."""
    result = np.full((2, len(listing) + 1), -1, np.int64)
    for row in np.flatnonzero(costs.klass == "wait").tolist():
        for name, value in _COUNTERS.findall(listing.text[row]):
            result[COUNTERS.index(name), row] = int(value)
    return result


def members(listing: Listing, costs: Costs) -> tuple[Array, Array]:
    """Per counter and listing row (2, n + 1): counted at all, and counted without order."""
    n = len(listing)
    counted, unordered = np.zeros((2, n + 1), bool), np.zeros((2, n + 1), bool)
    memory = (costs.pipe == Pipe.VMEM) & np.isin(costs.klass, _COUNTED)
    flat = memory & (listing.expect == Expect.FLAT)
    scalar = (listing.expect == Expect.SMEM) | (costs.klass == "message")
    counted[Counter.VM, :n] = memory
    counted[Counter.LGKM, :n] = (costs.pipe == Pipe.LDS) | scalar | flat
    unordered[Counter.VM, :n] = flat
    unordered[Counter.LGKM, :n] = scalar | flat
    return counted, unordered


def queues(rows: Rows, listing: Listing) -> tuple[Queue, Queue]:
    """The queues of vmcnt and of lgkmcnt."""
    value = counts(listing, rows.costs)
    counted, unordered = members(listing, rows.costs)
    vm, lgkm = (
        _queue(rows, counter, value[counter], counted[counter], unordered[counter])
        for counter in Counter
    )
    return vm, lgkm


def _queue(rows: Rows, counter: Counter, value: Array, counted: Mask, unordered: Mask) -> Queue:
    operations = np.flatnonzero(counted[rows.row])
    wait = np.flatnonzero(value[rows.row] >= 0)
    n = value[rows.row[wait]]
    wave = rows.wave[wait]
    born = np.searchsorted(operations, rows.waves.rows[wave])
    issued = np.searchsorted(operations, wait)
    loose = _since(rows, np.flatnonzero(unordered[rows.row]), wait, n == 0)
    # What waits have drained so far, as a place in ``operations``; those rise with the wave.
    told = (n == 0) | ~loose
    reached = np.maximum(np.where(told, issued - n, born), born)
    drained = np.append(0, np.maximum.accumulate(reached)[:-1])[: len(wait)]
    first = np.maximum(drained, born)
    more = issued - n > first
    last = np.where(told & more, issued - n, first)
    return Queue(counter, operations, wait, n, first, last, ~told & more)


def _since(rows: Rows, loose: Array, wait: Array, draining: Mask) -> Mask:
    """Whether at each wait an operation of ``loose`` may be outstanding: one issued in its
    wave since the last wait that drained everything."""
    drains = wait[draining]
    at = np.searchsorted(drains, wait) - 1
    since = np.where(at >= 0, np.append(drains, -1)[at], -1)
    since = np.maximum(since, rows.waves.rows[rows.wave[wait]] - 1)
    newest = np.searchsorted(loose, wait) - 1
    found: Mask = (newest >= 0) & (np.append(loose, -1)[newest] > since)
    return found
