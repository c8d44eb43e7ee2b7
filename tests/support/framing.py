"""A framing reader of its own: what the bytes of a stream say, by the token lengths alone.

Written apart from the decoders so that the encoder's tests do not lean on them.
"""

from __future__ import annotations

from typing import NamedTuple

from tracekit.sqtt.layout import FIELDS, HEADER_BYTES, TOKEN_BYTES, IssueState, Misc, Token


class Seen(NamedTuple):
    """A token and its time (cycles of the stream's clock)."""

    time: int
    token: Token
    word: int

    def field(self, name: str) -> int:
        return FIELDS[self.token][name].read(self.word)

    @property
    def kind(self) -> Misc:
        return Misc(self.field("misc_type"))

    def states(self) -> dict[int, IssueState]:
        """Slot -> state of an ISSUE token."""
        word = self.field("states")
        return {s: IssueState(word >> 2 * s & 3) for s in range(10) if word >> 2 * s & 3}


def frames(data: bytes) -> list[tuple[Token, int]]:
    """(type, word) of every whole token."""
    result = []
    at = HEADER_BYTES
    while at < len(data) and at + TOKEN_BYTES[data[at] & 15] <= len(data):
        size = TOKEN_BYTES[data[at] & 15]
        result.append((Token(data[at] & 15), int.from_bytes(data[at : at + size], "little")))
        at += size
    return result


def owed(tokens: list[tuple[Token, int]], reset: int) -> int | None:
    """Timestamp of the TIME that answers the TIME_RESET at index ``reset``."""
    for token, word in tokens[reset + 1 :]:
        if token == Token.TIME:
            return word >> 16
        if token == Token.MISC and word >> 13 == Misc.TIME_RESET:
            return None
    return None


def read(data: bytes) -> list[Seen]:
    """Every token with its time; TIME tokens have that of the token before them."""
    tokens = frames(data)
    seen: list[Seen] = []
    now, base = 0, None
    for index, (token, word) in enumerate(tokens):
        if token == Token.MISC:
            now += 4 * (word >> 4 & 0xFF)
        elif token != Token.TIME:
            now += 4 * (word >> 4 & 1)
        if token == Token.MISC and word >> 13 == Misc.TIME_RESET:
            stamp = owed(tokens, index)
            if stamp is not None:
                if base is None:
                    base = stamp - now + 4
                if stamp > base:
                    now = (stamp - base) // 4 * 4
        seen.append(Seen(now, token, word))
    return seen


def events(data: bytes) -> list[Seen]:
    """The tokens that say more than the time: no TIME, no MISC TIME or TIME_RESET."""
    silent = (Misc.TIME, Misc.TIME_RESET)
    return [
        s
        for s in read(data)
        if s.token != Token.TIME and not (s.token == Token.MISC and s.kind in silent)
    ]
