"""How many waves are in each state over time (``wstates{0..4}.json``)."""

from __future__ import annotations

import numpy as np

from tracekit.gfx9 import STATES
from tracekit.tables.timeline import Timeline


def wave_states(timeline: Timeline) -> dict[int, tuple[list[int], list[int]]]:
    """State -> (times, number of waves in it from then on), for the states that occur.

    All waves of all SEs are counted together, as AMD's tool does although clocks of SEs
    differ.  There is a row at every time at which an interval of the state starts or ends,
    also where the number stays the same.
    """
    states = timeline.states
    names = states["state"].astype(str).to_numpy()
    begin = states["begin"].to_numpy()
    end = begin + states["duration"].to_numpy()
    found: dict[int, tuple[list[int], list[int]]] = {}
    for number, name in enumerate(STATES):
        own = names == name
        if not own.any():
            continue
        times, where = np.unique(np.concatenate([begin[own], end[own]]), return_inverse=True)
        step = np.repeat([1, -1], int(own.sum()))
        count = np.cumsum(np.bincount(where.ravel(), step, len(times))).astype(np.int64)
        found[number] = (times.tolist(), count.tolist())
    return found
