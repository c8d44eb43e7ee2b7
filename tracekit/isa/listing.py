"""A listing: the instructions of some code objects, in columns.

Rows are instructions only (labels and directives are symbols or nothing), sorted by code
object and address.  A row number is what the rest of tracekit passes around.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracekit.isa.classify import Expect, accept_mask, expected, mnemonic
from tracekit.isa.encoding import encoded_bytes
from tracekit.isa.pipes import Pipe

__all__ = ["Listing", "Pipe", "Symbol", "branch_operand"]

#: Addresses are 48 bits wide: code object and vaddr make one sortable key.
_VADDR_BITS = 48


@dataclass(frozen=True)
class Symbol:
    """A label of the listing; ``line`` is its code.json line, -1 without one."""

    code_object: int
    vaddr: int
    name: str
    line: int = -1
    demangled: str = ""


@dataclass(frozen=True, eq=False)
class Listing:
    """Instructions in columns of one length *n*; see ``build`` for how they come about.

    ``target`` and ``next`` are row numbers, -1 where there is none.  ``hits``, ``latency``,
    ``stall`` and ``idle`` are the sums that code.json gives (cycles in AMD timing), None
    when the source has none.  What a row costs is not here but in ``listing_costs.Costs``.
    """

    code_object: NDArray[np.int32]
    vaddr: NDArray[np.int64]  # ELF address, -1 unknown
    size: NDArray[np.uint8]  # bytes, 0 unknown
    text: list[str]
    line: NDArray[np.int32]  # code.json line, -1 without one
    source: list[str]  # "file:line -> caller:line" or ""
    expect: NDArray[np.uint8]  # classify.Expect
    accept: NDArray[np.uint64]  # bit t: INST type t accepted; bit 33: IMMED
    next: NDArray[np.int32]
    target: NDArray[np.int32]
    symbols: list[Symbol] = field(default_factory=list)
    hits: NDArray[np.int64] | None = None
    latency: NDArray[np.int64] | None = None
    stall: NDArray[np.int64] | None = None
    idle: NDArray[np.int64] | None = None
    #: rocprofv2: the index by which its wave files name a row.
    alt_index: NDArray[np.int32] | None = None
    #: Architecture by the ELF header; None when the source does not tell.
    arch: str | None = None

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def build(  # noqa: PLR0913 - an argument is a column of the table
        cls,
        code_object: ArrayLike,
        vaddr: ArrayLike,
        text: Sequence[str],
        *,
        size: ArrayLike | None = None,
        line: ArrayLike | None = None,
        source: Sequence[str] | None = None,
        symbols: Sequence[Symbol] = (),
        sums: Sequence[ArrayLike | None] = (None, None, None, None),
        alt_index: ArrayLike | None = None,
        labels: dict[str, int] | None = None,
        arch: str | None = None,
    ) -> Listing:
        """A listing from columns of *n* instructions in any order.

        ``size`` defaults to what addresses and text tell; ``sums`` are hits, latency, stall,
        idle.  ``labels`` (name -> position in the input) resolves branch operands that are
        text; without addresses (vaddr -1) the input order is the program order.  Rows
        that repeat a (code object, vaddr) are dropped.
        """
        n = len(text)
        objects = np.broadcast_to(np.asarray(code_object, np.int32), n)
        addresses = np.broadcast_to(np.asarray(vaddr, np.int64), n)
        order = np.lexsort((addresses, objects))
        objects, addresses = objects[order], addresses[order]
        same = (objects[1:] == objects[:-1]) & (addresses[1:] == addresses[:-1])
        keep = np.ones(n, bool)
        keep[1:] = ~same | (addresses[1:] < 0)
        order, objects, addresses = order[keep], objects[keep], addresses[keep]

        def column(values: ArrayLike | None, default: int, dtype: type) -> NDArray[np.generic]:
            if values is None:
                return np.full(len(order), default, dtype)
            return np.broadcast_to(np.asarray(values, dtype), n)[order]

        lines = list(map(text.__getitem__, order.tolist()))
        kinds = [expected(line) for line in lines]
        expect = np.array(kinds, np.uint8)
        if size is None:
            sizes = _sizes(objects, addresses, lines, expect)
        else:
            sizes = column(size, 0, np.uint8).astype(np.uint8)
        hits, latency, stall, idle = (
            None if values is None else column(values, 0, np.int64).astype(np.int64)
            for values in sums
        )
        listing = cls(
            code_object=objects.copy(),
            vaddr=addresses.copy(),
            size=sizes,
            text=lines,
            line=column(line, -1, np.int32).astype(np.int32),
            source=[""] * len(order) if source is None else [source[i] for i in order.tolist()],
            expect=expect,
            accept=np.array(
                [accept_mask(k, t) for k, t in zip(kinds, lines, strict=True)], np.uint64
            ),
            next=np.full(len(order), -1, np.int32),
            target=np.full(len(order), -1, np.int32),
            symbols=list(symbols),
            alt_index=None if alt_index is None else column(alt_index, -1, np.int32).astype("i4"),
            arch=arch,
            hits=hits,
            latency=latency,
            stall=stall,
            idle=idle,
        )
        rank = np.full(n, -1, np.int64)
        rank[order] = np.arange(len(order))
        listing._link({name: int(rank[at]) for name, at in (labels or {}).items() if at < n})
        return listing

    def _link(self, labels: dict[str, int]) -> None:
        """Fill ``next`` and ``target``."""
        n = len(self)
        if n > 1:
            adjacent = self.code_object[1:] == self.code_object[:-1]
            known = self.vaddr[:-1] >= 0
            follows = self.vaddr[1:] == self.vaddr[:-1] + self.size[:-1]
            linked = adjacent & np.where(known, follows, self.vaddr[1:] < 0)
            self.next[:-1] = np.where(linked, np.arange(1, n), -1)
        branches = np.flatnonzero((self.expect == Expect.BRANCH) | (self.expect == Expect.PC))
        for row in branches.tolist():
            operand = branch_operand(self.text[row])
            if isinstance(operand, str):
                self.target[row] = labels.get(operand, -1)
            elif operand is not None and self.vaddr[row] >= 0:
                where = int(self.vaddr[row]) + 4 + 4 * operand
                self.target[row] = self.row_of(int(self.code_object[row]), where)

    def row_of(self, code_object: int, vaddr: int) -> int:
        """Row of the instruction at ``vaddr`` of ``code_object``; -1 when absent."""
        return self._rows.get((code_object, vaddr), -1)

    def rows_of(self, code_object: ArrayLike, vaddr: ArrayLike) -> NDArray[np.int32]:
        """Rows of many (code object, vaddr) pairs: int32 of their broadcast shape, -1 absent."""
        wanted = _key(np.asarray(code_object, np.int64), np.asarray(vaddr, np.int64))
        if not len(self):
            return np.full(wanted.shape, -1, np.int32)
        keys = _key(self.code_object.astype(np.int64), self.vaddr)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = (keys[at] == wanted) & (np.asarray(vaddr) >= 0)
        return np.where(found, at, -1).astype(np.int32)

    def row_of_line(self, line: int) -> int:
        """Row whose ``line`` is this code.json line; -1 when absent."""
        return self._lines.get(line, -1)

    @cached_property
    def _rows(self) -> dict[tuple[int, int], int]:
        keys = zip(self.code_object.tolist(), self.vaddr.tolist(), strict=True)
        return {key: row for row, key in enumerate(keys) if key[1] >= 0}

    @cached_property
    def _lines(self) -> dict[int, int]:
        return {n: row for row, n in reversed(list(enumerate(self.line.tolist()))) if n >= 0}

    @staticmethod
    def concat(listings: Sequence[Listing]) -> Listing:
        """One listing of several; of rows with one (code object, vaddr) the first is kept.

        Sums become -1 where only some of the listings have them.
        """
        parts = [part for part in listings if len(part)]
        symbols = list(dict.fromkeys(s for listing in listings for s in listing.symbols))
        arches = {part.arch for part in parts}
        if not parts:
            return Listing.build([], [], [], symbols=symbols)
        starts = np.cumsum([0, *map(len, parts)])

        def joined(name: str) -> NDArray[np.generic] | None:
            columns = [getattr(part, name) for part in parts]
            if all(column is None for column in columns):
                return None
            return np.concatenate(
                [
                    np.full(len(part), -1) if column is None else column
                    for part, column in zip(parts, columns, strict=True)
                ]
            )

        texts = [text for part in parts for text in part.text]
        return Listing.build(
            np.concatenate([part.code_object for part in parts]),
            np.concatenate([part.vaddr for part in parts]),
            texts,
            size=np.concatenate([part.size for part in parts]),
            line=np.concatenate([part.line for part in parts]),
            source=[source for part in parts for source in part.source],
            symbols=symbols,
            sums=tuple(joined(name) for name in ("hits", "latency", "stall", "idle")),
            alt_index=joined("alt_index"),
            labels=_labels(parts, starts.tolist()),
            arch=arches.pop() if len(arches) == 1 else None,
        )


def _labels(parts: Sequence[Listing], starts: Sequence[int]) -> dict[str, int]:
    """Branch operands that are text -> position of their target in the joined rows.

    Label texts are not kept in a listing, so they travel with the branches that use them.
    """
    labels: dict[str, int] = {}
    for part, start in zip(parts, starts, strict=False):
        for row in np.flatnonzero(part.target >= 0).tolist():
            operand = branch_operand(part.text[row])
            if isinstance(operand, str):
                labels.setdefault(operand, start + int(part.target[row]))
    return labels


def _key(code_object: NDArray[np.int64], vaddr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sortable key of an address; unknown addresses come first in their code object."""
    return (code_object << _VADDR_BITS) + vaddr


