"""The kernel's constants as numbers; instructions carry their float32 bits."""

from __future__ import annotations

import math
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
LARGEST = 0x7F7FFFFF
"""Bits of FLT_MAX."""
LARGEST_BF16 = 0x7F7F0000
"""Bits of bfloat16's largest finite value as float32."""
COOL_EXPONENT = 22
"""A row whose reference |m| would reach 2^22 is cooled below it: its scores count 2^-K of their
scale. Element arguments carry up to 1.5 units in m's last place of rounding (of the peak, of
excess + m, of the addend): 3/8 base-2 units here, three codes, where E4M3 has six above 2^HEADROOM.
Float32 scores of that size do not resolve a base-2 unit better anyway."""
SCALE_RANGE = (-57, 66)
"""Exponents between which scale log2(e) dq dk counts. Below, scores of FP8 inputs (at most 2^24.6)
differ by less than any code, so equal weights are exact, and lean_ashr's coefficient stays a normal
number; above, its scores in base-2 units would leave float32."""
LARGEST_DESCALE = 2.0**119
"""V's descale up to which 448 times it is finite in bfloat16; above, the output saturates."""
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


def log2_scale(scale: float) -> float:
    """scale * log2(e) in float32's finite range, as the kernel's argument carries it."""
    return min(scale * math.log2(math.e), 2.0**128 - 2.0**104)
