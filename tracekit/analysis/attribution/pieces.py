"""Pieces of time with what they are charged to: the columns that the tables are summed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.cuts import inside
from tracekit.analysis.model.intervals import Intervals

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """Pieces [start, end) of cycles, one entry of every column each.

    ``of``: index of what the piece was cut from; ``cause`` (Cause), ``split`` (Split) and
    ``phase`` (Phase); ``wave`` charged, -1 none; ``row`` (of Rows) charged: the instruction,
    of a gap the next one, -1 none; ``own``: the Cause that the deciding wave itself is in,
    before a barrier is followed; ``others`` (Others): what the other residents do.
    """

    of: Array
    start: Array
    end: Array
    cause: Array
    split: Array
    phase: Array
    wave: Array
    row: Array
    own: Array
    others: Array

    def __len__(self) -> int:
        return len(self.start)

    @property
    def cycles(self) -> Array:
        """Length of each piece."""
        return self.end - self.start

    @property
    def columns(self) -> list[Array]:
        """All columns, in the order of the fields."""
        return [getattr(self, field.name) for field in fields(self)]

    def take(self, at: Array | NDArray[np.bool_]) -> Pieces:
        """Some of the pieces."""
        return Pieces(*(column[at] for column in self.columns))

    def cut(self, at: Array, start: Array, end: Array) -> Pieces:
        """Parts [start, end) of the pieces ``at``."""
        columns = [column[at] for column in self.columns]
        columns[1], columns[2] = start, end
        return Pieces(*columns)

    def within(self, window: Intervals) -> Pieces:
        """What lies in ``window``."""
        cut = inside(self.start, self.end, window)
        return self.cut(cut.of, cut.start, cut.end)

    def ordered(self) -> Pieces:
        """By ``of``, then by time."""
        return self.take(np.lexsort((self.start, self.of)))


def joined(parts: Sequence[Pieces]) -> Pieces:
    """The pieces of all ``parts`` (at least one), one after the other."""
    columns = zip(*(part.columns for part in parts), strict=True)
    return Pieces(*(np.concatenate(column) for column in columns))
