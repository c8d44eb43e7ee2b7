"""Listings from the code.json of a decoded capture.

Three schemas exist.  rocprofv3 rows have 10 columns, named by ``header``, or 8 in the
oldest SDK; newer SDKs append columns::

    [ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle]
    ["; name", 0 or 100, line, demangled, code object, vaddr, ...]      label

rocprofv2 rows come from compiler output and have no addresses::

    [ISA, type, branch target, null, index, assembly line, Hit, Latency]
    ["name:", 100, ...]                                       label or directive

``document`` makes the 10-column schema of a listing, with the architecture as ``arch``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.errors import FormatError
from tracekit.gfx9 import ARCHS
from tracekit.isa.listing import Listing, Symbol

#: Columns of rows without a header.
_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
#: Columns up to the sums, and of the shortest rows without a header.
_PLAIN_COLUMNS, _LEAST_COLUMNS = 6, 8
_REQUIRED = ("ISA", "LineNumber", "Codeobj", "Vaddr")
#: Column 1 of a label row (v3, oldest SDK) and of labels and directives (v2).
_LABEL = 100

_TARGET = re.compile(r"amdgcn-amd-amdhsa--(gfx[0-9a-f]+)")

Rows = list[list[Any]]


def read(path_or_json: str | Path | Mapping[str, Any]) -> Listing:
    """Read a code.json: a path, a directory that holds one, or the parsed JSON itself.

    Raises FormatError for a file that is not JSON, is no code.json, or has a malformed
    row (named by its number from 0).
    """
    if isinstance(path_or_json, Mapping):
        return _listing("code.json", path_or_json)
    path = Path(path_or_json)
    if path.is_dir():
        path = path / "code.json"
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON: {error}") from None
    return _listing(path, content)


def document(listing: Listing) -> dict[str, Any]:
    """The code.json of a listing: ``read`` gives the same instructions, symbols and chip.

    Rows are numbered as they come; a label stands before the instruction at its address.
    The columns of counts are those that the listing has.
    """
    labels: dict[tuple[int, int], list[Symbol]] = {}
    for symbol in listing.symbols:
        labels.setdefault((symbol.code_object, symbol.vaddr), []).append(symbol)
    sums = {
        "Hit": listing.hits, "Latency": listing.latency, "Stall": listing.stall,
        "Idle": listing.idle,
    }  # fmt: skip
    told_sums = {name: values for name, values in sums.items() if values is not None}
    counts = np.zeros((len(listing), len(told_sums)), np.int64)
    for column, values in enumerate(told_sums.values()):
        counts[:, column] = values
    counted = counts.tolist()
    rows: Rows = []
    places = zip(listing.code_object.tolist(), listing.vaddr.tolist(), strict=True)
    for number, place in enumerate(places):
        for symbol in labels.pop(place, ()):
            rows.append(_label(symbol, len(rows), len(told_sums)))
        rows.append(
            [listing.text[number], 0, len(rows) + 1, listing.source[number], *place,
             *counted[number]]
        )  # fmt: skip
    for symbol in (s for symbols in labels.values() for s in symbols if s.vaddr >= 0):
        rows.append(_label(symbol, len(rows), len(told_sums)))
    told = {"arch": listing.arch} if listing.arch else {}
    header = ", ".join([*_HEADER.split(", ")[:_PLAIN_COLUMNS], *told_sums])
    return {"code": rows, "header": header, **told}


def _label(symbol: Symbol, number: int, counts: int) -> list[Any]:
    place = [symbol.code_object, symbol.vaddr]
    return [f"; {symbol.name}", 0, number + 1, symbol.demangled, *place, *[0] * counts]


def _listing(path: object, content: object) -> Listing:
    if not isinstance(content, Mapping) or "code" not in content:
        raise FormatError(path, "no code.json: it has no list named 'code'")
    rows = [] if content["code"] is None else content["code"]
    if not isinstance(rows, list):
        raise FormatError(path, "'code' is not a list of rows")
    header = content.get("header")
    least = _LEAST_COLUMNS if header is None else _PLAIN_COLUMNS
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) < least or not isinstance(row[0], str):
            raise FormatError(
                path, f"row {number} is no list of {least} or more columns, first a text"
            )
    if header is None and _is_rocprofv2(rows):
        return _from_rocprofv2(path, rows)
    if header is not None and not isinstance(header, str):
        raise FormatError(path, "'header' is not a text")
    told = content.get("arch")
    known = told if isinstance(told, str) and told in ARCHS else None
    return _from_rocprofv3(path, rows, header or _HEADER, known)


def _is_rocprofv2(rows: Rows) -> bool:
    """Column 1 is an instruction type there; in rocprofv3 files it is 0, or 100 for labels."""
    return any(row[1] not in (0, _LABEL) for row in rows)


def _from_rocprofv3(path: object, rows: Rows, header: str, known: str | None) -> Listing:
    names = [name.strip() for name in header.split(",")]
    missing = [name for name in _REQUIRED if name not in names]
    if missing or names[0] != "ISA":
        raise FormatError(path, f"header lacks column {(missing or ['ISA'])[0]}")
    at = {name: names.index(name) for name in names}

    def required(name: str, bits: int) -> NDArray[np.int64]:
        return _integers(path, rows, at[name], name, bits)

    def optional(name: str) -> NDArray[np.int64] | None:
        """The column, or None when some row ends before it (8-column rows)."""
        column = at.get(name)
        if column is None or any(len(row) <= column for row in rows):
            return None
        return _integers(path, rows, column, name)

    label = np.array([row[0][:1] == ";" for row in rows], bool)
    code_object, vaddr = required("Codeobj", 32), required("Vaddr", 49)
    line = required("LineNumber", 32)
    source = at.get("Source", len(names))
    sources = [str(r[source] or "") if len(r) > source else "" for r in rows]
    symbols = [
        Symbol(int(code_object[i]), int(vaddr[i]), rows[i][0][1:].strip(), int(line[i]),
               sources[i])
        for i in np.flatnonzero(label).tolist()
    ]  # fmt: skip
    kept = np.flatnonzero(~label)
    sums = [optional(name) for name in ("Hit", "Latency", "Stall", "Idle")]
    return Listing.build(
        code_object[kept],
        vaddr[kept],
        [rows[i][0] for i in kept.tolist()],
        line=line[kept],
        source=[sources[i] for i in kept.tolist()],
        symbols=symbols,
        sums=[None if values is None else values[kept] for values in sums],
        arch=known,
    )


def _from_rocprofv2(path: object, rows: Rows) -> Listing:
    """``line`` and ``alt_index`` are both column 4, by which wave files name their rows."""
    index = _integers(path, rows, 4, "index", 32)
    hits, latency = _integers(path, rows, 6, "Hit"), _integers(path, rows, 7, "Latency")
    texts: list[str] = []
    labels: dict[str, int] = {}
    symbols: list[tuple[int, Symbol]] = []
    kept: list[int] = []
    for number, row in enumerate(rows):
        if row[1] != _LABEL and not row[0].startswith("."):  # some directives pass as code
            kept.append(number)
            texts.append(row[0])
        elif row[0].endswith(":"):
            labels.setdefault(row[0][:-1], len(texts))
            if not row[0].startswith((".", "-")):
                symbols.append((len(texts), Symbol(0, -1, row[0][:-1], int(index[number]))))
    return Listing.build(
        0,
        -1,
        texts,
        line=index[kept],
        symbols=[symbol for at, symbol in symbols if at < len(texts)],  # not metadata keys
        sums=(hits[kept], latency[kept], None, None),
        alt_index=index[kept],
        labels=labels,
        arch=_target(rows),
    )


def _target(rows: Rows) -> str | None:
    """Architecture by the target directive of compiler output."""
    for row in rows:
        found = _TARGET.search(row[0])
        if found and found[1] in ARCHS:
            return found[1]
    return None


def _integers(
    path: object, rows: Sequence[Sequence[Any]], column: int, name: str, bits: int = 64
) -> NDArray[np.int64]:
    """A column of non-negative integers below 2^(bits - 1)."""
    limit = 1 << (bits - 1)
    values: list[Any] = [row[column] if len(row) > column else None for row in rows]
    if not values:
        return np.zeros(0, np.int64)
    if set(map(type, values)) == {int} and min(values) >= 0 and max(values) < limit:
        return np.array(values, np.int64)
    number, value = next(
        (n, v) for n, v in enumerate(values) if type(v) is not int or not 0 <= v < limit
    )
    raise FormatError(path, f"row {number}: column {name} is {value!r:.40}, not a number")
