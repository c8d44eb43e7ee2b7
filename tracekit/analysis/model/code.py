"""Which part of a listing ran: whole symbols, with their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.listing import Listing, Symbol

#: Addresses are 48 bits wide.
_VADDR_BITS = 48


@dataclass(frozen=True)
class CodeLines:
    """Label rows and instruction rows, by code object and address.

    ``row``: listing row, -1 for a label; ``symbol``: index into ``symbols`` of a label, -1
    for an instruction; ``line``: line number of each, unique among instructions and >= 1.
    """

    row: NDArray[np.int64]
    symbol: NDArray[np.int64]
    line: NDArray[np.int64]
    symbols: list[Symbol]


def code_lines(listing: Listing, hits: NDArray[np.int64]) -> CodeLines:
    """The symbols that have an instruction with ``hits`` (int64 per row), whole.

    A symbol reaches to the next one; code before the first symbol of its code object is
    listed without a label.  Line numbers are those of the code.json that the listing comes
    from; where some are missing or occur twice all are counted anew from 1.  A label has
    the number before its first instruction.
    """
    symbols = _symbols(listing)
    starts = np.array([_key(s.code_object, s.vaddr) for s in symbols], np.int64)
    keys = (listing.code_object.astype(np.int64) << _VADDR_BITS) + listing.vaddr
    owner = np.searchsorted(starts, keys, side="right") - 1
    objects = np.array([s.code_object for s in symbols] or [-1], np.int64)
    foreign = (owner < 0) | (objects[owner] != listing.code_object)
    # Code without a symbol: one part per code object, numbered below -1.
    owner[foreign] = -2 - listing.code_object[foreign]
    rows = np.flatnonzero(np.isin(owner, np.unique(owner[hits > 0])))
    part = owner[rows]
    heads = np.flatnonzero(np.append(True, part[1:] != part[:-1])[: len(part)])
    heads = heads[part[heads] >= 0]
    lines = _lines(listing.line[rows].astype(np.int64))
    labels = part[heads]
    given = np.array([symbols[i].line for i in labels.tolist()], np.int64).reshape(-1)
    kept = np.array_equal(lines, listing.line[rows])
    label_lines = np.where(kept & (given >= 0), given, lines[heads] - 1)
    return CodeLines(
        row=np.insert(rows, heads, -1),
        symbol=np.insert(np.full(len(rows), -1), heads, labels),
        line=np.insert(lines, heads, label_lines),
        symbols=symbols,
    )


def _symbols(listing: Listing) -> list[Symbol]:
    """One symbol an address (aliases dropped), by address."""
    found: dict[int, Symbol] = {}
    for symbol in listing.symbols:
        if symbol.vaddr >= 0:
            found.setdefault(_key(symbol.code_object, symbol.vaddr), symbol)
    return [found[key] for key in sorted(found)]


def _key(code_object: int, vaddr: int) -> int:
    return (code_object << _VADDR_BITS) + vaddr


def _lines(line: NDArray[np.int64]) -> NDArray[np.int64]:
    known = len(line) == 0 or bool(line.min() >= 1)
    if known and len(np.unique(line)) == len(line):
        return line
    return np.arange(1, len(line) + 1)
