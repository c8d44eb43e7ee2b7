"""Where K and V lie in LDS, and how a wave reads them as matrix operands.

Three buffers of a 128-key block for K and three for V: one in use by each wave group and one that
direct-to-LDS loads fill. Rows are 128 bytes (one key); the 16-byte chunk c of row r lies at chunk
c ^ mask(r). Bits 1..3 of the row go into the mask, in an order that keeps the reads of K (16 rows,
one chunk) and both halves of V's transpose reads (8 rows, two neighbouring chunks) on different
banks. The mask repeats every 16 rows, so row offsets in steps of 16 rows go into the instruction's
offset and only chunk steps need address registers of their own.
"""

from __future__ import annotations

import numpy as np

ROW = 128
KEYS = 128
BLOCK = KEYS * ROW
BUFFERS = 3
V_BASE = BUFFERS * BLOCK
SIZE = 2 * BUFFERS * BLOCK
BANKS = 64
BANK_BYTES = 4

LANES = np.arange(64)


def mask(row: np.ndarray) -> np.ndarray:
    """XOR mask (0..7) of a row: its bits 2, 1 and 3 as bits 0, 1 and 2."""
    return (row >> 2 & 1) | (row & 2) | (row >> 1 & 4)


def swizzled(row: np.ndarray, chunk: np.ndarray) -> np.ndarray:
    """Byte offset in a block of 16-byte chunk `chunk` (0..7) of key `row`."""
    return row * ROW + 16 * (chunk ^ mask(row))


def load_chunk(lane: np.ndarray, group: np.ndarray | int) -> np.ndarray:
    """Global 16-byte chunk that `lane` fetches for its lane-linear LDS place.

    A load fills eight rows (`group` counts them): lane l lands at chunk l % 8 of row l / 8.
    """
    row = 8 * np.asarray(group) + lane // 8
    return (lane % 8) ^ mask(row)


def k_address(step: int, half: int) -> np.ndarray:
    """Lane addresses in a block of the A operand of S = K Q^T, tile 0.

    `step`: which 64 of the 128 dimensions; `half`: bytes 0..15 or 16..31 of the operand, that is
    dimensions 64 step + 32 half + 16 (lane / 32) + 0..15 (32x32x64 8-bit layout).
    """
    return swizzled(LANES % 32, 4 * step + 2 * half + LANES // 32)


def v_key(lane: np.ndarray) -> np.ndarray:
    """Key row that `lane` supplies to a transpose read, in the order in which P is packed."""
    r = (lane % 16) // 2
    return 8 * (r // 4) + 4 * (lane // 32) + r % 4


def v_address(tile: int) -> np.ndarray:
    """Lane addresses in a block of ds_read_b64_tr_b8 for dimensions 32 tile .. 32 tile + 31."""
    chunk = 2 * tile + (LANES // 16) % 2
    return swizzled(v_key(LANES), chunk) + 8 * (LANES % 2)


def conflicts(address: np.ndarray, width: int, phase: int) -> int:
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
