"""Do the waves of a SIMD take turns?  Every pair of waves, and a ping-pong verdict.

For the cycles of the window in which both are resident: how much of one's matrix work runs
under the other's vector work, and whether their matrix phases alternate.  A wave is in its
*matrix phase* from the first attempt of an MFMA to the end of its execution, and on through
an s_barrier if no vector or memory instruction comes before it: whoever waits there for the
other's MFMAs does no work of its own beside them.

alternation: let S be the share of both waves' matrix cycles in which the other wave is not
in its matrix phase, and C the value that S has when the phases have nothing to do with each
other (1 - share of the cycles the other spends in its phase).  Then alternation =
(S - C) / (1 - C) if S >= C, else (S - C) / C: +1 never both, 0 as by chance, -1 always both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals, intersect, overlap_cycles, union
from tracekit.analysis.model.loops import Loops
from tracekit.analysis.model.simds import MatrixUse, Simd, each_simd, matrix_use
from tracekit.analysis.model.window import DEFAULT, Window, Windows, residence
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

#: Below this many matrix phases of each wave, or this share of matrix cycles in the cycles that
#: they share, a score is chance: an MFMA now and then is never beside another.
LEAST_PHASES, LEAST_MATRIX = 2, 0.1
TOO_LITTLE = "too little to tell"
#: alternation from which on waves take turns; down to minus that they do the same at once.
ALTERNATING, LOCK_STEP = 0.5, -0.5
COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles", "intervals",
    "slot_a", "wave_a", "slot_b", "wave_b", "a_matrix_cycles", "b_matrix_cycles",
    "a_vector_cycles", "b_vector_cycles", "a_matrix_under_b_vector_cycles",
    "b_matrix_under_a_vector_cycles", "a_shadow_filled", "b_shadow_filled", "lag_cycles",
    "lag", "jitter_cycles", "alternation", "barriers", "priorities", "verdict",
)  # fmt: skip
SIMD_COLUMNS = (
    "se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles", "intervals",
    "waves", "pairs", "overlap_cycles", "across_cycles", "own_cycles", "alternation", "verdict",
)  # fmt: skip


@dataclass
class Overlap:
    """``rows``: one per pair of waves that are resident together in the window (COLUMNS);
    ``simds``: the sum per SIMD and its verdict (SIMD_COLUMNS)."""

    rows: pd.DataFrame
    simds: pd.DataFrame
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Wave:
    """What one wave does in the window."""

    key: int
    life: Intervals
    matrix: Intervals
    phase: Intervals
    vector: Intervals
    begins: Array  # of its iterations


def overlap(timeline: Timeline, window: str = DEFAULT) -> Overlap:
    """Overlap of every pair of waves over ``window``.

    SIMDs on which an MFMA of unknown cost ran are left out, with a note.
    """
    return overlap_in(Windows(timeline, window))


def overlap_in(windows: Windows) -> Overlap:
    """``overlap`` of the timeline and in the window of ``windows``."""
    import pandas as pd

    timeline = windows.timeline
    rows: list[dict[str, object]] = []
    simds: list[dict[str, object]] = []
    notes: dict[str, None] = {}
    for simd in each_simd(timeline):
        chosen = windows.of(simd)
        if chosen.note:
            notes[chosen.note] = None
        matrix = matrix_use(simd)
        if matrix.unknown:
            notes["the cost of an MFMA is unknown: no overlap for its SIMD"] = None
            continue
        waves = _waves(timeline, simd, chosen, matrix, windows.loops)
        sync = _sync(timeline, simd, windows.loops)
        place = _place(simd, chosen)
        pairs = [pair for a, b in combinations(waves, 2) if (pair := _pair(a, b, sync))]
        rows += [{**place, **pair} for pair in pairs]
        simds.append({**place, **_simd(waves, pairs)})
    return Overlap(
        pd.DataFrame(rows, columns=list(COLUMNS)),
        pd.DataFrame(simds, columns=list(SIMD_COLUMNS)),
        list(notes),
    )


def _place(simd: Simd, window: Window) -> dict[str, object]:
    return {
        "se": simd.se, "cu": simd.cu, "simd": simd.simd, "dispatch": simd.dispatch,
        "window": window.label, "start": window.start, "end": window.end,
        "window_cycles": window.cycles, "intervals": len(window.intervals),
    }  # fmt: skip


def _waves(
    timeline: Timeline, simd: Simd, window: Window, matrix: MatrixUse, found: Loops
) -> list[_Wave]:
    """The waves that are resident in the window, by slot and wave."""
    keys, born, died = residence(timeline, simd)
    table = found.of_dominant(simd.dispatch)
    table = table[((table["se"] == simd.se) & (table["simd"] == simd.simd)).to_numpy()]
    loop_key = table["slot"].to_numpy().astype(np.int64) << 32
    loop_key |= table["wave"].to_numpy().astype(np.int64)
    begins = table["begin"].to_numpy().astype(np.int64)
    owner = simd.wave_key[matrix.order]
    held = _held(timeline, simd)
    waves = []
    for i in np.argsort(keys).tolist():
        life = intersect(union(born[i : i + 1], died[i : i + 1]), window.intervals)
        if not len(life):
            continue
        mine = np.flatnonzero(owner == keys[i])
        start, end = matrix.start[mine], matrix.end[mine]
        attempt = np.minimum(simd.time[matrix.order[mine]], start)
        rows = np.flatnonzero((simd.wave_key == keys[i]) & (simd.pipe == Pipe.VECTOR))
        rows = rows[simd.cycles[rows] > 0]
        vector = union(simd.issue[rows], simd.issue[rows] + simd.cycles[rows])
        waves.append(
            _Wave(
                int(keys[i]),
                life,
                intersect(union(start, end), window.intervals),
                intersect(_phase(simd, int(keys[i]), attempt, end, held), window.intervals),
                intersect(vector, window.intervals),
                begins[loop_key == keys[i]],
            )
        )
    return waves


def _held(timeline: Timeline, simd: Simd) -> tuple[Array, Array]:
    """(last MFMA, s_barrier) positions where no vector or memory work is between the two."""
    work = np.isin(simd.pipe, (Pipe.MATRIX, Pipe.VECTOR, Pipe.LDS, Pipe.VMEM))
    last = np.maximum.accumulate(np.where(work, np.arange(len(work)), -1))
    klass = np.append(timeline.costs.klass, "")[simd.row]
    barrier = np.flatnonzero((klass == "barrier") & (last >= 0))
    before = last[barrier]
    kept = (simd.pipe[before] == Pipe.MATRIX) & (simd.wave_key[before] == simd.wave_key[barrier])
    return before[kept], barrier[kept]


def _phase(
    simd: Simd, key: int, attempt: Array, end: Array, held: tuple[Array, Array]
) -> Intervals:
    """The matrix phase of the wave ``key``, whose MFMAs are tried and end at the given times."""
    before, barrier = held
    mine = simd.wave_key[barrier] == key
    return union(
        np.append(attempt, simd.issue[before[mine]]), np.append(end, simd.end[barrier[mine]])
    )


def _pair(a: _Wave, b: _Wave, sync: dict[str, object]) -> dict[str, object] | None:
    """One row of COLUMNS without its place; None when the waves never meet."""
    both = intersect(a.life, b.life)
    if not len(both):
        return None
    matrix = [intersect(wave.matrix, both) for wave in (a, b)]
    vector = [intersect(wave.vector, both) for wave in (a, b)]
    phase = [intersect(wave.phase, both) for wave in (a, b)]
    under = [intersect(matrix[i], vector[1 - i]).cycles for i in (0, 1)]
    busy = [part.cycles for part in matrix]
    enough = _enough(a, b, both, sum(busy))
    score = alternation(matrix, phase, both.cycles) if enough else None
    lag, share, jitter = _lag(a.begins, b.begins, both)
    return {
        "start": int(both.start[0]), "end": int(both.end[-1]), "window_cycles": both.cycles,
        "intervals": len(both),
        "slot_a": a.key >> 32, "wave_a": a.key & 0xFFFFFFFF,
        "slot_b": b.key >> 32, "wave_b": b.key & 0xFFFFFFFF,
        "a_matrix_cycles": busy[0], "b_matrix_cycles": busy[1],
        "a_vector_cycles": vector[0].cycles, "b_vector_cycles": vector[1].cycles,
        "a_matrix_under_b_vector_cycles": under[0],
        "b_matrix_under_a_vector_cycles": under[1],
        "a_shadow_filled": under[0] / busy[0] if busy[0] else None,
        "b_shadow_filled": under[1] / busy[1] if busy[1] else None,
        "lag_cycles": lag, "lag": share, "jitter_cycles": jitter,
        "alternation": score, **sync,
        "verdict": verdict(score) if enough or not all(busy) else TOO_LITTLE,
    }  # fmt: skip


def _enough(a: _Wave, b: _Wave, both: Intervals, busy: int) -> bool:
    """Whether the cycles that two waves share hold enough to score: a loop, phases, MFMAs."""
    phases = min(len(intersect(wave.phase, both)) for wave in (a, b))
    looping = len(a.begins) > 0 and len(b.begins) > 0
    return looping and phases >= LEAST_PHASES and busy >= LEAST_MATRIX * both.cycles


def alternation(matrix: list[Intervals], phase: list[Intervals], cycles: int) -> float | None:
    """The score of two waves from their matrix work and phases in ``cycles`` cycles.

    None where one of them has no matrix work.
    """
    busy = [part.cycles for part in matrix]
    if not all(busy):
        return None
    both = intersect(matrix[0], phase[1]).cycles + intersect(matrix[1], phase[0]).cycles
    apart = 1 - both / sum(busy)
    chance = 1 - (busy[0] * phase[1].cycles + busy[1] * phase[0].cycles) / (cycles * sum(busy))
    if apart >= chance:
        return (apart - chance) / (1 - chance) if chance < 1 else 0.0
    return (apart - chance) / chance


def verdict(score: float | None) -> str:
    """``alternating`` from 0.5 on, ``lock_step`` down from -0.5, ``partial`` between;
    ``single_wave`` without a second wave that has matrix work."""
    if score is None:
        return "single_wave"
    if score >= ALTERNATING:
        return "alternating"
    return "lock_step" if score <= LOCK_STEP else "partial"


def _lag(a: Array, b: Array, both: Intervals) -> tuple[float | None, float | None, float | None]:
    """How far b's iterations begin behind a's: cycles, share of a's iteration, jitter.

    Circular mean and standard deviation over a's iterations in which both are resident.
    """
    if len(a) < 2 or not len(b):
        return None, None, None
    period = np.diff(a)
    inside = overlap_cycles(a[:-1], a[:-1] + 1, both) > 0
    at = np.searchsorted(b, a[:-1])
    inside &= at < len(b)
    start, period = a[:-1][inside], period[inside]
    if not len(start):
        return None, None, None
    angle = 2 * np.pi * ((b[at[inside]] - start) / period % 1)
    mean = complex(np.exp(1j * angle).mean())
    size = min(abs(mean), 1.0)
    share = float(np.angle(mean) / (2 * np.pi) % 1)
    typical = float(np.median(period))
    # A few ulp below a whole iteration is none.
    share = 0.0 if share > 1 - 1e-9 else share
    spread = float(np.sqrt(-2 * np.log(size)) / (2 * np.pi)) if size > 0 else 0.5
    return share * typical, share, spread * typical


def _sync(timeline: Timeline, simd: Simd, found: Loops) -> dict[str, object]:
    """Barriers in the body of the dominant loop, and the priorities that it sets."""
    loop = found.dominant.get(simd.dispatch)
    if loop is None:
        return {"barriers": 0, "priorities": ""}
    head, tail = found.bodies[loop]
    ran = np.unique(simd.row[(simd.row >= head) & (simd.row <= tail)])
    texts = [timeline.listing.text[row].split() for row in ran.tolist()]
    values = sorted({text[1] for text in texts if text[0] == "s_setprio" and len(text) > 1})
    return {
        "barriers": sum(text[0] == "s_barrier" for text in texts),
        "priorities": ",".join(values),
    }


def _simd(waves: list[_Wave], pairs: list[dict[str, object]]) -> dict[str, object]:
    """Sums over a SIMD: matrix under any vector work, under another wave's, only own.

    ``alternation`` is the mean over pairs, weighted by the cycles they share.
    """
    none = np.empty(0, np.int64)
    across = Intervals(none, none)
    for wave in waves:
        others = [other.vector for other in waves if other is not wave]
        if others:
            vector = union(
                np.concatenate([other.start for other in others]),
                np.concatenate([other.end for other in others]),
            )
            met = intersect(wave.matrix, vector)
            across = union(
                np.concatenate([across.start, met.start]), np.concatenate([across.end, met.end])
            )
    matrix, vector = (
        union(
            np.concatenate([getattr(wave, name).start for wave in waves] or [none]),
            np.concatenate([getattr(wave, name).end for wave in waves] or [none]),
        )
        for name in ("matrix", "vector")
    )
    total = intersect(matrix, vector).cycles
    scored = [
        (float(pair["alternation"]), int(pair["window_cycles"]))  # type: ignore[arg-type, call-overload]
        for pair in pairs
        if pair["alternation"] is not None
    ]
    score = None
    if scored:
        score = sum(s * n for s, n in scored) / sum(n for _, n in scored)
    return {
        "waves": len(waves),
        "pairs": len(pairs),
        "overlap_cycles": total,
        "across_cycles": across.cycles,
        "own_cycles": total - across.cycles,
        "alternation": score,
        "verdict": _verdict([str(pair["verdict"]) for pair in pairs], score),
    }


def _verdict(pairs: list[str], score: float | None) -> str:
    """Of a SIMD: by its score, where a pair of its waves tells enough for one."""
    return TOO_LITTLE if score is None and TOO_LITTLE in pairs else verdict(score)
