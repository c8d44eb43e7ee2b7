"""MessagePack, as far as the AMDGPU metadata note uses it (msgpack.org specification)."""

from __future__ import annotations

import struct
from typing import Any

FIXED = {
    0xCA: (">f", 4), 0xCB: (">d", 8),
    0xCC: (">B", 1), 0xCD: (">H", 2), 0xCE: (">I", 4), 0xCF: (">Q", 8),
    0xD0: (">b", 1), 0xD1: (">h", 2), 0xD2: (">i", 4), 0xD3: (">q", 8),
}  # fmt: skip
LENGTHS = {
    0xC4: (">B", "bin"), 0xC5: (">H", "bin"), 0xC6: (">I", "bin"),
    0xD9: (">B", "str"), 0xDA: (">H", "str"), 0xDB: (">I", "str"),
    0xDC: (">H", "array"), 0xDD: (">I", "array"),
    0xDE: (">H", "map"), 0xDF: (">I", "map"),
}  # fmt: skip
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def unpack(data: bytes) -> Any:
    """The first object of `data`. Raises ValueError on extension types and short data."""
    try:
        return _unpack(data, 0)[0]
    except (struct.error, IndexError) as error:
        raise ValueError("truncated MessagePack data") from error


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    head = data[at]
    at += 1
    if head < 0x80:
        return head, at
    if head >= 0xE0:
        return head - 0x100, at
    if head < 0x90:
        return _body(data, at, "map", head & 15)
    if head < 0xA0:
        return _body(data, at, "array", head & 15)
    if head < 0xC0:
        return _body(data, at, "str", head & 31)
    if head in CONSTANTS:
        return CONSTANTS[head], at
    if head in FIXED:
        layout, size = FIXED[head]
        return struct.unpack_from(layout, data, at)[0], at + size
    if head in LENGTHS:
        layout, kind = LENGTHS[head]
        (count,) = struct.unpack_from(layout, data, at)
        return _body(data, at + struct.calcsize(layout), kind, count)
    raise ValueError(f"MessagePack type 0x{head:02x} is not used by AMDGPU metadata")


def _body(data: bytes, at: int, kind: str, count: int) -> tuple[Any, int]:
    if kind in ("str", "bin"):
        raw = data[at : at + count]
        return (raw.decode() if kind == "str" else raw), at + count
    if kind == "array":
        items = []
        for _ in range(count):
            item, at = _unpack(data, at)
            items.append(item)
        return items, at
    table = {}
    for _ in range(count):
        key, at = _unpack(data, at)
        table[key], at = _unpack(data, at)
    return table, at
