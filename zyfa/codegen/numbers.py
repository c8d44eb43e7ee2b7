"""The kernel's constants as numbers; instructions carry their float32 bits."""

from __future__ import annotations

import struct

LAZY_THRESHOLD = 0.125
"""Base-2 units that a row may outgrow its reference before O and l are rescaled."""
HEADROOM = 8
"""P of a 64-key half is at most 2^8: the largest power of two below E4M3's 448."""
LOWEST_EXCESS = -119.0
"""Clamps a masked half's exponent so that its scale byte is 127 - HEADROOM - 119 = 0."""
LOWEST = 0xFF7FFFFF
"""Bits of -FLT_MAX: as first reference it makes the first block take the rescale path and set m."""
MINUS_INFINITY = 0xFF800000
LN2 = 0x3F317218
"""Bits of ln 2."""
E4M3_ONE = 0x38
"""Code of 1.0."""


def bits(value: float) -> int:
    """Bits of a float32."""
    return int.from_bytes(struct.pack("<f", value), "little")


def power(exponent: int) -> int:
    """Bits of 2^exponent in float32's normal range."""
    return (127 + exponent) << 23
