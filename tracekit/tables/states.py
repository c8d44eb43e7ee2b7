"""Wave states from instruction rows in exact timing.

IDLE until the first attempt to issue; STALL from a refused attempt to the issue; WAIT
inside s_waitcnt, s_nop, s_barrier and the like until completion, and before s_endpgm;
EXEC otherwise.  The states of a wave sum to its life.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import STATES, Category, State
from tracekit.tables.schema import categorical, frame

if TYPE_CHECKING:
    import pandas as pd


def exact_states(table: pd.DataFrame, waves: pd.DataFrame) -> pd.DataFrame:
    """The ``states`` table of the instructions ``table`` of ``waves`` in exact timing."""
    import pandas as pd

    counts = waves["instructions"].to_numpy()
    wave_of = np.repeat(np.arange(len(waves)), counts)
    edges_time, edges_state, edges_wave = _edges(table, waves, wave_of)
    # An edge starts a state; it lasts to the next edge of the wave, or to the wave's end.
    ends = np.append(edges_time[1:], 0)
    last = np.append(edges_wave[1:] != edges_wave[:-1], True)[: len(edges_wave)]
    ends = ends[: len(edges_wave)]
    ends[last] = waves["end"].to_numpy()[edges_wave[last]]
    limit = waves["end"].to_numpy()[edges_wave]
    begin = np.minimum(edges_time, limit)
    duration = np.minimum(ends, limit) - begin
    kept = duration > 0
    begin, duration = begin[kept], duration[kept]
    state, wave = edges_state[kept], edges_wave[kept]
    # Neighbours in one state become one entry.
    fresh = np.ones(len(state), bool)
    fresh[1:] = (state[1:] != state[:-1]) | (wave[1:] != wave[:-1])
    group = np.cumsum(fresh) - 1
    total = np.bincount(group, duration).astype(np.int64) if len(group) else duration
    wave = wave[fresh]
    columns: dict[str, object] = {
        name: waves[name].to_numpy()[wave] for name in ("se", "cu", "simd", "slot", "wave")
    }
    columns["state"] = categorical(state[fresh], pd.Index(STATES))
    columns["begin"], columns["duration"] = begin[fresh], total
    return frame("states", columns)


def _edges(
    table: pd.DataFrame, waves: pd.DataFrame, wave_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(time, state, wave) where a wave's state may change, in order."""
    time, stall = table["time"].to_numpy(), table["stall"].to_numpy()
    end = time + table["duration"].to_numpy()
    category, release = table["category"].to_numpy(), table["release"].to_numpy()
    issue = time + stall
    immed = category == Category.IMMED
    barrier = release >= 0
    # Up to three edges an instruction: refused, waiting, running again.
    refused = np.where(immed & ~barrier, -1, np.where(stall > 0, time, -1))
    waiting = np.where(barrier, issue + 4, np.where(immed, time, -1))
    running = np.where(immed, end - 4, issue)
    previous = np.append(0, end[:-1])
    first = np.ones(len(table), bool)
    first[1:] = wave_of[1:] != wave_of[:-1]
    ending = (category == Category.MESSAGE) & ~first
    last = np.append(first[1:], True) if len(first) else first
    waiting = np.where(ending & last & (stall == 0), previous, waiting)
    arrive = np.where(barrier, issue, -1)
    n = len(table)
    times = np.stack([refused, arrive, waiting, running], 1).reshape(-1)
    states = np.tile(np.array([State.STALL, State.EXEC, State.WAIT, State.EXEC]), n)
    owner = np.repeat(wave_of, 4)
    present = times >= 0
    begins = waves["begin"].to_numpy()
    times = np.concatenate([begins, times[present]])
    states = np.concatenate([np.full(len(waves), State.IDLE), states[present]])
    owner = np.concatenate([np.arange(len(waves)), owner[present]])
    order = np.argsort(owner, kind="stable")
    return times[order], states[order], owner[order]
