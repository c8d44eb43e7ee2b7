"""Which workgroup computes which query tile.

A job is two causal tiles of one head, the i-th and the i-th from the end, so that every job has the
same number of key blocks. Jobs are ordered head by head, the heads of one KV group next to each
other; the workgroups of one chiplet take consecutive jobs, which then share K and V in its L2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TILE = 256
"""Query rows of a tile: eight waves of 32."""
BLOCK = 128
"""Keys of a block."""
HEAD_DIM = 128
CHIPLETS = 8
"""XCDs of an MI355X; workgroup w runs on XCD w % 8."""
ITEM_WORDS = 16
"""A job table item: byte offsets of q, kv, out, lse (64 bits each), tile, blocks, then zeros."""
COMPUTE_UNITS = 256


@dataclass(frozen=True, slots=True)
class Shape:
    """batch B, length S (a multiple of 256), query heads H, key heads Hk (a divisor of H)."""

    batch: int
    length: int
    heads: int
    kv_heads: int

    @property
    def tiles(self) -> int:
        return self.length // TILE


def blocks(tile: int) -> int:
    """128-key blocks that a causal tile visits."""
    return 2 * (tile + 1)


def pairs(tiles: int) -> list[tuple[int, int | None]]:
    """First with last, second with last but one, ...; an odd middle tile stays alone, last."""
    whole = [(i, tiles - 1 - i) for i in range(tiles // 2)]
    return whole + ([(tiles // 2, None)] if tiles % 2 else [])


def remap(workgroup: int, grid: int) -> int:
    """Place of a workgroup in the job order: a bijection on 0..grid - 1 when 8 divides grid."""
    return workgroup % CHIPLETS * (grid // CHIPLETS) + workgroup // CHIPLETS


def grid_size(job_count: int, units: int = COMPUTE_UNITS) -> int:
    """Workgroups to launch: one a compute unit, fewer when jobs are few, a multiple of 8."""
    wanted = min(job_count, units)
    return max(CHIPLETS, -(-wanted // CHIPLETS) * CHIPLETS)


def order(shape: Shape) -> list[tuple[int, int, tuple[int, int | None]]]:
    """Jobs as (batch, head, tile pair). Heads of one KV group follow each other."""
    return [
        (b, h, pair)
        for b in range(shape.batch)
        for h in range(shape.heads)
        for pair in pairs(shape.tiles)
    ]


def table(shape: Shape) -> np.ndarray:
    """uint32[jobs, 2, 16] for the kernel. An absent second tile has 0 blocks.

    Offsets are bytes from the bases of contiguous q (B, S, H, 128) FP8, k and v (B, S, Hk, 128)
    FP8, out (B, S, H, 128) bf16 and lse (B, H, S) f32.
    """
    listed = order(shape)
    items = np.zeros((len(listed), 2, ITEM_WORDS), np.uint32)
    group = shape.heads // shape.kv_heads
    for job, (b, h, pair) in enumerate(listed):
        for half, tile in enumerate(pair):
            if tile is None:
                continue
            row = b * shape.length + tile * TILE
            offsets = np.array(
                [
                    (row * shape.heads + h) * HEAD_DIM,
                    (b * shape.length * shape.kv_heads + h // group) * HEAD_DIM,
                    (row * shape.heads + h) * HEAD_DIM * 2,
                    ((b * shape.heads + h) * shape.length + tile * TILE) * 4,
                ],
                np.uint64,
            )
            items[job, half, :8] = offsets.view(np.uint32)
            items[job, half, 8:10] = tile, blocks(tile)
    return items
