"""Who needs what was waited for: the first reader of the loaded registers, and its MFMA."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.rows import Rows
from tracekit.analysis.waits.registers import usage
from tracekit.isa.listing import Listing

Array = NDArray[np.int64]


def consumers(rows: Rows, listing: Listing, wait: Array, producer: Array) -> tuple[Array, Array]:
    """(row of the first reader, row of the next MFMA from there) for each wait and producer.

    ``wait`` and ``producer`` are rows; -1 where nothing reads it (stores, loads to LDS, results
    that are overwritten or never used) or no MFMA follows.  Without a reader the MFMA is the
    next one after the wait.
    """
    reader = np.array(
        [_reader(rows, listing, *pair) for pair in zip(wait.tolist(), producer.tolist(),
                                                       strict=True)], np.int64,
    )  # fmt: skip
    mfmas = np.sort(rows.mfmas)
    after = np.where(reader >= 0, reader, wait)
    following = np.append(mfmas, -1)[np.searchsorted(mfmas, after)]
    same = (following >= 0) & (rows.wave[following] == rows.wave[wait])
    return reader, np.where(same, following, -1)


def _reader(rows: Rows, listing: Listing, wait: int, producer: int) -> int:
    """The first row after ``wait`` that reads what ``producer`` wrote; -1 without one."""
    row = rows.row[producer]
    _, wanted = usage(listing.text[row]) if row >= 0 else (0, 0)
    end = int(rows.waves.rows[rows.wave[wait] + 1])
    at = wait + 1
    while wanted and at < end:
        for here in rows.row[at : at + 256].tolist():
            if at >= end or not wanted:
                break
            read, written = usage(listing.text[here]) if here >= 0 else (0, 0)
            if read & wanted:
                return at
            wanted &= ~written
            at += 1
    return -1
