"""How a digest keeps to its size: what is left out first, and said to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tracekit.digest.digest import Digest, Key, Tables
from tracekit.digest.recording import Recording, cut, shortened
from tracekit.errors import TracekitError

#: Bytes that the digest of a capture may have whatever the capture's own size, and its share of
#: that size beyond.
LEAST, SHARE = 64 << 10, 0.01
#: Rows that tables are cut to, one after the other.
_ROWS = (2000, 1000, 500, 200, 100, 50, 20, 10)
#: Which rows of a table matter most, by command; of the others the first do.
_WEIGHT = {"hotspots": "latency_cycles"}


def limit(paths: tuple[str, ...], captures: int) -> int:
    """Bytes that the digest of the ``captures`` below ``paths`` may have."""
    files = [file for path in map(Path, paths)
             for file in (path.rglob("*") if path.is_dir() else [path])]  # fmt: skip
    size = sum(file.stat().st_size for file in files if file.is_file())
    return max(LEAST * captures, int(SHARE * size))


def fitted(digest: Digest, most: int) -> bytes:
    """The file of ``digest``, of ``most`` bytes at most, with as much left out as it takes.

    Raises TracekitError where even the pages do not fit.
    """
    found = digest.content()
    if len(found) <= most:
        return found
    found, steps = b"", list(_steps(digest))
    low, high = 0, len(steps)
    # The first step that fits: each leaves out more than the one before.
    while low < high:
        middle = (low + high) // 2
        made = steps[middle].content()
        if len(made) <= most:
            high, found = middle, made
        else:
            low = middle + 1
    if not found:
        raise TracekitError(f"--save: the pages alone take more than {most:,} bytes")
    return found


def _steps(digest: Digest) -> Iterator[Digest]:
    bare = _each(digest, _bare)
    yield bare
    for rows in _ROWS:
        yield _each(bare, partial(_limited, most=rows))
    least = _each(bare, partial(_limited, most=_ROWS[-1]))
    first = replace(least, captures=tuple(
        replace(each, tables={k: v for k, v in each.tables.items() if not k.variant})
        for each in least.captures
    ))  # fmt: skip
    yield first
    yield replace(first, captures=tuple(replace(each, tables={}) for each in first.captures))
    yield replace(
        first, captures=tuple(replace(each, tables={}, sides={}) for each in first.captures)
    )


def _each(digest: Digest, change: Any) -> Digest:
    def changed(tables: Tables) -> Tables:
        return {key: change(key, one) for key, one in tables.items()}

    return replace(
        digest,
        captures=tuple(replace(each, tables=changed(each.tables)) for each in digest.captures),
    )


def _bare(key: Key, one: Recording) -> Recording:
    """Without single bubbles and without lines that never ran."""
    rows = one.payload.get("rows", [])
    if key.command == "bubbles" and rows:
        return cut(one, "rows", [])
    if key.command == "hotspots":
        ran = [at for at, row in enumerate(rows) if row["hits"]]
        return cut(one, "rows", ran) if len(ran) < len(rows) else one
    return one


def _limited(key: Key, one: Recording, most: int) -> Recording:
    """At most ``most`` rows of each table."""
    for name, table in one.payload.items():
        if isinstance(table, list) and len(table) > most and isinstance(table[0], dict):
            weight = _WEIGHT.get(key.command)
            weights = [row[weight] if weight else 0 for row in table]
            order = sorted(range(len(table)), key=weights.__getitem__, reverse=True)
            one = cut(one, name, sorted(order[:most]))
    return shortened(one, most)
