"""Marker scopes: what s_ttracedata values say when they follow AMD's marker encoding.

Bit 0 leaves the top scope, bit 1 enters one, bits 2-31 are the id; without either bit it
is a point.  Names come from the ``.sqtt_funcmap`` section of the code object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

EXIT, ENTER = 1, 2


def scopes(timeline: Timeline) -> pd.DataFrame:
    """Scopes of all waves: se, cu, simd, slot, wave, id, name, depth, begin, end (cycles).

    A scope still open when its wave ends is closed there.  ``wave`` is -1 for waves whose
    instructions are not traced; ``name`` is the id where no name is known.
    """
    import pandas as pd

    found: list[tuple[object, ...]] = []
    markers, waves = timeline.markers, timeline.waves
    place = ["se", "cu", "simd", "slot"]
    lives = {
        key: group.sort_values("begin")[["begin", "end", "wave"]].to_numpy()
        for key, group in waves.groupby(place)
    }
    for key, group in markers.groupby(place, sort=True):
        times, values = group["time"].to_numpy(), group["value"].to_numpy()
        own = lives.get(key, np.empty((0, 3), np.int64))
        at = np.searchsorted(own[:, 0], times, side="right") - 1
        for number in np.unique(at).tolist():
            wave, end = (int(own[number, 2]), int(own[number, 1])) if number >= 0 else (-1, -1)
            mine = at == number
            last = end if number >= 0 else int(times[mine].max())
            for each in _pairs(times[mine].tolist(), values[mine].tolist(), last):
                name = timeline.marker_names.get(each[0], str(each[0]))
                found.append((*key, wave, each[0], name, *each[1:]))
    columns = [*place, "wave", "id", "name", "depth", "begin", "end"]
    return pd.DataFrame(found, columns=columns)


def _pairs(times: list[int], values: list[int], end: int) -> list[tuple[int, int, int, int]]:
    """(id, depth, begin, end) of each scope that the values of one wave open."""
    stack: list[tuple[int, int]] = []
    found: list[tuple[int, int, int, int]] = []
    for time, value in zip(times, values, strict=True):
        if value & EXIT and stack:
            number, begin = stack.pop()
            found.append((number, len(stack), begin, time))
        if value & ENTER:
            stack.append((value >> 2, time))
    while stack:
        number, begin = stack.pop()
        found.append((number, len(stack), begin, max(end, begin)))
    return sorted(found, key=lambda scope: (scope[2], scope[1]))