#: Kinds whose 4-byte forms may carry a literal that the text does not show as one.
_MAY_GROW = (Expect.SALU, Expect.VALU)


def _sizes(
    code_object: NDArray[np.int32],
    vaddr: NDArray[np.int64],
    text: Sequence[str],
    expect: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Bytes of each row: what its text says, but never beyond the row that follows.

    The distance to the next row alone would not do: code.json files that leave unexecuted
    instructions out have gaps of any size, behind branches.  It decides for text of no
    known kind, and whether a literal is there.
    """
    size = np.array([encoded_bytes(line) for line in text], np.int64)
    distance = np.full(len(text), np.iinfo(np.int64).max)
    if len(text) > 1:
        inside = (code_object[1:] == code_object[:-1]) & (vaddr[:-1] >= 0)
        distance[:-1][inside] = (vaddr[1:] - vaddr[:-1])[inside]
    size = np.minimum(size, distance)
    told = (size == 0) & np.isin(distance, (4, 8, 16))
    told |= (size == 4) & (distance == 8) & np.isin(expect, _MAY_GROW)
    return np.where(told, distance, size).astype(np.uint8)


_OPERAND = re.compile(r"[^\s,]+$")


def branch_operand(text: str) -> int | str | None:
    """Branch distance in words (signed), or the label when it is text; None when not a branch.

    LLVM prints the 16-bit operand as unsigned decimal: 65401 is -135.  The target is the
    branch's address + 4 + 4 times the distance.
    """
    name = mnemonic(text)
    if not (name.startswith(("s_branch", "s_cbranch", "s_call"))):
        return None
    found = _OPERAND.search(text[len(name) :])
    if found is None:
        return None
    try:
        value = int(found[0], 0)
    except ValueError:
        return found[0]
    return (value & 0xFFFF) - ((value & 0x8000) << 1)
