"""Why the matrix pipe is idle in a window: exactly one cause for every idle cycle.

The wave that ends the bubble decides (``attribution`` has the rules); here its charges are
cut to the window of each SIMD.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.engine import Charges, charges
from tracekit.analysis.attribution.names import CAUSES, MEANINGS
from tracekit.analysis.attribution.view import View, view
from tracekit.analysis.model.intervals import Intervals, union
from tracekit.analysis.model.loops import Loops
from tracekit.analysis.model.rows import Waves
from tracekit.analysis.model.simds import MatrixUse, Simd
from tracekit.analysis.model.window import DEFAULT, Window, Windows
from tracekit.tables.timeline import Timeline

__all__ = ["CAUSES", "MEANINGS", "Causes", "SimdCauses", "causes", "causes_in"]

Array = NDArray[np.int64]


@dataclass(frozen=True)
class SimdCauses:
    """One SIMD in its window; ``view`` has the charges in full (split, phase, others);
    ``waves`` are those of the timeline."""

    view: View
    waves: Waves

    @property
    def simd(self) -> Simd:
        return self.view.charges.simd

    @property
    def window(self) -> Window:
        return self.view.window

    @property
    def matrix(self) -> MatrixUse:
        return self.view.charges.matrix

    @cached_property
    def _merged(self) -> tuple[Array, Array, Array]:
        """Neighbours with one cause become one piece."""
        pieces = self.view.pieces
        start, end, cause = pieces.start, pieces.end, pieces.cause
        fresh = np.ones(len(start), bool)
        fresh[1:] = (start[1:] != end[:-1]) | (cause[1:] != cause[:-1])
        return start[fresh], end[np.append(fresh[1:], True)[: len(end)]], cause[fresh]

    @property
    def start(self) -> Array:
        """Pieces of idle time, disjoint and in order; together the idle cycles of the window."""
        return self._merged[0]

    @property
    def end(self) -> Array:
        return self._merged[1]

    @property
    def cause(self) -> Array:
        """Index into CAUSES of each piece."""
        return self._merged[2]

    @property
    def residence(self) -> tuple[Array, Array, Array]:
        """(key, begin, end) of each wave of the SIMD; key as in Simd.wave_key."""
        waves, own = self.waves, self.view.charges.waves
        return waves.slot[own] << 32 | waves.number[own], waves.begin[own], waves.end[own]

    @property
    def idle(self) -> Intervals:
        """Matrix-idle cycles of the window."""
        return union(self.start, self.end)

    def totals(self) -> Array:
        """Cycles per cause."""
        sums = np.bincount(self.cause, self.end - self.start, minlength=len(CAUSES))
        return sums.astype(np.int64)


@dataclass(frozen=True)
class Causes:
    """Causes on every SIMD of a timeline; ``notes`` say what could not be told."""

    charges: Charges
    simds: list[SimdCauses]
    loops: Loops
    notes: list[str] = field(default_factory=list)

    @property
    def views(self) -> list[View]:
        """For the tables of the attribution."""
        return [simd.view for simd in self.simds]


def causes(timeline: Timeline, window: str = DEFAULT) -> Causes:
    """The cause of every matrix-idle cycle in ``window``.

    SIMDs on which an MFMA of unknown cost ran have no entry (their idle time is unknown).
    """
    return causes_in(Windows(timeline, window), charges(timeline))


def causes_in(windows: Windows, found: Charges) -> Causes:
    """``causes`` in the window of ``windows``, from the charges of the whole trace."""
    waves = found.facts.rows.waves
    simds = [SimdCauses(view(one, windows.of(one.simd)), waves) for one in found.simds]
    notes = dict.fromkeys([*(s.window.note for s in simds if s.window.note), *found.notes])
    return Causes(found, simds, windows.loops, list(notes))
