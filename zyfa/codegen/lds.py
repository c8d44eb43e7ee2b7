"""Where K and V lie in LDS, and how a wave reads them as matrix operands.

A block of K or V lies in *planes* of 128 dimensions, each three times: one buffer in use by each
wave group and one that direct-to-LDS loads fill. A plane's rows are 128 bytes (one key); the
16-byte chunk c of row r lies at chunk c ^ mask(r). Bits 1..3 of the row go into the mask, in an
order that keeps the reads of K (16 rows, one chunk) and both halves of V's transpose reads (8 rows,
two neighbouring chunks) on different banks. The mask repeats every 16 rows, so row offsets in steps
of 16 rows go into the instruction's offset and only chunk steps need address registers of their
own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zyfa.shape import QK_DEPTH, SIDE, Shape

Array = NDArray[np.int64]

ROW = 128
"""Bytes of a plane's row: dimensions of a plane."""
CHUNK = 16
LOAD = 64 * CHUNK
"""Bytes of one direct load of a wave: eight rows."""
BUFFERS = 3
BANKS = 64
BANK_BYTES = 4

LANES = np.arange(64)
STEPS = ROW // QK_DEPTH
"""Matrix steps of K over a plane."""
TILES = ROW // SIDE
"""Dimension tiles of V in a plane."""


@dataclass(frozen=True, slots=True)
class Plane:
    """128 dimensions of K or V from `first` on; `base`: byte offset in LDS of its first buffer."""

    operand: str
    first: int
    base: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The planes of a block; buffer i of a plane is at base + i * stride."""

    k: tuple[Plane, ...]
    v: tuple[Plane, ...]
    stride: int

    @property
    def planes(self) -> tuple[Plane, ...]:
        return self.k + self.v

    @property
    def size(self) -> int:
        """Bytes of LDS."""
        return len(self.planes) * BUFFERS * self.stride

    @property
    def firsts(self) -> list[int]:
        """The first dimensions that occur."""
        return sorted({plane.first for plane in self.planes})


def layout(shape: Shape) -> Layout:
    """K's planes, then V's, each with its buffers together."""
    stride = shape.keys * ROW
    wanted = [("k", first) for first in range(0, shape.d_qk, ROW)]
    wanted += [("v", first) for first in range(0, shape.d_v, ROW)]
    planes = [Plane(operand, first, i * BUFFERS * stride)
              for i, (operand, first) in enumerate(wanted)]  # fmt: skip
    k, v = (tuple(p for p in planes if p.operand == operand) for operand in "kv")
    return Layout(k, v, stride)


def mask(row: Array) -> Array:
    """XOR mask (0..7) of a row: its bits 2, 1 and 3 as bits 0, 1 and 2."""
    return (row >> 2 & 1) | (row & 2) | (row >> 1 & 4)


def swizzled(row: Array, chunk: Array | int) -> Array:
    """Byte offset in a plane of 16-byte chunk `chunk` (0..7) of key `row`."""
    return row * ROW + CHUNK * (chunk ^ mask(row))


def load_chunk(lane: Array, group: Array | int) -> Array:
    """Global 16-byte chunk that `lane` fetches for its lane-linear LDS place.

    A load fills eight rows (`group` counts them): lane l lands at chunk l % 8 of row l / 8.
    """
    row = 8 * np.asarray(group) + lane // 8
    return (lane % 8) ^ mask(row)


def k_address(step: int, half: int) -> Array:
    """Lane addresses in a plane of the A operand of S = K Q^T, tile 0.

    `step`: which 64 of the 128 dimensions; `half`: bytes 0..15 or 16..31 of the operand, that is
    dimensions 64 step + 32 half + 16 (lane / 32) + 0..15 (32x32x64 8-bit layout).
    """
    return swizzled(LANES % 32, 4 * step + 2 * half + LANES // 32)


def v_key(lane: Array) -> Array:
    """Key row that `lane` supplies to a transpose read, in the order in which P is packed."""
    r = (lane % 16) // 2
    return 8 * (r // 4) + 4 * (lane // 32) + r % 4


def v_address(tile: int) -> Array:
    """Lane addresses in a plane of ds_read_b64_tr_b8 for dimensions 32 tile .. 32 tile + 31."""
    chunk = 2 * tile + (LANES // 16) % 2
    return swizzled(v_key(LANES), chunk) + 8 * (LANES % 2)


def conflicts(address: Array, width: int, phase: int) -> int:
    """Worst bank multiplicity of one read of `width` bytes a lane, `phase` lanes at a time.

    1 means free of conflicts: the lanes of a phase ask every bank for at most one word.
    """
    worst = 1
    for first in range(0, 64, phase):
        words = {
            (int(a) + i) // BANK_BYTES
            for a in address[first : first + phase]
            for i in range(0, width, BANK_BYTES)
        }
        banks = np.bincount([word % BANKS for word in words], minlength=BANKS)
        worst = max(worst, int(banks.max()))
    return worst
