"""Level of detail: what of a lane a window of so many pixels can show, and its bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dashboard.lanes import Lane

#: Kinds of the palette are below this.
KINDS = 32
#: Intervals of a lane that are sent as they are: up to this many a pixel.
PER_PIXEL = 2
_EDGE = np.iinfo(np.int32).max
#: Arrays of each lane in the answer, in this order, little-endian.
ARRAYS = (("start", "<i4"), ("end", "<i4"), ("row", "<i4"), ("index", "<i4"), ("kind", "u1"),
          ("fill", "u1"))  # fmt: skip

Columns = dict[str, NDArray[np.generic]]


def cut(lane: Lane, first: int, last: int, pixels: int) -> Columns:
    """The intervals of ``lane`` that meet [first, last), reduced to what ``pixels`` show.

    Where there are more than PER_PIXEL a pixel, those shorter than a pixel become one
    rectangle a pixel: of the kind that covers most of it, with ``fill`` / 255 the share of
    the pixel covered by intervals; longer ones stay.  Times are relative to ``first``.
    """
    high = int(np.searchsorted(lane.start, last, side="left"))
    # Ends are not sorted where intervals overlap: look from the first that may still run.
    low = int(np.searchsorted(np.maximum.accumulate(lane.end[:high]), first, side="right"))
    start, end = lane.start[low:high], lane.end[low:high]
    kind, row, index = lane.kind[low:high], lane.row[low:high], lane.index[low:high]
    fill = np.full(len(start), 255, np.uint8)
    if len(start) > PER_PIXEL * pixels:
        width = max(1, -(-(last - first) // pixels))
        long = end - start >= width
        merged = _merged(start[~long], end[~long], kind[~long], first, width)
        start, end = np.append(start[long], merged[0]), np.append(end[long], merged[1])
        kind = np.append(kind[long], merged[2])
        fill = np.append(fill[long], merged[3])
        none = np.full(len(merged[0]), -1, np.int32)
        row, index = np.append(row[long], none), np.append(index[long], none)
        order = np.argsort(start, kind="stable")
        start, end, kind, fill = start[order], end[order], kind[order], fill[order]
        row, index = row[order], index[order]
    return {
        "start": np.clip(start - first, -_EDGE, _EDGE), "end": np.clip(end - first, -_EDGE, _EDGE),
        "row": row, "index": index, "kind": kind, "fill": fill,
    }  # fmt: skip


def _merged(
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    kind: NDArray[np.uint8],
    first: int,
    width: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
    """One rectangle a pixel: start, end, the kind that covers most, covered share."""
    pixel = np.maximum(start - first, 0) // width
    cells = np.bincount(
        pixel * KINDS + kind,
        weights=end - start,
        minlength=(int(pixel.max(initial=-1)) + 1) * KINDS,
    ).reshape(-1, KINDS)
    covered = cells.sum(1)
    used = np.flatnonzero(covered)
    at = first + used * width
    share = np.clip(covered[used] / width * 255, 24, 255).astype(np.uint8)
    return at, at + width, cells[used].argmax(1).astype(np.uint8), share


def pack(
    lanes: Sequence[Lane], first: int, last: int, pixels: int, more: dict[str, object]
) -> bytes:
    """The answer of the binary route: u32 length of a JSON head, the head, then the arrays.

    The head names the lanes with their count; the arrays follow lane by lane as ARRAYS
    says, each padded to 4 bytes.
    """
    parts: list[bytes] = []
    heads: list[dict[str, object]] = []
    for lane in lanes:
        columns = cut(lane, first, last, pixels)
        heads.append(
            {"name": lane.name, "group": lane.group, "simd": lane.simd, "slot": lane.slot,
             "count": len(columns["start"]), "texts": lane.texts[:4096]}
        )  # fmt: skip
        for name, dtype in ARRAYS:
            data = columns[name].astype(dtype).tobytes()
            parts.append(data + bytes(-len(data) % 4))
    head = json.dumps({"first": first, "last": last, "lanes": heads, **more}).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])
