"""The attribution of a timeline seen through a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.cuts import inside
from tracekit.analysis.attribution.engine import Charges, SimdCharges
from tracekit.analysis.attribution.pieces import Pieces
from tracekit.analysis.model.window import Window, Windows

Array = NDArray[np.int64]

#: A piece of a bubble that is shorter than this belongs to no place.
MINIMUM = 16


@dataclass(frozen=True)
class Runs:
    """The pieces of bubbles that lie in a window: ``bubble`` is the index of each."""

    bubble: Array
    start: Array
    end: Array


@dataclass(frozen=True)
class View:
    """One SIMD in its window: ``pieces`` are its idle cycles there, by time; ``runs`` the parts
    of bubbles that they fill, ``run`` the index of the one of each piece."""

    charges: SimdCharges
    window: Window
    pieces: Pieces
    runs: Runs
    run: Array

    @property
    def idle(self) -> int:
        """Matrix-idle cycles of the window."""
        return int(self.pieces.cycles.sum())


def views(found: Charges, windows: Windows) -> list[View]:
    """Every SIMD of ``found`` in its window."""
    return [view(one, windows.of(one.simd)) for one in found.simds]


def view(one: SimdCharges, window: Window) -> View:
    """One SIMD in ``window``."""
    pieces = one.pieces.within(window.intervals)
    cut = inside(one.bubbles.start, one.bubbles.end, window.intervals)
    run = np.searchsorted(cut.start, pieces.start, side="right") - 1
    return View(one, window, pieces, Runs(cut.of, cut.start, cut.end), run)
