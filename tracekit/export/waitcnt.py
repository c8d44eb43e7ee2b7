"""Which memory instructions each s_waitcnt of a wave waited for, as AMD's decoder tells it.

The hardware counts memory operations in flight (vmcnt, lgkmcnt); s_waitcnt with n waits until
at most n are left.  Operations of one kind return in order, so the oldest are the ones waited
for; where kinds mix that may return out of order only n = 0 tells anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing

#: [line of the s_waitcnt, [[line of a producer, 0], ...]]
WaitRow = list[object]

_COUNT = re.compile(r"(lgkmcnt|vmcnt)\((\d+)\)")


class Kind(IntEnum):
    """What a line does to the counters."""

    NONE = 0
    SCALAR = 1  # lgkmcnt, out of order
    LDS = 2  # lgkmcnt
    VECTOR = 3  # vmcnt
    FLAT = 4  # both, out of order
    WAIT = 5


@dataclass(frozen=True)
class WaitTable:
    """Per listing row: its Kind; and the counts of each s_waitcnt (lgkmcnt, vmcnt; -1 none)."""

    kind: NDArray[np.uint8]
    counts: dict[int, tuple[int, int]]

    @classmethod
    def of(cls, listing: Listing) -> WaitTable:
        kind = np.zeros(len(listing) + 1, np.uint8)  # the last is for unstitched records
        own = kind[:-1]
        own[listing.expect == Expect.SMEM] = Kind.SCALAR
        own[listing.expect == Expect.LDS] = Kind.LDS
        own[listing.expect == Expect.VMEM] = Kind.VECTOR
        own[listing.expect == Expect.FLAT] = Kind.FLAT
        counts: dict[int, tuple[int, int]] = {}
        for row, text in enumerate(listing.text):
            if text.startswith("s_sendmsg"):
                own[row] = Kind.LDS
            elif text.startswith("s_waitcnt"):
                own[row] = Kind.WAIT
                found = {name: int(count) for name, count in _COUNT.findall(text)}
                counts[row] = (found.get("lgkmcnt", -1), found.get("vmcnt", -1))
        return cls(kind, counts)


@dataclass
class _Counter:
    """Operations in flight of one counter, oldest first."""

    lines: list[int] = field(default_factory=list)
    ordered: bool = True

    def wait(self, left: int, flat: list[int]) -> list[int]:
        """Lines waited for, which leave; those of flat_* operations come last."""
        if left == 0:
            self.ordered = True
        if not self.ordered:
            return []
        done = len(self.lines) - left
        found = self.lines[: max(done, 0)] + flat
        del self.lines[: max(done, 0)]
        flat.clear()
        return found


def wait_rows(
    table: WaitTable, row: NDArray[np.int32], line: NDArray[np.int64]
) -> list[WaitRow]:  # fmt: skip
    """One row per counter of each s_waitcnt of a wave that waited for something.

    ``row``: listing rows of the wave's instructions in order, -1 unstitched; ``line``: their
    line numbers.  An s_waitcnt on both counters gives two rows, lgkmcnt first.
    """
    lgkm, vector, flat = _Counter(), _Counter(), list[int]()
    found: list[WaitRow] = []
    kinds = table.kind[row]
    at = np.flatnonzero(kinds)
    for kind, where, number in zip(
        kinds[at].tolist(), row[at].tolist(), line[at].tolist(), strict=True
    ):
        if kind == Kind.WAIT:
            for counter, left in zip((lgkm, vector), table.counts[where], strict=True):
                producers = counter.wait(left, flat) if left >= 0 else []
                if producers:
                    found.append([number, [[producer, 0] for producer in producers]])
        elif kind == Kind.VECTOR:
            vector.lines.append(number)
        elif kind == Kind.FLAT:
            flat.append(number)
            lgkm.ordered = vector.ordered = False
        else:
            lgkm.lines.append(number)
            lgkm.ordered &= kind != Kind.SCALAR
    return found
