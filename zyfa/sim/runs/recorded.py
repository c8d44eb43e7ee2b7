"""Waves of a capture, as the timing model plays them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tracekit.gfx9 import Category

if TYPE_CHECKING:
    from tracekit.tables.timeline import Timeline

TOGETHER = 64
"""Waves of a CU that start within so many cycles of each other and execute equally many
s_barrier are taken for one workgroup; captures do not say."""


@dataclass
class Recorded:
    """One wave of a capture. Arrays by executed instruction, cycles of the stream's clock.

    place: se, cu, simd, slot; start: WAVE_START, which decides who is older; begin: first attempt
    of the first instruction; attempt, issue, stall, duration: as in tracekit's table (issue =
    attempt + stall); rows: listing rows; taken: branches that jumped; first: position of its
    first instruction in tracekit's table; dispatch: as there; barriers: s_barrier of the whole
    wave.
    """

    place: tuple[int, int, int, int]
    start: int
    begin: int
    rows: np.ndarray
    texts: list[str]
    attempt: np.ndarray
    issue: np.ndarray
    stall: np.ndarray
    duration: np.ndarray
    taken: np.ndarray
    barriers: int
    dispatch: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def until(self, cycle: int) -> Recorded:
        """What it attempts before `cycle`, and then an end."""
        n = int(np.searchsorted(self.attempt, cycle))
        if n == len(self):
            return self
        return replace(
            self,
            rows=np.append(self.rows[:n], -1),
            texts=[*self.texts[:n], "s_endpgm"],
            attempt=np.append(self.attempt[:n], cycle),
            issue=np.append(self.issue[:n], cycle),
            stall=np.append(self.stall[:n], 0),
            duration=np.append(self.duration[:n], 4),
            taken=np.append(self.taken[:n], False),
        )


def recorded(timeline: Timeline) -> list[Recorded]:
    """The waves whose instructions are all known."""
    table = timeline.executed
    keys = ["se", "cu", "simd", "slot", "wave"]
    categories = list(table["instruction"].cat.categories)
    codes = table["instruction"].cat.codes.to_numpy()
    columns = {
        name: table[name].to_numpy()
        for name in (*keys, "time", "stall", "duration", "category", "dispatch")
    }
    rows = table["row"].to_numpy()
    change = np.zeros(len(table), bool)
    change[:1] = True
    for name in keys:
        change[1:] |= columns[name][1:] != columns[name][:-1]
    starts = np.flatnonzero(change)
    born = {
        tuple(key): begin
        for *key, begin in timeline.waves[[*keys, "begin"]].itertuples(index=False, name=None)
    }
    waves = []
    for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(table)], strict=True):
        part = slice(first, last)
        time, stall, duration = (columns[n][part] for n in ("time", "stall", "duration"))
        texts = [categories[code] if code >= 0 else "" for code in codes[part]]
        if not all(texts):
            continue
        a, b, c, d = (int(columns[n][first]) for n in keys[:4])
        start = int(born[tuple(int(columns[n][first]) for n in keys)])
        waves.append(
            Recorded((a, b, c, d), start, int(time[0]), rows[part], texts, time, time + stall,
                     stall, duration, columns["category"][part] == Category.JUMP,
                     sum(text.startswith("s_barrier") for text in texts),
                     int(columns["dispatch"][first]))
        )  # fmt: skip
    return waves


def workgroups(waves: list[Recorded]) -> list[list[Recorded]]:
    """Group the waves of one CU."""
    groups: list[list[Recorded]] = []
    for wave in sorted(waves, key=lambda w: w.start):
        last = groups[-1][-1] if groups else None
        if last is None or last.barriers != wave.barriers or wave.start - last.start > TOGETHER:
            groups.append([wave])
        else:
            groups[-1].append(wave)
    return groups


def loop_branch(wave: Recorded) -> np.ndarray:
    """Positions of the wave's most-taken backward branch."""
    back = [
        int(wave.rows[n])
        for n in np.flatnonzero(wave.taken[:-1])
        if wave.rows[n + 1] <= wave.rows[n]
    ]
    if not back:
        return np.zeros(0, int)
    row, _ = Counter(back).most_common(1)[0]
    return np.flatnonzero(wave.rows == row)
