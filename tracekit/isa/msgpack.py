"""A reader of MessagePack, the encoding of the AMDGPU metadata note.

By the format's specification (msgpack.org): one leading byte tells type and length.
"""

from __future__ import annotations

import struct
from typing import Any

#: Leading byte -> (struct format of the value).
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
#: Leading byte -> (kind, struct format of the length).
_SIZED = {
    0xC4: ("bytes", ">B"), 0xC5: ("bytes", ">H"), 0xC6: ("bytes", ">I"),
    0xD9: ("text", ">B"), 0xDA: ("text", ">H"), 0xDB: ("text", ">I"),
    0xDC: ("list", ">H"), 0xDD: ("list", ">I"), 0xDE: ("map", ">H"), 0xDF: ("map", ">I"),
}  # fmt: skip
_MAX_DEPTH = 64


def unpack(data: bytes) -> Any:
    """The first value in ``data``; ValueError when it is cut off or has an extension type."""
    try:
        return _Reader(data).value(0)
    except (struct.error, IndexError):
        raise ValueError("MessagePack data is cut off") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, layout: str) -> Any:
        (value,) = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return value

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError("MessagePack data is nested too deeply")
        lead: int = self.number(">B")
        if lead < 0x80:
            return lead
        if lead >= 0xE0:
            return lead - 0x100
        if lead < 0xC0:
            kind = "map" if lead < 0x90 else "list" if lead < 0xA0 else "text"
            return self.sized(kind, lead & (0x1F if kind == "text" else 0x0F), depth)
        if lead in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[lead]
        if lead in _NUMBERS:
            return self.number(_NUMBERS[lead])
        if lead in _SIZED:
            kind, layout = _SIZED[lead]
            return self.sized(kind, self.number(layout), depth)
        raise ValueError(f"MessagePack type {lead:#04x} is not supported")

    def sized(self, kind: str, length: int, depth: int) -> Any:
        if length > len(self.data) - self.at:  # every element has a byte or more
            raise IndexError
        if kind == "list":
            return [self.value(depth + 1) for _ in range(length)]
        if kind == "map":
            return {self.key(depth): self.value(depth + 1) for _ in range(length)}
        raw = self.data[self.at : self.at + length]
        self.at += length
        return raw.decode("utf-8", "replace") if kind == "text" else raw

    def key(self, depth: int) -> Any:
        key = self.value(depth + 1)
        if isinstance(key, (list, dict)):
            raise ValueError("MessagePack map with a key that is no scalar")
        return key
