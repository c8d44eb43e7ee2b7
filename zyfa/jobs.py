"""Which workgroup computes which query tile.

A job is two causal tiles of one head, the i-th and the i-th from the end, so that every job has the
same number of key blocks. Jobs are ordered head by head, the heads of one KV group next to each
other; the workgroups of one chiplet take consecutive jobs, which then share K and V in its L2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zyfa.shape import D128, Shape

CHIPLETS = 8
"""XCDs of an MI355X; workgroup w runs on XCD w % 8."""
COMPUTE_UNITS = 256
ITEM = np.dtype({
    "names": ["q", "kv", "out", "lse", "tile", "blocks"],
    "formats": ["<u8", "<u8", "<u8", "<u8", "<u4", "<u4"],
    "itemsize": 64,
})  # fmt: skip
"""A tile of a job as the kernel loads it (s_load_dwordx16): byte offsets from the bases of q, of k
and v, of out and lse, the tile, the key blocks it visits. No blocks: no tile."""


@dataclass(frozen=True, slots=True)
class Problem:
    """batch B, length S (a multiple of the tile's rows), query heads H, key heads Hk dividing H."""

    batch: int
    length: int
    heads: int
    kv_heads: int
    shape: Shape = D128

    @property
    def tiles(self) -> int:
        return self.length // self.shape.rows

    @property
    def job_count(self) -> int:
        return self.batch * self.heads * len(pairs(self.tiles))


def padded(length: int, shape: Shape = D128) -> int:
    """`length` up to a whole number of tiles."""
    return -(-length // shape.rows) * shape.rows


def blocks(tile: int, shape: Shape = D128) -> int:
    """Key blocks that a causal tile visits."""
    return shape.rows // shape.keys * (tile + 1)


def pairs(tiles: int) -> list[tuple[int, int | None]]:
    """First with last, second with last but one, ...; an odd middle tile stays alone, last."""
    whole: list[tuple[int, int | None]] = [(i, tiles - 1 - i) for i in range(tiles // 2)]
    return whole + ([(tiles // 2, None)] if tiles % 2 else [])


def remap(workgroup: int, grid: int) -> int:
    """Place of a workgroup in the job order: a bijection on 0..grid - 1 when 8 divides grid."""
    return workgroup % CHIPLETS * (grid // CHIPLETS) + workgroup // CHIPLETS


def grid_size(job_count: int, units: int = COMPUTE_UNITS) -> int:
    """Workgroups to launch: one a compute unit, fewer when jobs are few, a multiple of 8."""
    wanted = min(job_count, units)
    return max(CHIPLETS, -(-wanted // CHIPLETS) * CHIPLETS)


def order(problem: Problem) -> list[tuple[int, int, tuple[int, int | None]]]:
    """Jobs as (batch, head, tile pair). Heads of one KV group follow each other."""
    return [
        (b, h, pair)
        for b in range(problem.batch)
        for h in range(problem.heads)
        for pair in pairs(problem.tiles)
    ]


def table(problem: Problem) -> NDArray[np.void]:
    """ITEM[jobs, 2] for the kernel. An absent second tile has 0 blocks.

    Offsets are bytes from the bases of contiguous q (B, S, H, d_qk) FP8, k (B, S, Hk, d_qk) and v
    (B, S, Hk, d_v) FP8, out (B, S, H, d_v) bf16 and lse (B, H, S) f32.
    """
    shape, heads = problem.shape, problem.heads
    listed = order(problem)
    items = np.zeros((len(listed), 2), ITEM)
    group = heads // problem.kv_heads
    for job, (b, h, pair) in enumerate(listed):
        for half, tile in enumerate(pair):
            if tile is None:
                continue
            first = tile * shape.rows
            row = (b * problem.length + first) * heads + h
            items[job, half] = (
                row * shape.d_qk,
                (b * problem.length * problem.kv_heads + h // group) * shape.d_qk,
                row * shape.d_v * 2,
                ((b * heads + h) * problem.length + first) * 4,
                tile,
                blocks(tile, shape),
            )
    return items
