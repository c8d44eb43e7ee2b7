"""Trace-driven runs: the instructions of a real capture on the timing model.

Taken from the capture: each wave's executed instructions and its start, the latency of every
s_waitcnt that waited for vector or scalar memory (relative to the issue of the instruction it
waited for), and the back-pressure stalls of vector memory. Everything else is predicted, and
nothing is synchronised later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.runs.execution import cost_of
from zyfa.sim.runs.recorded import Recorded, loop_branch, recorded, workgroups
from zyfa.sim.runs.recording import Recording, Script, script
from zyfa.sim.timing.costs import INTERNAL, Cost
from zyfa.sim.timing.cu import Cu
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.track import Track


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
    import tracekit

    timeline = tracekit.open(path).timeline("exact")
    name, waves = timeline.capture, recorded(timeline)
    parameters = Parameters.of(arch or timeline.arch.name, overrides)
    if not waves:
        raise SimError(f"{name}: no wave whose instructions are all known")
    costs = costs_of(waves, parameters)
    cus: dict[tuple[int, int], list[Recorded]] = {}
    for wave in waves:
        cus.setdefault(wave.place[:2], []).append(wave)
    iterations: list[tuple[int, int]] = []
    occupancy: list[tuple[float, float]] = []
    exact = steps = 0
    for done, members in enumerate(cus.values()):
        cu = Cu(parameters)
        scripts = [script(wave, [costs[t] for t in wave.texts], lds_given) for wave in members]
        tracks = place(cu, members, scripts)
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


def costs_of(waves: list[Recorded], parameters: Parameters) -> dict[str, Cost]:
    """The cost of every text that the waves run."""
    texts = dict.fromkeys(text for wave in waves for text in wave.texts)
    return {text: cost_of(text, parameters) for text in texts}


def place(cu: Cu, waves: list[Recorded], scripts: list[Script]) -> list[tuple[Track, Recorded]]:
    """Put the recorded waves of one CU on the model, workgroup by workgroup."""
    script_of = {id(wave): each for wave, each in zip(waves, scripts, strict=True)}
    tracks: list[tuple[Track, Recorded]] = []
    for group in workgroups(waves):
        placed = []
        for wave in group:
            track = Track(Recording(wave, script_of[id(wave)]), cu.p, len(tracks), wave.begin)
            track.age = (wave.start, len(tracks))
            tracks.append((track, wave))
            placed.append(track)
        cu.place(placed, [wave.place[2] for wave in group])
    return tracks


def ran(track: Track) -> Script:
    """What a recorded wave ran."""
    assert isinstance(track.driver, Recording)
    return track.driver.script


def issue_times(wave: Recorded, track: Track) -> tuple[np.ndarray, np.ndarray]:
    """(measured, predicted) cycle of each instruction; completions of internal ones."""
    internal = np.array([cost.port == INTERNAL for cost in ran(track).costs])
    log = np.zeros((len(wave), 4), np.int64)
    log[list(ran(track).order)] = [entry[:4] for entry in track.log]
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
        for n, cost in enumerate(ran(track).costs)
        if cost.cycles
    ]
    predicted = [entry[:2] for entry in cu.simds[simd].matrix]
    if not measured:
        return None
    return _busy(measured), _busy(predicted)


def _busy(intervals: list[tuple[int, int]]) -> float:
    window = max(end for _, end in intervals) - min(begin for begin, _ in intervals)
    return 100 * sum(end - begin for begin, end in intervals) / window
