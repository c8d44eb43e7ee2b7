"""Trace-driven runs: the instructions of a real capture on the timing model.

Taken from the capture: each wave's executed instructions and its start, the latency of every
s_waitcnt that waited for vector or scalar memory (relative to the issue of the instruction it
waited for), and the back-pressure stalls of vector memory. Everything else is predicted, and
nothing is synchronised later.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.runs.execution import cost_of
from zyfa.sim.timing.costs import INTERNAL, LDS, SCALAR, VMEM, Cost
from zyfa.sim.timing.cu import Cu
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.track import Driver, Given, Track

JUMP = 7
"""tracekit's category of a taken branch."""

TOGETHER = 64
"""Waves of a CU that start within so many cycles of each other and execute equally many
s_barrier are taken for one workgroup; captures do not say."""


@dataclass
class Recorded:
    """One wave of a capture. Arrays by executed instruction, cycles of the stream's clock.

    place: se, cu, simd, slot; start: WAVE_START, which decides who is older; begin: first attempt
    of the first instruction; attempt, issue, stall, duration: as in tracekit's table (issue =
    attempt + stall); rows: listing rows; taken: branches that jumped.
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


Entry = TypeVar("Entry")


def retired(queue: deque[Entry], limit: int | None) -> list[Entry]:
    """The oldest entries, taken out until `limit` are left; none without a limit."""
    return [] if limit is None else [queue.popleft() for _ in range(len(queue) - limit)]


class Recording(Driver):
    """Plays one recorded wave."""

    def __init__(self, wave: Recorded, costs: list[Cost], lds_given: bool):
        self.wave, self.costs, self.at = wave, costs, 0
        self.givens: list[Given | None] = [None] * len(costs)
        self._measure(lds_given)

    def _measure(self, lds_given: bool) -> None:
        """Latencies of the waits, relative to the issue of what they waited for."""
        wave = self.wave
        vmem: deque[tuple[int, int]] = deque()
        lgkm: deque[tuple[str, int, int]] = deque()
        count = 0
        for n, cost in enumerate(self.costs):
            when = int(wave.issue[n])
            if cost.port == VMEM:
                self.givens[n] = Given(stall=int(wave.stall[n]))
                vmem.append((count, when))
                if cost.flat:
                    lgkm.append(("flat", count, when))
                count += 1
            elif cost.port == LDS:
                lgkm.append(("lds", count, when))
                count += 1
            elif cost.port == SCALAR and cost.smem:
                lgkm.append(("smem", count, when))
                count += 1
            elif cost.internal == "wait":
                limits = cost.counts
                done = [("vmem", *entry) for entry in retired(vmem, limits.get("vmcnt"))]
                done += retired(lgkm, limits.get("lgkmcnt"))
                producers = [
                    (number, issued) for kind, number, issued in done if kind != "lds" or lds_given
                ]
                last = max(producers, key=lambda item: item[1], default=None)
                if last is not None and wave.duration[n] > 4:
                    self.givens[n] = Given(when - last[1], last[0], 0, lds_given)
                else:
                    self.givens[n] = Given(all_given=lds_given)

    def current(self) -> tuple[int, Cost] | None:
        if self.at >= len(self.costs):
            return None
        return self.at, self.costs[self.at]

    def given(self) -> Given | None:
        return self.givens[self.at]

    def issue(self, now: int) -> bool:
        self.at += 1
        return bool(self.wave.taken[self.at - 1])


@dataclass
class Replay:
    """Measured against predicted (*simulated*), cycles.

    iterations: (measured, predicted) per distance between executions of a wave's loop branch;
    occupancy: (measured, predicted) percent per SIMD, first MFMA issue to last MFMA end; steps:
    share of instructions whose distance to their predecessor is exact.
    """

    capture: str
    arch: str
    waves: int
    iterations: np.ndarray
    occupancy: np.ndarray
    steps: float
    notes: list[str] = field(default_factory=list)

    @property
    def errors(self) -> np.ndarray:
        """Signed relative error of each iteration."""
        result: np.ndarray = self.iterations[:, 1] / self.iterations[:, 0] - 1
        return result

    @property
    def median_error(self) -> float:
        """Median absolute relative error per iteration."""
        return float(np.median(np.abs(self.errors)))

    @property
    def bias(self) -> float:
        return float(np.mean(self.errors))


def record(path: str | Path) -> tuple[str, str, list[Recorded]]:
    """(name, arch, waves) of a capture, by tracekit's exact timing where it has streams."""
    import tracekit

    timeline = tracekit.open(path).timeline("exact")
    table = timeline.instructions
    keys = ["se", "cu", "simd", "slot", "wave"]
    categories = list(table["instruction"].cat.categories)
    codes = table["instruction"].cat.codes.to_numpy()
    columns = {
        name: table[name].to_numpy() for name in (*keys, "time", "stall", "duration", "category")
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
    for first, last in zip(starts, [*starts[1:], len(table)], strict=True):
        part = slice(first, last)
        time, stall, duration = (columns[n][part] for n in ("time", "stall", "duration"))
        texts = [categories[code] if code >= 0 else "" for code in codes[part]]
        if not all(texts):
            continue
        a, b, c, d = (int(columns[n][first]) for n in keys[:4])
        place = a, b, c, d
        taken = columns["category"][part] == JUMP
        start = int(born[tuple(int(columns[n][first]) for n in keys)])
        waves.append(
            Recorded(place, start, int(time[0]), rows[part], texts, time, time + stall, stall,
                     duration, taken)
        )  # fmt: skip
    return timeline.capture, timeline.arch.name, waves


def workgroups(waves: list[Recorded]) -> list[list[Recorded]]:
    """Group the waves of one CU."""
    groups: list[list[Recorded]] = []
    barriers: list[int] = []
    for wave in sorted(waves, key=lambda w: w.start):
        count = sum(text.startswith("s_barrier") for text in wave.texts)
        if groups and barriers[-1] == count and wave.start - groups[-1][-1].start <= TOGETHER:
            groups[-1].append(wave)
        else:
            groups.append([wave])
            barriers.append(count)
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


def replay(
    path: str | Path,
    overrides: Mapping[str, int] | None = None,
    *,
    arch: str | None = None,
    lds_given: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Run a capture on the model. Raises SimError when it holds no complete wave.

    overrides: parameter values; `{"ports": 0}` with `lds_given` is the naive model.
    """
    name, found, waves = record(path)
    parameters = Parameters.of(arch or found, overrides)
    if not waves:
        raise SimError(f"{name}: no wave whose instructions are all known")
    texts = dict.fromkeys(text for wave in waves for text in wave.texts)
    costs = {text: cost_of(text, parameters) for text in texts}
    cus: dict[tuple[int, int], list[Recorded]] = {}
    for wave in waves:
        cus.setdefault(wave.place[:2], []).append(wave)
    iterations: list[tuple[int, int]] = []
    occupancy: list[tuple[float, float]] = []
    exact = steps = 0
    for done, members in enumerate(cus.values()):
        cu = Cu(parameters)
        tracks = place(cu, members, costs, lds_given)
        cu.run()
        for track, wave in tracks:
            measured, predicted = issue_times(wave, track)
            points = loop_branch(wave)
            iterations += zip(
                np.diff(measured[points]).tolist(), np.diff(predicted[points]).tolist(), strict=True
            )
            exact += int((np.diff(measured) == np.diff(predicted)).sum())
            steps += len(measured) - 1
        occupancy += [pair for n in range(4) if (pair := matrix_occupancy(n, cu, tracks))]
        if progress is not None:
            progress(done + 1, len(cus))
    return Replay(
        name, parameters.arch, len(waves), np.array(iterations, float).reshape(-1, 2),
        np.array(occupancy).reshape(-1, 2), exact / max(steps, 1),
    )  # fmt: skip


def place(
    cu: Cu, waves: list[Recorded], costs: Mapping[str, Cost], lds_given: bool
) -> list[tuple[Track, Recorded]]:
    """Put the recorded waves of one CU on the model, workgroup by workgroup."""
    tracks: list[tuple[Track, Recorded]] = []
    for group in workgroups(waves):
        placed = []
        for wave in group:
            driver = Recording(wave, [costs[text] for text in wave.texts], lds_given)
            track = Track(driver, cu.p, len(tracks), wave.begin)
            track.age = (wave.start, len(tracks))
            tracks.append((track, wave))
            placed.append(track)
        cu.place(placed, [wave.place[2] for wave in group])
    return tracks


def costs_of(track: Track) -> list[Cost]:
    """Costs of a recorded wave's instructions, in the order in which it ran them."""
    assert isinstance(track.driver, Recording)
    return track.driver.costs


def issue_times(wave: Recorded, track: Track) -> tuple[np.ndarray, np.ndarray]:
    """(measured, predicted) cycle of each instruction; completions of internal ones."""
    internal = np.array([cost.port == INTERNAL for cost in costs_of(track)])
    log = np.array([entry[:4] for entry in track.log])
    measured = np.where(internal, wave.attempt + wave.duration - 4, wave.issue)
    predicted = np.where(internal, log[:, 3] - 4, log[:, 2])
    return measured, predicted


def matrix_occupancy(
    simd: int, cu: Cu, tracks: list[tuple[Track, Recorded]]
) -> tuple[float, float] | None:
    """Percent of the window first MFMA issue .. last MFMA end in which the pipe is busy."""
    measured = [
        (int(wave.issue[n]), int(wave.issue[n]) + cost.cycles)
        for track, wave in tracks
        if wave.place[2] == simd
        for n, cost in enumerate(costs_of(track))
        if cost.cycles
    ]
    predicted = [entry[:2] for entry in cu.simds[simd].matrix]
    if not measured:
        return None
    return _busy(measured), _busy(predicted)


def _busy(intervals: list[tuple[int, int]]) -> float:
    window = max(end for _, end in intervals) - min(begin for begin, _ in intervals)
    return 100 * sum(end - begin for begin, end in intervals) / window
