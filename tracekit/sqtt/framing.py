"""Framing and running time of a stream, in plain Python (twin of ``native/clock.hpp``)."""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.gfx9 import TICK
from tracekit.sqtt.layout import HEADER_BYTES, TOKEN_BYTES, Misc, Token


class Clock:
    """Running time of a stream: deltas, and TIME tokens applied where they were asked for."""

    def __init__(self) -> None:
        self.now = 0
        self.base: int | None = None
        self.epochs: list[tuple[int, int, int, int]] = []

    def apply(self, timestamp: int, offset: int) -> None:
        if self.base is None:
            self.base = timestamp - self.now + TICK
        if timestamp > self.base:
            self.now = (timestamp - self.base) & ~3
        self.epochs.append((offset, self.now, timestamp, self.base))


def tokens(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(offset, type id, word) of each whole token; ends with (offset, -1, 0) if one is cut."""
    offset, end = HEADER_BYTES, len(data)
    while offset < end:
        size = TOKEN_BYTES[data[offset] & 15]
        if offset + size > end:
            yield offset, -1, 0
            return
        yield offset, data[offset] & 15, int.from_bytes(data[offset : offset + size], "little")
        offset += size


def owed_timestamp(data: bytes, offset: int) -> int | None:
    """The TIME token that answers a TIME_RESET: none if another reset or the end comes first."""
    end = len(data)
    while offset < end:
        kind = data[offset] & 15
        size = TOKEN_BYTES[kind]
        if offset + size > end:
            return None
        if kind == Token.TIME:
            return int.from_bytes(data[offset + 2 : offset + 8], "little")
        if kind == Token.MISC and data[offset + 1] >> 5 == Misc.TIME_RESET:
            return None
        offset += size
    return None
