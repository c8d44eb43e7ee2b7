"""rocprofv2's schema (before rocprofv3).

Waves have no "cu", instructions no stall (the column is 0): time + duration is the end of
the issue, so an instruction issues at time + duration - 4.  The reader puts that into the
stall column (duration - 4; all of an s_waitcnt and its like, none of s_endpgm), so that
time + stall is the issue as everywhere else.

The last column of an instruction names its code.json row by column 4 (index) or, in other
builds of the tool, by column 2; the one whose instruction types fit is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.capture.archive import Place
from tracekit.capture.files import read_json
from tracekit.decoded.packed import PackedOccupancy
from tracekit.decoded.wave_files import WaveKey
from tracekit.gfx9 import TICK, Category

#: Type of a branch in code.json; in waves it is 7 (jump) or 8 (next).
_BRANCH = 10


class Rocprofv2(PackedOccupancy):
    _rows: NDArray[np.int32] | None = None

    def times(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        category, duration = table[:, 1], table[:, 3]
        stall = np.maximum(duration - TICK, 0)
        stall = np.where(category == Category.IMMED, duration, stall)
        return np.where(category == Category.MESSAGE, 0, stall)

    def cu_of(self, path: Place, wave: dict[str, Any], key: WaveKey) -> int:
        return super().cu_of(path, wave, key) if "cu" in wave else -1

    def rows_of_lines(self, path: Place, table: NDArray[np.int64]) -> NDArray[np.int32]:
        if self._rows is None and len(table):
            self._rows = self._index(table)
        if self._rows is None:
            return np.empty(0, np.int32)
        number = table[:, 4]
        known = (number >= 0) & (number < len(self._rows))
        return np.where(known, self._rows[np.where(known, number, 0)], -1).astype(np.int32)

    def _index(self, table: NDArray[np.int64]) -> NDArray[np.int32]:
        """Listing row by the number that instructions carry, -1 where there is none."""
        path = self.folder / "code.json"
        rows = read_json(path)["code"] if path.is_file() else []
        limit = 1 + max((r[c] for r in rows for c in (2, 4) if _is_index(r[c])), default=0)
        best, best_fit = np.full(1, -1, np.int32), -1.0
        for column in (4, 2):
            at, kind = np.full(limit, -1, np.int32), np.full(limit, -1)
            for row in rows:
                if _is_index(row[column]) and row[column] < limit and at[row[column]] < 0:
                    at[row[column]] = self.tables.listing.row_of_line(row[4])
                    kind[row[column]] = row[1]
            number = table[:, 4]
            known = (number >= 0) & (number < limit)
            kind = np.where(known, kind[np.where(known, number, 0)], -1)
            category = table[:, 1]
            branch = (category == Category.JUMP) | (category == Category.NEXT)
            fit = float(np.mean((kind == category) | (branch & (kind == _BRANCH))))
            if fit > best_fit:
                best, best_fit = at, fit
        return best


def _is_index(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 24
