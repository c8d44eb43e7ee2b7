"""What a change to a recorded run would save: replays of it, changed and unchanged.

The replayer of `tracekit explain` (entry point `tracekit.replay`); needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tracekit.analysis.explain.edits import Edit, NoReplay, Outcome, Replayed
from tracekit.tables.timeline import Timeline
from zyfa.sim.errors import SimError
from zyfa.sim.runs.recorded import Recorded, recorded
from zyfa.sim.runs.recording import Script, edited, script
from zyfa.sim.runs.replay import costs_of, issue_times, place, ran
from zyfa.sim.timing.costs import LDS, MATRIX, VALU, VMEM
from zyfa.sim.timing.cu import Cu
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.track import Track

ARCHITECTURES = ("gfx942", "gfx950")
"""Those that the timing rules were measured on."""
LIMIT = 50_000
"""Recorded instructions of a replay: about a second of a replay in Python."""
INNER = 4
"""From so many units of a wave on, its first and its last do not count."""
RESOURCES = {"matrix pipe": MATRIX, "vector port": VALU, "LDS": LDS, "vector memory": VMEM}


def gains(
    timeline: Timeline,
    dispatches: Sequence[int],
    header: int,
    edits: Sequence[Edit],
    progress: Callable[[int, int], None] | None = None,
) -> Replayed:
    """Replay one CU of a kernel, the one with most MFMAs, from its first wave on, as it was and
    with each of `edits`. Cycles are *simulated*, with the nominal parameters.

    header: listing row of its loop's first instruction, -1 for none. Raises NoReplay: no model,
    no wave that is known, nothing to measure, an instruction that the model does not know.
    """
    if timeline.arch.name not in ARCHITECTURES:
        raise NoReplay(f"no timing model of {timeline.arch.name}")
    own = set(dispatches)
    waves = [wave for wave in recorded(timeline) if wave.dispatch in own]
    if not waves:
        raise NoReplay("no wave whose instructions are all known")
    parameters = Parameters.of(timeline.arch.name)
    whole = sum(map(len, waves))
    part = _part(waves)
    try:
        costs = costs_of(part, parameters)
        runs = [[script(wave, [costs[text] for text in wave.texts]) for wave in part]]
        runs += [
            [edited(wave, [costs[text] for text in wave.texts], each) for wave in part]
            for each in edits
        ]
        found = []
        for done, scripts in enumerate(runs):
            found.append(_run(part, scripts, parameters, header))
            if progress is not None:
                progress(done + 1, len(runs))
    except SimError as error:
        raise NoReplay(f"the model cannot run it: {error}") from error
    measured, unchanged, first = found[0]
    if not len(measured):
        raise NoReplay("no wave runs a whole iteration, or two MFMAs, in the part replayed")
    recorded_cycles = float(measured.mean())
    return Replayed(
        unit="iteration" if header >= 0 else "wave",
        units=len(measured),
        recorded_cycles=recorded_cycles,
        error=float(np.median(np.abs(unchanged / np.maximum(measured, 1) - 1))),
        unchanged=Outcome(float(unchanged.mean()), first),
        changed=tuple(Outcome(float(cycles.mean()), busy) for _, cycles, busy in found[1:]),
        se=part[0].place[0],
        cu=part[0].place[1],
        waves=len(part),
        instructions=sum(map(len, part)),
        all_instructions=whole,
        parameters=parameters.digest,
    )


def _part(waves: list[Recorded]) -> list[Recorded]:
    """The waves of the CU with most MFMAs, cut where LIMIT is reached."""
    cus: dict[tuple[int, int], list[Recorded]] = {}
    for wave in waves:
        cus.setdefault(wave.place[:2], []).append(wave)
    chosen = max(cus.values(), key=lambda own: sum(map(_mfmas, own)))
    attempts = np.sort(np.concatenate([wave.attempt for wave in chosen]))
    if len(attempts) > LIMIT:
        end = int(attempts[LIMIT])
        chosen = [wave.until(end) for wave in chosen if wave.begin < end]
    return chosen


def _mfmas(wave: Recorded) -> int:
    return sum(text.startswith(("v_mfma", "v_smfmac")) for text in wave.texts)


def _run(
    waves: list[Recorded], scripts: list[Script], parameters: Parameters, header: int
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """(recorded, replayed) cycles of every unit, and how busy each resource is."""
    cu = Cu(parameters)
    tracks = place(cu, waves, scripts)
    cu.run()
    lengths: list[np.ndarray] = [np.zeros((2, 0), np.int64)]
    marks: list[np.ndarray] = []
    for track, wave in tracks:
        ends = _ends(wave, header)
        times = issue_times(wave, track)
        each = np.array([np.diff(one[ends]) for one in times])
        lengths.append(each[:, 1:-1] if each.shape[1] >= INNER else each)
        marks += [times[1][ends]] if len(ends) > 1 else []
    measured, replayed = np.concatenate(lengths, axis=1)
    return measured, replayed, _busy(cu, tracks, marks)


def _busy(
    cu: Cu, tracks: list[tuple[Track, Recorded]], marks: list[np.ndarray]
) -> dict[str, float]:
    """Share of the time in which each resource is busy, while all waves are in their units, or
    where they never are at once, while any is."""
    begin = max((int(each[0]) for each in marks), default=0)
    end = min((int(each[-1]) for each in marks), default=1)
    if end <= begin:
        begin = min((int(each[0]) for each in marks), default=0)
        end = max((int(each[-1]) for each in marks), default=1)
    simds = sum(bool(simd.waves) for simd in cu.simds)
    busy = dict.fromkeys(RESOURCES.values(), 0.0)
    for track, _ in tracks:
        costs = ran(track).costs
        for n, _, issued, _, _ in track.log:
            cost = costs[n]
            if begin <= issued < end and cost.port in busy:
                held = {MATRIX: cost.cycles, VALU: cost.hold}.get(cost.port, cost.service)
                busy[cost.port] += held / (simds if cost.port in (MATRIX, VALU) else 1)
    return {name: min(busy[port] / (end - begin), 1.0) for name, port in RESOURCES.items()}


def _ends(wave: Recorded, header: int) -> np.ndarray:
    """Where its units begin and end: the loop's branches, else its first and last MFMA."""
    if header >= 0:
        return np.flatnonzero(wave.rows == header)
    mfmas = [n for n, text in enumerate(wave.texts) if text.startswith(("v_mfma", "v_smfmac"))]
    return np.array([mfmas[0], mfmas[-1]] if len(mfmas) > 1 else [], np.int64)
