"""Workgroups by their barriers, and who arrived last at each.

The waves of a workgroup leave every barrier together; that is what tells them from another
workgroup of the same CU.  The k-th barrier of one is the k-th of the other, whatever its
program counter: waves that play ping-pong meet at different ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.rows import NEVER, Rows
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing

Array = NDArray[np.int64]

#: Cycles within which the waves of a workgroup leave a barrier.
TOGETHER = 8
#: The cycles of a barrier's row after its release.
AFTER_RELEASE = 4


@dataclass(frozen=True)
class Barriers:
    """One entry per executed s_barrier, sorted by wave and program order.

    ``row`` (of Rows), ``arrival`` and ``release`` in cycles; ``group`` numbers workgroups;
    ``last`` is the wave that came last to this barrier (itself where it did, or where it is
    alone) and ``last_arrival`` when.
    """

    row: Array
    arrival: Array
    release: Array
    group: Array
    last: Array
    last_arrival: Array


def barriers(rows: Rows, listing: Listing) -> Barriers:
    """The barriers of all waves."""
    row = np.flatnonzero(np.append(listing.expect == Expect.BARRIER, False)[rows.row])
    wave = rows.wave[row]
    release = rows.end[row] - AFTER_RELEASE
    arrival = rows.time[row] if rows.tolerant else rows.arrival[row]
    offset = np.searchsorted(wave, np.arange(len(rows.waves) + 1))
    group = _workgroups(rows, release, offset)
    ordinal = np.arange(len(row)) - offset[wave]
    last = _last(rows, wave, group[wave], ordinal, arrival)
    return Barriers(row, arrival, release, group[wave], wave[last], arrival[last])


def _workgroups(rows: Rows, release: Array, offset: Array) -> Array:
    """Per wave the number of its workgroup.

    A wave joins those whose every barrier it left within TOGETHER cycles, as far as both
    have them (a wave may be cut, or end early); one without barriers is alone.
    """
    waves = rows.waves
    count = np.diff(offset)
    result = np.arange(len(waves))
    have = np.flatnonzero(count)
    first = release[offset[have]]
    order = have[np.lexsort((first, waves.dispatch[have], waves.cu[have], waves.se[have]))]
    # Of each open workgroup: its number, and the earliest and latest release of each barrier.
    groups: list[tuple[int, Array, Array]] = []
    place: tuple[int, ...] = ()
    for wave in order.tolist():
        own = release[offset[wave] : offset[wave + 1]]
        here = (int(waves.se[wave]), int(waves.cu[wave]), int(waves.dispatch[wave]))
        if here != place:
            place, groups = here, []
        groups = [group for group in groups if own[0] - group[1][0] <= TOGETHER]
        for at, (number, low, high) in enumerate(groups):
            n = min(len(own), len(low))
            lower, upper = np.minimum(low[:n], own[:n]), np.maximum(high[:n], own[:n])
            if (upper - lower <= TOGETHER).all():
                rest = (own[n:], own[n:]) if len(own) > n else (low[n:], high[n:])
                groups[at] = (number, np.append(lower, rest[0]), np.append(upper, rest[1]))
                result[wave] = number
                break
        else:
            groups.append((wave, own, own))
    return result


def _last(rows: Rows, wave: Array, group: Array, ordinal: Array, arrival: Array) -> Array:
    """Per barrier the entry of the wave that arrived last at it.

    Of several, the wave itself, then one of its own SIMD, then the oldest.
    """
    waves = rows.waves
    n = len(wave)
    meeting = np.unique(group * (n + 1) + ordinal, return_inverse=True)[1]
    latest = np.full(n, -NEVER)
    np.maximum.at(latest, meeting, arrival)
    tied = arrival == latest[meeting]
    # Oldest of all that tie, at a meeting and on each SIMD of it.
    age = np.lexsort((waves.number[wave], waves.slot[wave], waves.begin[wave]))
    rank = np.empty(n, np.int64)
    rank[age] = np.arange(n)
    oldest = _first(meeting, rank, tied, age)
    place = np.unique(meeting * (len(waves) + 1) + waves.simd_of[wave], return_inverse=True)[1]
    near = _first(place, rank, tied, age)
    result = np.where(near[place] >= 0, near[place], oldest[meeting])
    return np.where(tied, np.arange(n), result)


def _first(number: Array, rank: Array, tied: NDArray[np.bool_], age: Array) -> Array:
    """Per number the entry of smallest rank that ties; -1 without one."""
    n = len(number)
    best = np.full(n, n, np.int64)
    np.minimum.at(best, number[tied], rank[tied])
    return np.where(best < n, np.append(age, -1)[np.minimum(best, n)], -1)
