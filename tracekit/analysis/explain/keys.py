"""Keys of places that survive another build: opcodes around them, not addresses."""

from __future__ import annotations

from collections import defaultdict

from tracekit.analysis.model.mix import opcode_of
from tracekit.isa.listing import Listing

#: Instructions before and after a place whose opcodes are in its key.
BEFORE, AFTER = 3, 1


class Keys:
    """Keys of the rows of one listing.

    A key is the opcodes around a row, in brackets its own, and after "#" which of the
    occurrences of that sequence it is, by address.  It changes when those instructions do.
    """

    def __init__(self, listing: Listing) -> None:
        opcodes = [opcode_of(text) for text in listing.text]
        objects = listing.code_object.tolist()
        self._keys: list[str] = []
        seen: dict[str, int] = defaultdict(int)
        for row, own in enumerate(opcodes):
            around = [
                f"[{own}]" if at == row else opcodes[at]
                for at in range(max(row - BEFORE, 0), min(row + AFTER + 1, len(opcodes)))
                if objects[at] == objects[row]
            ]
            sequence = " ".join(around)
            seen[sequence] += 1
            self._keys.append(f"{sequence} #{seen[sequence]}")

    def of(self, row: int) -> str:
        """The key of a listing row; "" for -1."""
        return self._keys[row] if row >= 0 else ""

    def pair(self, before: int, after: int) -> str:
        """The key of the place between two rows."""
        return f"{self.of(before) or 'start'} -> {self.of(after) or 'end'}"
