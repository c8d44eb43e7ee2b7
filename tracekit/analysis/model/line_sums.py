"""Sums per line of code over all waves, as rocprofv3 defines them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Sums:
    """int64 per listing row: executions, and cycles of all waves together; -1 unknown."""

    hits: Array
    latency: Array
    stall: Array
    idle: Array
    barrier: Array  # inside s_barrier


def line_sums(timeline: Timeline) -> Sums:
    """Sums over the instruction rows; unstitched ones belong to no line.

    Idle is the time from the end of what the wave did before (its begin, for the first
    instruction) to the first attempt to issue.
    """
    table, n = timeline.executed, len(timeline.listing)
    row = table["row"].to_numpy()
    time, stall = table["time"].to_numpy(), table["stall"].to_numpy()
    duration, release = table["duration"].to_numpy(), table["release"].to_numpy()
    own = row >= 0
    idle = np.maximum(time - _previous_ends(timeline, time + duration), 0)
    # Exact timing ends the stall of a barrier at its arrival, AMD's at its release.
    inside = np.where(release >= 0, duration - stall, stall)
    inside[np.append(timeline.listing.expect, 0)[row] != Expect.BARRIER] = 0

    def total(values: Array) -> Array:
        return _per_line(row[own], values[own], n)

    return Sums(
        np.bincount(row[own], minlength=n).astype(np.int64),
        total(duration), total(stall), total(idle), total(inside),
    )  # fmt: skip


def _per_line(row: NDArray[np.int32], values: Array, n: int) -> Array:
    """Exact integer sums (doubles hold them: cycles of a capture stay below 2^53)."""
    return np.bincount(row, values, n).astype(np.int64)


def _previous_ends(timeline: Timeline, end: Array) -> Array:
    """Latest end of the instructions before each one in its wave; the wave's begin at first."""
    result = np.empty_like(end)
    begins = timeline.waves["begin"].tolist()
    at = 0
    for begin, count in zip(begins, timeline.waves["instructions"].tolist(), strict=True):
        if count:
            result[at] = begin
            result[at + 1 : at + count] = end[at : at + count - 1]
            np.maximum.accumulate(result[at : at + count], out=result[at : at + count])
        at += count
    return result


def listed_sums(listing: Listing) -> Sums:
    """The sums that a code.json brought along."""

    def column(values: Array | None) -> Array:
        return np.full(len(listing), -1) if values is None else values

    stall = column(listing.stall)
    barrier = np.where(listing.expect == Expect.BARRIER, stall, 0)
    return Sums(column(listing.hits), column(listing.latency), stall, column(listing.idle), barrier)
