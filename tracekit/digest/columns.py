"""JSON with its lists of equal rows turned into columns, which compress several times better.

A list of dictionaries with the same keys in the same order becomes ``{"": [keys, columns]}``,
a longer list of integers ``{"": differences}`` where those are shorter.  ``unpacked`` gives the
very same JSON back, types and order of keys included.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

#: The key of what was packed; JSON that has it itself cannot be.
_PACKED = ""
#: Integers from which on differences are tried.
_LONG = 8


def packed(value: Any) -> Any:
    """``value`` (of JSON) in columns; raises ValueError for one that has an empty key."""
    if isinstance(value, dict):
        if _PACKED in value:
            raise ValueError("an empty key")
        return {key: packed(each) for key, each in value.items()}
    if not isinstance(value, list | tuple):
        return value
    rows = list(value)
    if rows and all(isinstance(row, dict) for row in rows):
        keys = list(rows[0])
        if keys and all(list(row) == keys for row in rows):
            if _PACKED in keys:
                raise ValueError("an empty key")
            return {_PACKED: [keys, [packed([row[key] for row in rows]) for key in keys]]}
    if len(rows) >= _LONG and all(type(each) is int for each in rows):
        steps = [rows[0], *(b - a for a, b in pairwise(rows))]
        shorter = sum(map(len, map(str, steps))) < sum(map(len, map(str, rows)))
        return {_PACKED: steps} if shorter else rows
    return [packed(each) for each in rows]


def unpacked(value: Any) -> Any:
    """What was packed; raises ValueError for what ``packed`` does not make."""
    if isinstance(value, list):
        return [unpacked(each) for each in value]
    if not isinstance(value, dict):
        return value
    if _PACKED not in value:
        return {key: unpacked(each) for key, each in value.items()}
    inner = value[_PACKED]
    if len(value) > 1 or not isinstance(inner, list) or not inner:
        raise ValueError("not packed as it should be")
    if isinstance(inner[0], int):
        return list(accumulate(inner))
    keys, columns = inner
    lists = [unpacked(column) for column in columns]
    if len(keys) != len(lists) or not all(isinstance(each, list) for each in lists):
        raise ValueError("not as many columns as keys")
    return [dict(zip(keys, row, strict=True)) for row in zip(*lists, strict=True)]
