"""Wave files and filenames.json of the directory that ROCprof Compute Viewer opens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.errors import TracekitError
from tracekit.export.waitcnt import WaitTable, wait_rows
from tracekit.gfx9 import STATES
from tracekit.tables.timeline import Timeline

#: (file name, content)
File = tuple[str, dict[str, Any]]
#: AMD's tool leaves out a wave without instructions and with fewer states than this.
_LEAST_STATES = 3
_KEY = ["se", "simd", "slot", "wave"]


def wave_files(timeline: Timeline, line: NDArray[np.int64]) -> Iterator[File]:
    """One file a wave; ``line``: line number per listing row, and a 0 for unstitched ones.

    Raises TracekitError when waves of several dispatches bear the same number.
    """
    waves = timeline.waves
    if waves.duplicated(_KEY).any():
        raise TracekitError(
            "waves of several streams of one shader engine: the directory holds one dispatch, "
            "choose it with --dispatch"
        )
    table, states = timeline.executed, timeline.states
    row = table["row"].to_numpy()
    columns = [table[name].to_numpy() for name in ("time", "category", "stall", "duration")]
    columns.append(line[row])
    instructions = np.stack([c.astype(np.int64) for c in columns], 1)
    codes = _state_codes(timeline)
    state_rows = np.stack([codes, states["duration"].to_numpy()], 1)
    first_state, last_state = _extents(timeline)
    waits, at = WaitTable.of(timeline.listing), 0
    names = (*_KEY, "cu", "begin", "end", "instructions", "stitched")
    for number, values in enumerate(zip(*(waves[n].tolist() for n in names), strict=True)):
        wave = dict(zip(names, values, strict=True))
        own = slice(at, at + wave["instructions"])
        at = own.stop
        line_of_time = state_rows[first_state[number] : last_state[number]].tolist()
        if not wave["instructions"] and len(line_of_time) < _LEAST_STATES:
            continue
        content = {
            "duration": wave["end"] - wave["begin"],
            "name": f"SE{wave['se']}",
            "num_insts": wave["instructions"],
            "num_stitched": wave["stitched"],
            "wave": {
                "begin": wave["begin"],
                "cu": wave["cu"],
                "end": wave["end"],
                "id": wave["wave"],
                # AMD's tool writes null for an empty list.
                "instructions": instructions[own].tolist() or None,
                "simd": wave["simd"],
                "slot": wave["slot"],
                "timeline": line_of_time or None,
                "waitcnt": wait_rows(waits, row[own], instructions[own, 4]) or None,
            },
        }
        yield wave_name(wave), content


def wave_name(wave: dict[str, Any]) -> str:
    return "se{se}_sm{simd}_sl{slot}_wv{wave}.json".format(**wave)


def file_names(written: list[File], counter_names: list[str], version: str) -> dict[str, Any]:
    """filenames.json of the wave files ``written``."""
    tree: dict[str, Any] = {}
    for name, content in written:
        wave = content["wave"]
        slots = tree.setdefault(content["name"][2:], {}).setdefault(str(wave["simd"]), {})
        waves = slots.setdefault(str(wave["slot"]), {})
        waves[str(wave["id"])] = [name, wave["begin"], wave["end"]]
    return {
        "counter_names": counter_names,
        "gfxip": 9,
        "gfxv": "vega",
        "global_begin_time": 0,
        "version": version,
        "wave_filenames": tree,
    }


def _state_codes(timeline: Timeline) -> NDArray[np.int64]:
    number = {name: code for code, name in enumerate(STATES)}
    names = timeline.states["state"].astype(str).tolist()
    return np.array([number[name] for name in names], np.int64)


def _extents(timeline: Timeline) -> tuple[list[int], list[int]]:
    """First and last + 1 row of the states table of each wave, both in wave order."""
    waves, states = timeline.waves, timeline.states
    index = {key: i for i, key in enumerate(zip(*(waves[n].tolist() for n in _KEY), strict=True))}
    owner = [index[key] for key in zip(*(states[n].tolist() for n in _KEY), strict=True)]
    count = np.bincount(np.array(owner, np.int64), minlength=len(waves))
    last = np.cumsum(count)
    return (last - count).tolist(), last.tolist()
