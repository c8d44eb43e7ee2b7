"""Listings of code objects kept by content: a large one takes seconds to disassemble.

A listing lies in ``$XDG_CACHE_HOME/tracekit/listings`` (default ``~/.cache``) as an .npz of
plain arrays (nothing in it is a pickle), named by the SHA-256 of the code object's bytes and
of the versions that made it.  The oldest ones are dropped above LIMIT bytes.  A folder that
cannot be read or written, or a damaged file, costs time only.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.listing import Listing, Symbol
from tracekit.version import VERSION

#: Bytes that all listings in the cache may take, and the shortest code that is kept.
LIMIT, SMALLEST = 512 << 20, 64 << 10
#: Changes with the columns below.
_FORMAT = 1
_COLUMNS = ("vaddr", "size", "expect", "accept", "next", "target")
_SEPARATOR = "\n"


def folder() -> Path:
    """Where listings are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "tracekit" / "listings"


def key(data: bytes, llvm: str) -> str:
    """Name of the listing of a code object with these bytes."""
    versions = f"{_FORMAT} {VERSION} {llvm} ".encode()
    return hashlib.sha256(versions + hashlib.sha256(data).digest()).hexdigest()


def load(name: str, code_object: int) -> Listing | None:
    """The listing of that name as code object ``code_object``; None when it is not there."""
    path = folder() / f"{name}.npz"
    try:
        with np.load(path, allow_pickle=False) as held:
            found = _unpacked({column: held[column] for column in held.files}, code_object)
        os.utime(path)
    except (OSError, ValueError, KeyError, IndexError, EOFError, zlib.error, zipfile.BadZipFile):
        return None
    return found


def store(name: str, listing: Listing) -> None:
    """Keep a listing of one code object; nothing happens where that is not possible."""
    try:
        where = folder()
        where.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=where, suffix=".tmp", delete=False) as file:
            try:
                np.savez(file, allow_pickle=False, **_packed(listing))
                file.close()
                os.replace(file.name, where / f"{name}.npz")
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        _bound(where)
    except (OSError, ValueError):
        return


def _bound(where: Path) -> None:
    """Drop what was not used for longest, until the rest is below LIMIT."""
    found = [(path.stat(), path) for path in where.glob("*.npz")]
    found.sort(key=lambda each: each[0].st_mtime, reverse=True)
    total = 0
    for stat, path in found:
        total += stat.st_size
        if total > LIMIT:
            path.unlink(missing_ok=True)


def _packed(listing: Listing) -> dict[str, NDArray[np.generic]]:
    arrays = {column: np.asarray(getattr(listing, column)) for column in _COLUMNS}
    text, text_code = _distinct(listing.text)
    source, source_code = _distinct(listing.source)
    return arrays | {
        "text": text, "text_code": text_code, "source": source, "source_code": source_code,
        "symbol": _bytes([symbol.name for symbol in listing.symbols]),
        "symbol_vaddr": np.array([symbol.vaddr for symbol in listing.symbols], np.int64),
        "arch": _bytes([listing.arch or ""]),
    }  # fmt: skip


def _distinct(values: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The different texts as bytes, and the number of each value's."""
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(value, len(codes)) for value in values], np.int32)
    return _bytes(list(codes)), code


def _bytes(values: Sequence[str]) -> NDArray[np.uint8]:
    if any(_SEPARATOR in value for value in values):
        raise ValueError("a text of two lines")
    return np.frombuffer(_SEPARATOR.join(values).encode(), np.uint8)


def _texts(held: NDArray[np.uint8]) -> list[str]:
    return held.tobytes().decode().split(_SEPARATOR)


def _unpacked(held: dict[str, NDArray[np.generic]], code_object: int) -> Listing:
    def texts(name: str) -> list[str]:
        known = _texts(held[name].astype(np.uint8))
        return [known[code] for code in held[f"{name}_code"].tolist()]

    n = len(held["vaddr"])
    places = held["symbol_vaddr"].tolist()
    names = _texts(held["symbol"].astype(np.uint8)) if places else []
    symbols = [Symbol(code_object, vaddr, name) for vaddr, name in zip(places, names, strict=True)]
    if any(len(held[column]) != n for column in (*_COLUMNS, "text_code", "source_code")):
        raise ValueError("columns of different length")
    (arch,) = _texts(held["arch"].astype(np.uint8))
    listing = Listing.build(code_object, [], [], symbols=symbols, arch=arch or None)
    columns = {column: held[column] for column in _COLUMNS}
    return replace(
        listing,
        code_object=np.full(n, code_object, np.int32),
        line=np.full(n, -1, np.int32),
        text=texts("text"),
        source=texts("source"),
        **columns,  # type: ignore[arg-type]
    )
