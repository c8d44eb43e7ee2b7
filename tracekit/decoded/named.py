"""rocprofv3's 10-column schema, version 3.0.0, and its successor 3.1.

3.1 names the columns of an occupancy row in ``occupancy_fields``; no sample of it exists, so
reading it is untested on real data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.capture.archive import Place
from tracekit.decoded.numbers import int_table
from tracekit.decoded.reader import Reader

UNTESTED = "schema 3.1 (occupancy_fields): no sample of it exists, reading it is untested"
#: Columns of a row in 3.0.0, with the other names that 3.1 may use for them.
_FIELDS = (
    ("time",),
    ("cu", "cu_id"),
    ("simd", "simd_id"),
    ("slot", "wave_id", "slot_id"),
    ("start", "is_start"),
    ("kernel", "kernel_id", "dispatch_id"),
)


class NamedColumns(Reader):
    def occupancy_rows(
        self, path: Place, content: dict[str, Any], se: str
    ) -> NDArray[np.int64]:  # fmt: skip
        fields = content.get("occupancy_fields")
        if not isinstance(fields, list):
            return int_table(path, content[se], 6, f"SE {se}")
        if UNTESTED not in self.notes:
            self.notes.append(UNTESTED)
        order = []
        for position, names in enumerate(_FIELDS):
            order.append(next((fields.index(n) for n in names if n in fields), position))
        return int_table(path, content[se], max(*order, 5) + 1, f"SE {se}")[:, order]
