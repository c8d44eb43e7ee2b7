"""Numbers out of JSON, checked before they become columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.capture.archive import Place
from tracekit.errors import FormatError


def int_table(path: Place, rows: Any, width: int, what: str) -> NDArray[np.int64]:
    """A list of integer rows as int64[n, width]; FormatError when it is none.

    Rows may be longer (newer tools append columns); null is an empty list, as AMD's C++
    tool writes it.
    """
    if rows is None or (isinstance(rows, list) and not rows):
        return np.empty((0, width), np.int64)
    try:
        table = np.array(rows)
        if table.dtype.kind not in "iu":
            raise ValueError
        table = table.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(path, f"{what}: expected rows of {width} integers") from None
    if table.ndim != 2 or table.shape[1] < width:
        raise FormatError(path, f"{what}: expected rows of {width} integers")
    return table[:, :width]


def within(
    path: Place, values: NDArray[np.int64], what: str, limit: int = 127
) -> NDArray[np.int64]:
    """``values``, when all are from 0 to ``limit``; FormatError otherwise."""
    if len(values) and not (int(values.min()) >= 0 and int(values.max()) <= limit):
        raise FormatError(path, f"{what}: {int(values.max())} is out of range")
    return values


def integer(
    path: Place, content: Mapping[str, Any], name: str, *, limit: int = 1 << 62
) -> int:  # fmt: skip
    """A non-negative integer field of a wave; FormatError when it is none."""
    value = content.get(name)
    if type(value) is not int or not 0 <= value <= limit:
        raise FormatError(path, f"wave.{name}: expected an integer, found {value!r:.40}")
    return value
