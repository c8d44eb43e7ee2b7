"""Tables from the tokens of the whole SE: wave starts and ends, counters, markers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.sqtt.layout import FIELDS, Token
from tracekit.sqtt.raw import RawStream
from tracekit.sqtt.registers import Registers


@dataclass
class WaveStarts:
    """WAVE_START tokens of a stream in order, and the dispatch and entry of each.

    The last element of the columns stands for an unknown start (dispatch -1, entry 0).
    """

    offset: NDArray[np.int64]
    dispatch: NDArray[np.int64]
    code_object: NDArray[np.int64]
    entry: NDArray[np.int64]

    def position(self, offset: NDArray[np.int64]) -> NDArray[np.int64]:
        """Index of the start at each byte offset (-1: the unknown one, the last)."""
        at = np.searchsorted(self.offset, offset)
        return np.where(offset >= 0, at, len(self.offset))


def field_of(raw: NDArray[np.uint64], token: Token, name: str) -> NDArray[np.int64]:
    """One field of many tokens of a type."""
    field = FIELDS[token][name]
    mask = np.uint64((1 << field.width) - 1)
    return (raw >> np.uint64(field.shift) & mask).astype(np.int64)


def _tokens(raw: RawStream, *kinds: Token) -> NDArray[np.bool_]:
    return np.isin((raw.side_raw & np.uint64(15)).astype(np.uint8), kinds)


def wave_starts(raw: RawStream, registers: Registers) -> WaveStarts:
    """All wave starts of the SE with what the registers say of them."""
    starts = _tokens(raw, Token.WAVE_START)
    offset, word = raw.side_offset[starts], raw.side_raw[starts]
    pcs = registers.start_pcs(offset, word)
    code_object = np.zeros(len(pcs) + 1, np.int64)
    entry = np.zeros(len(pcs) + 1, np.int64)
    # Waves of one dispatch share PC and loaded objects: resolve each change once.
    changes = np.array(
        sorted({o.since for o in registers.objects} | {o.until for o in registers.objects}),
        np.int64,
    )
    keys = np.stack([pcs, np.searchsorted(changes, offset, side="right")], 1)
    unique, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    where = [registers.resolve(int(pcs[i]), int(offset[i])) for i in first.tolist()]
    if len(unique):
        resolved = np.array(where, np.int64)[inverse.ravel()]
        code_object[:-1], entry[:-1] = resolved[:, 0], resolved[:, 1]
    dispatch = np.append(registers.dispatch_of(offset, word), -1)
    return WaveStarts(offset, dispatch, code_object, entry)


def occupancy(
    raw: RawStream, starts: WaveStarts, dispatch: NDArray[np.int64], se: int
) -> dict[str, object]:
    """Columns of the occupancy table; an end carries what its start carried."""
    tokens = _tokens(raw, Token.WAVE_START, Token.WAVE_END)
    word, offset = raw.side_raw[tokens], raw.side_offset[tokens]
    # sh, cu, slot and simd lie at the same bits in both tokens.
    place = (word >> np.uint64(5) & np.uint64(0x7FF)).astype(np.int64)
    start = (word & np.uint64(15)) == Token.WAVE_START
    origin = np.full(len(word), len(starts.offset), np.int64)
    origin[start] = starts.position(offset[start])
    # The start that an end belongs to is the event before it at the same place.
    order = np.argsort(place, kind="stable")
    before, end = order[:-1], order[1:]
    closes = (place[before] == place[end]) & ~start[end] & start[before]
    origin[end[closes]] = origin[before[closes]]
    return {
        "se": np.full(len(word), se),
        "time": raw.side_time[tokens],
        "cu": field_of(word, Token.WAVE_START, "cu"),
        "simd": field_of(word, Token.WAVE_START, "simd"),
        "slot": field_of(word, Token.WAVE_START, "slot"),
        "start": start,
        "dispatch": dispatch[origin],
        "code_object": starts.code_object[origin],
        "entry": starts.entry[origin],
    }


def counters(raw: RawStream, se: int) -> dict[str, object]:
    """Columns of the counters table.

    CUs are read one a tick, so a sample is 4 cycles older for each CU before it (equal to
    AMD's times on all 622 samples of a public gfx950 capture).
    """
    tokens = _tokens(raw, Token.PERF)
    tokens[tokens] = field_of(raw.side_raw[tokens], Token.PERF, "sh") == 0
    word = raw.side_raw[tokens]
    cu = field_of(word, Token.PERF, "cu")
    columns: dict[str, object] = {
        "se": np.full(len(word), se),
        "time": raw.side_time[tokens] - 4 * cu,
        "cu": cu,
        "bank": field_of(word, Token.PERF, "bank"),
    }
    return columns | {name: field_of(word, Token.PERF, name) for name in ("c0", "c1", "c2", "c3")}


def markers(raw: RawStream, se: int) -> dict[str, object]:
    """Columns of the markers table: the values that s_ttracedata wrote."""
    tokens = _tokens(raw, Token.USERDATA)
    word = raw.side_raw[tokens]
    return {
        "se": np.full(len(word), se),
        "time": raw.side_time[tokens],
        "cu": field_of(word, Token.USERDATA, "cu"),
        "simd": field_of(word, Token.USERDATA, "simd"),
        "slot": field_of(word, Token.USERDATA, "slot"),
        "value": field_of(word, Token.USERDATA, "data"),
    }
