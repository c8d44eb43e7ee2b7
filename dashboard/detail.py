"""Level of detail: what of a lane a window of so many pixels can show, and its bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dashboard.lanes import Lane

#: Kinds of the palette are below this.
KINDS = 32
#: Intervals of a lane that are sent as they are: up to this many times the pixels in view.
PER_PIXEL = 1
#: Intervals of a lane with texts, up to which the texts are sent.
MOST_TEXTS = 2048
_EDGE = np.iinfo(np.int32).max
#: Arrays of each lane in the answer, in this order, little-endian.
ARRAYS = (("start", "<i4"), ("end", "<i4"), ("row", "<i4"), ("index", "<i4"), ("kind", "u1"),
          ("fill", "u1"))  # fmt: skip

Columns = dict[str, NDArray[np.generic]]


def cut(lane: Lane, first: int, last: int, pixels: int) -> Columns:
    """The intervals of ``lane`` that meet [first, last), reduced to what ``pixels`` show.

    Where they are more than PER_PIXEL times the pixels, those shorter than a pixel become one
    rectangle a pixel: of the kind that covers most of it, with ``fill`` / 255 the share of
    the pixel covered by intervals (their mean level, where the lane has levels); longer ones
    stay.  Times are relative to ``first``.
    """
    own = _within(lane, first, last)
    start, end, kind = lane.start[own], lane.end[own], lane.kind[own]
    row, index = lane.row[own], lane.index[own]
    fill = np.full(len(start), 255, np.uint8) if lane.level is None else lane.level[own]
    if len(start) > PER_PIXEL * pixels:
        width = max(1, -(-(last - first) // pixels))
        long = end - start >= width
        weight = (end - start) * (fill / 255)
        merged = _merged(start[~long], weight[~long], kind[~long], first, width)
        start, end = np.append(start[long], merged[0]), np.append(end[long], merged[1])
        kind = np.append(kind[long], merged[2])
        fill = np.append(fill[long], merged[3]).astype(np.uint8)
        none = np.full(len(merged[0]), -1, np.int32)
        row, index = np.append(row[long], none), np.append(index[long], none)
        order = np.argsort(start, kind="stable")
        start, end, kind, fill = start[order], end[order], kind[order], fill[order]
        row, index = row[order], index[order]
    return {
        "start": np.clip(start - first, -_EDGE, _EDGE), "end": np.clip(end - first, -_EDGE, _EDGE),
        "row": row, "index": index, "kind": kind, "fill": fill,
    }  # fmt: skip


def _within(lane: Lane, first: int, last: int) -> slice:
    """The intervals that may meet [first, last)."""
    high = int(np.searchsorted(lane.start, last, side="left"))
    # Ends are not sorted where intervals overlap: look from the first that may still run.
    return slice(int(np.searchsorted(lane.reach[:high], first, side="right")), high)


def _merged(
    start: NDArray[np.int64],
    weight: NDArray[np.float64],
    kind: NDArray[np.uint8],
    first: int,
    width: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
    """One rectangle a pixel: start, end, the kind that covers most, covered share."""
    pixel = np.maximum(start - first, 0) // width
    cells = np.bincount(
        pixel * KINDS + kind,
        weights=weight,
        minlength=(int(pixel.max(initial=-1)) + 1) * KINDS,
    ).reshape(-1, KINDS)
    covered = cells.sum(1)
    used = np.flatnonzero(covered)
    at = first + used * width
    share = np.clip(covered[used] / width * 255, 24, 255).astype(np.uint8)
    return at, at + width, cells[used].argmax(1).astype(np.uint8), share


def _texts(lane: Lane, index: NDArray[np.generic]) -> list[str]:
    """Text of each interval; none where there are more than could be read."""
    if not lane.texts or len(index) > MOST_TEXTS:
        return []
    return [lane.texts[i] if i >= 0 else "" for i in index.tolist()]


def pack(
    lanes: Sequence[Lane], first: int, last: int, pixels: int, more: dict[str, object]
) -> bytes:
    """The answer of the binary route: u32 length of a JSON head, the head, then the arrays.

    The head names the lanes with their count, and the texts of their intervals where they
    have some, and ``exact``: nothing was merged.  The arrays follow lane by lane as ARRAYS
    says, each padded to 4 bytes.
    """
    parts: list[bytes] = []
    heads: list[dict[str, object]] = []
    exact = True
    for lane in lanes:
        columns = cut(lane, first, last, pixels)
        own = _within(lane, first, last)
        exact = exact and own.stop - own.start <= PER_PIXEL * pixels
        heads.append(
            {"name": lane.name, "group": lane.group, "simd": lane.simd, "slot": lane.slot,
             "count": len(columns["start"]), "texts": _texts(lane, columns["index"]),
             "window": lane.window[:MOST_TEXTS]}
        )  # fmt: skip
        for name, dtype in ARRAYS:
            data = columns[name].astype(dtype).tobytes()
            parts.append(data + bytes(-len(data) % 4))
    head = json.dumps(
        {"first": first, "last": last, "exact": exact, "lanes": heads, **more}
    ).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])
