"""What removing a cause could take off the idle time, at most.

Share clips at the bubble: a wait that ended before it has none, even if it is what delayed
the wave.  Here the deciding wave is followed over its whole chain since its previous MFMA:
of a cause, min(cycles on that chain, the bubble).  Not additive: removing two causes takes
at most what ``removable`` says of both together, which is less than the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.engine import Charges
from tracekit.analysis.attribution.names import CAUSES, Cause
from tracekit.analysis.attribution.view import View
from tracekit.analysis.model.rows import Rows

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Chains:
    """Per run of a bubble in the window: ``length`` in it, and ``cycles`` (runs x causes) of
    each cause on the chain that led to its end; ``charged``: (bubble's last MFMA, its next, a
    Cause, a listing row) that occur, all listing rows, -1 for none."""

    length: Array
    cycles: Array
    charged: Array

    def removable(self, *causes: Cause) -> int:
        """Cycles that removing ``causes`` together takes, at most."""
        together = self.cycles[:, list(causes)].sum(axis=1)
        return int(np.minimum(together, self.length).sum())


def chains(found: Charges, seen: Sequence[View]) -> Chains:
    """The chains of all bubbles that the windows touch."""
    parts = [_chains(found, one) for one in seen]
    none = np.zeros(0, np.int64), np.zeros((0, len(CAUSES)), np.int64), np.zeros((0, 4), np.int64)
    length, cycles, charged = (np.concatenate(c) for c in zip(none, *parts, strict=True))
    return Chains(length, cycles, np.unique(charged, axis=0))


def removable(found: Charges, seen: Sequence[View]) -> dict[str, int]:
    """Cycles per cause, at most; they do not add up."""
    all_chains = chains(found, seen)
    return {name: all_chains.removable(Cause(i)) for i, name in enumerate(CAUSES)}


def _chains(found: Charges, one: View) -> tuple[Array, Array, Array]:
    rows, charges = found.facts.rows, one.charges
    bubbles, who, whole = charges.bubbles, charges.deciders, charges.pieces
    n = len(bubbles)
    # In the bubble: what it is charged with.
    cycles = np.minimum(whole.cycles, rows.stride)
    sums = _sums(who.bubble[whole.of], whole.cause, cycles, n)
    # Before it: what the wave that ends it did since its previous MFMA issued.
    last = np.searchsorted(who.bubble, np.arange(n), side="right") - 1
    wave = who.wave[last]
    ends = np.flatnonzero((wave >= 0) & (bubbles.after >= 0))
    wave, stop = wave[ends], bubbles.start[ends]
    start = _previous(rows, wave, stop)
    # The first bubble begins before everything: nothing precedes it.
    asked = np.flatnonzero(start < stop)
    ends, start, stop, wave = ends[asked], start[asked], stop[asked], wave[asked]
    before = found.facts.charger.charge(start, stop, wave)
    own = rows.waves.simd_of[before.wave] == rows.waves.simd_of[charges.waves[0]]
    # Refused on its own SIMD while the pipe is busy: that is no idle time to remove.
    counts = ~(own & np.isin(before.cause, (Cause.MATRIX_ELSEWHERE, Cause.MFMA)))
    before = before.take(counts)
    sums += _sums(ends[before.of], before.cause, before.cycles, n)
    listed = np.append(rows.row, -1)
    of = np.concatenate([who.bubble[whole.of], ends[before.of]])
    cause, row = (np.concatenate([getattr(part, name) for part in (whole, before)])
                  for name in ("cause", "row"))  # fmt: skip
    kept = np.isin(of, one.runs.bubble)
    of, cause, row = of[kept], cause[kept], listed[row[kept]]
    around = (listed[at][of] for at in (bubbles.before, bubbles.after))
    charged = np.unique(np.stack([*around, cause, row], axis=1), axis=0)
    return one.runs.end - one.runs.start, sums[one.runs.bubble], charged


def _sums(bubble: Array, cause: Array, cycles: Array, n: int) -> Array:
    sums = np.bincount(bubble * len(CAUSES) + cause, cycles, minlength=n * len(CAUSES))
    return sums.astype(np.int64).reshape(n, len(CAUSES))


def _previous(rows: Rows, wave: Array, time: Array) -> Array:
    """Issue of the last MFMA of each wave before ``time``; its begin where there is none."""
    mfmas = rows.mfmas
    key = rows.key(rows.wave[mfmas], rows.issue[mfmas])
    at = np.searchsorted(key, rows.key(wave, time)) - 1
    found = np.where(at >= 0, np.append(mfmas, -1)[at], -1)
    own = (found >= 0) & (np.append(rows.wave, -1)[found] == wave)
    return np.where(own, np.append(rows.issue, 0)[found], rows.waves.begin[wave])
