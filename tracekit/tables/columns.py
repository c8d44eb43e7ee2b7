"""Columns of tables: the pieces of all streams joined, with little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import STATES
from tracekit.tables.schema import COLUMNS, categorical, frame

if TYPE_CHECKING:
    import pandas as pd

#: Column name -> an array, or a function that makes it when the column is joined.
Columns = dict[str, object]


def join(name: str, parts: list[Columns], texts: pd.Index[str]) -> pd.DataFrame:
    """One table of the parts of all streams.

    A piece may be a function that makes it.  Column by column, and the pieces of a column
    are dropped as soon as it stands: on millions of instructions memory is what is short.
    """
    import pandas as pd

    joined: Columns = {}
    lengths = [_length(part) for part in parts]
    for column, (dtype, _) in COLUMNS[name].items():
        if dtype == "str":
            joined[column] = [value for part in parts for value in part.pop(column)]  # type: ignore[attr-defined]
            continue
        kind = None if dtype == "category" else np.dtype(dtype)
        values = _column([part.pop(column) for part in parts], lengths, kind)
        if dtype == "category":
            joined[column] = categorical(values, pd.Index(STATES) if column == "state" else texts)
        else:
            joined[column] = values
    return frame(name, joined)


def _length(part: Columns) -> int:
    return next(len(piece) for piece in part.values() if not callable(piece))  # type: ignore[arg-type]


def _column(pieces: list[object], lengths: list[int], kind: np.dtype[Any] | None) -> NDArray[Any]:
    """The pieces as one array of ``kind`` (None: that of the first, int32 without one)."""
    if not pieces:
        return np.empty(0, kind or np.int32)
    first = np.asarray(_piece(pieces.pop(0)), kind)
    if not pieces:
        return first
    result = np.empty(sum(lengths), first.dtype)
    result[: lengths[0]] = first
    del first
    at = lengths[0]
    for length in lengths[1:]:
        result[at : at + length] = _piece(pieces.pop(0))
        at += length
    return result


def _piece(piece: object) -> Any:
    return piece() if callable(piece) else piece
