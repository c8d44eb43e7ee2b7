"""rocprofv3's oldest schema (SDK of 2025-05): 8-column listing, packed occupancy.

An occupancy event is one 64-bit word; its time is rounded down to 8 cycles::

    63                     23 22    19 18     17    14 13    12 11       0
    | time >> 3              |   cu   | start |  slot  |  simd  |  kernel |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.capture.archive import Place
from tracekit.decoded.reader import Reader
from tracekit.errors import FormatError


class PackedOccupancy(Reader):
    def occupancy_rows(
        self, path: Place, content: dict[str, Any], se: str
    ) -> NDArray[np.int64]:  # fmt: skip
        words = content[se] or []
        if not isinstance(words, list) or any(
            type(w) is not int or not 0 <= w < 1 << 63 for w in words
        ):
            raise FormatError(path, f"SE {se}: expected 64-bit words")
        word = np.array(words, np.int64).reshape(-1)
        fields = (
            word >> 23 << 3, word >> 19 & 15, word >> 12 & 3, word >> 14 & 15, word >> 18 & 1,
            word & 0xFFF,
        )  # fmt: skip
        return np.stack(fields, 1)
