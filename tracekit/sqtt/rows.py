"""Instruction rows: what a timing pass makes of the raw records of a stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import INST_IMMED, Inst
from tracekit.sqtt.raw import RawStream, RecordFlag


@dataclass
class Rows:
    """One row an executed instruction, in the order of the records (program order a wave).

    time, stall, duration: int64 cycles of the stream's clock; release: int64 of the rows
    ``released`` (barriers are few); category: uint8 (AMD's 1-11, 0 where the type was lost);
    row: int32 of the listing, -1 unstitched; wave_counts: int64 rows of each wave.
    """

    time: NDArray[np.int64]
    stall: NDArray[np.int64]
    duration: NDArray[np.int64]
    released: NDArray[np.int64]
    release: NDArray[np.int64]
    category: NDArray[np.uint8]
    type: NDArray[np.uint8]
    row: NDArray[np.int32]
    wave_counts: NDArray[np.int64]


def releases(
    raw: RawStream,
    row: NDArray[np.int32],
    barrier: NDArray[np.bool_],
    first: NDArray[np.bool_],
    rows: slice,
) -> NDArray[np.bool_]:
    """Which records are the release of the s_barrier before them.

    ``row``: listing row per record; ``barrier``: per listing row, with one False appended
    (picked by -1).  Unstitched records go by their types alone, as AMD's decoder does.
    """
    kind = raw.type[rows]
    result = np.zeros(len(kind), bool)
    at = np.flatnonzero((kind[1:] == INST_IMMED) & (kind[:-1] == Inst.OTHER_MSG)) + 1
    own = row[rows]
    arrive = own[at - 1]
    result[at] = (
        ((raw.flags[rows][at] & RecordFlag.PREVIOUS_TYPED) != 0)
        & ~first[at]
        & (own[at] == arrive)
        & (barrier[arrive] | (arrive < 0))
    )
    return result


def wave_blocks(counts: NDArray[np.int64], block: int) -> list[tuple[int, int]]:
    """Split waves into runs of about ``block`` records: (first wave, past the last)."""
    runs: list[tuple[int, int]] = []
    start = size = 0
    for wave, count in enumerate(counts.tolist()):
        size += count
        if size >= block:
            runs.append((start, wave + 1))
            start, size = wave + 1, 0
    if start < len(counts):
        runs.append((start, len(counts)))
    return runs
