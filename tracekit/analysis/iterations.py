"""Time on a SIMD as iterations of its dominant loop: (iteration, offset) of any cycle.

At any time the oldest resident wave in the loop is the reference; its iterations cut the
time.  Iterations count on over the waves that follow each other in a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.causes import SimdCauses
from tracekit.analysis.model.loops import Loops

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """Iterations of the reference waves: disjoint, in order; ``wave`` as Simd.wave_key."""

    begin: Array
    end: Array
    wave: Array

    def at(self, time: Array) -> tuple[Array, Array]:
        """(iteration, offset in cycles) of each time; -1 outside of the loop."""
        index = np.searchsorted(self.begin, time, side="right") - 1
        inside = index >= 0
        inside &= time < np.append(self.end, 0)[index]
        offset = time - np.append(self.begin, 0)[index]
        return np.where(inside, index, -1), np.where(inside, offset, -1)


def fold(simd: SimdCauses, found: Loops) -> Fold:
    """The iterations that cut the time of one SIMD."""
    view, (keys, born, _) = simd.simd, simd.residence
    table = found.of_dominant(view.dispatch)
    own = ((table["se"] == view.se) & (table["simd"] == view.simd)).to_numpy()
    key = table["slot"].to_numpy()[own].astype(np.int64) << 32
    key |= table["wave"].to_numpy()[own].astype(np.int64)
    begin, end = table["begin"].to_numpy()[own], table["end"].to_numpy()[own]
    kept: list[tuple[Array, Array, Array]] = []
    free = np.iinfo(np.int64).min
    order = np.lexsort((keys, born))
    for wave in keys[order].tolist():
        mine = np.flatnonzero((key == wave) & (begin >= free))
        if len(mine):
            kept.append((begin[mine], end[mine], key[mine]))
            free = int(end[mine].max())
    if not kept:
        none = np.empty(0, np.int64)
        return Fold(none, none, none)
    begin, end, key = (np.concatenate(columns) for columns in zip(*kept, strict=True))
    return Fold(begin, end, key)
