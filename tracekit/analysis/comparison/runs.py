"""What a comparison knows of one run: its numbers with their errors, and where they are from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.budget import Budget
from tracekit.analysis.causes import CAUSES, Causes, SimdCauses
from tracekit.analysis.checks.findings import Quality
from tracekit.analysis.comparison.batches import Array, Floats, batches, errors, mean, median
from tracekit.analysis.comparison.estimates import Estimate
from tracekit.analysis.comparison.pieces import pieces
from tracekit.analysis.model.bodies import Body, body
from tracekit.analysis.model.kernels import kernel_names
from tracekit.analysis.model.loops import WAVE
from tracekit.analysis.turns import SHARES, inner
from tracekit.isa.arch import ArchChoice
from tracekit.tables.timeline import Timeline

#: se and simd of the numbers of all SIMDs together.
ALL = (-1, -1)
#: Pieces of an iteration; they sum to its mean.
BUSY = "iteration:matrix_busy"
_BUDGET = ("matrix_cycles", "vector_cycles", "lds_cycles", "vmem_cycles", "scalar_cycles",
           "nop_cycles", "instructions")  # fmt: skip
_OWNER = [*WAVE, "dispatch"]


class Metric(NamedTuple):
    """What is measured, of which SIMD (ALL: all of them)."""

    se: int
    simd: int
    name: str


@dataclass(frozen=True)
class Origin:
    """Where a run is from, and what it was asked for."""

    capture: str
    kernel: str | None
    arch: ArchChoice
    timing: str
    window: str
    simulated: bool = False
    synthetic: bool = False
    notes: tuple[str, ...] = ()
    filters: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, timeline: Timeline, window: str, filters: Mapping[str, int | None]) -> Origin:
        kernel = "; ".join(kernel_names(timeline)) or None
        chosen = tuple((name, value) for name, value in filters.items() if value is not None)
        return cls(
            timeline.capture, kernel, timeline.arch, timeline.shown_timing, window,
            timeline.simulated, timeline.synthetic, tuple(timeline.notes), chosen,
        )  # fmt: skip

    @property
    def part(self) -> str:
        """The part of the capture that was asked for, as "se 1, simd 2"."""
        return ", ".join(f"{name} {value}" for name, value in self.filters) or "all"


@dataclass(frozen=True)
class Run:
    """One run: ``metrics`` by SIMD and name, in their order; ``body`` of its dominant loop;
    ``notes`` of the analysis.

    cycles: mean of an iteration, wave cycles in the loop / iterations; median_cycles: of the
    inner ones; simd_cycles: window / iterations of all waves; waves: in the loop at once;
    iteration:NAME: the mean split like the window; SHARES and cause:NAME: % of the window;
    budget:NAME: mean of what the code asks an iteration.
    """

    origin: Origin
    quality: Quality
    body: Body
    metrics: Mapping[Metric, Estimate]
    notes: tuple[str, ...] = ()


def unit(name: str) -> str:
    """The unit of a metric."""
    if name.startswith("budget:"):
        return "per iteration"
    if "cycles" in name or name.startswith("iteration:"):
        return "cycles"
    return "waves" if name == "waves" else "% of window"


def measure(
    analysis: Analysis,
    filters: Mapping[str, int | None] | None = None,
    dispatches: Collection[int] | None = None,
) -> Run:
    """All that a comparison needs of ``analysis``, of which ``filters`` chose a part, or of some
    of its ``dispatches``; no metric where no SIMD has known matrix costs."""
    found = analysis.causes
    by_simd: dict[tuple[int, int], list[SimdCauses]] = {}
    for one in found.simds:
        if one.window.cycles and (dispatches is None or one.simd.dispatch in dispatches):
            by_simd.setdefault((one.simd.se, one.simd.simd), []).append(one)
    everyone = [one for simds in by_simd.values() for one in simds]
    metrics: dict[Metric, Estimate] = {}
    for key, simds in [*by_simd.items(), *([(ALL, everyone)] if everyone else [])]:
        metrics |= {Metric(*key, name): each for name, each in _measured(simds, found)}
    if everyone:
        metrics |= {Metric(*ALL, name): each for name, each in _budgets(analysis.budget)}
    origin = Origin.of(analysis.timeline, analysis.window, filters or {})
    own = body(analysis.timeline.listing, found.loops)
    return Run(origin, analysis.quality, own, metrics, tuple(found.notes))


def _measured(simds: Sequence[SimdCauses], found: Causes) -> Iterator[tuple[str, Estimate]]:
    """Every metric of some SIMDs together."""
    cus: dict[tuple[int, int, int], list[SimdCauses]] = {}
    for one in simds:
        cus.setdefault((one.simd.se, one.simd.cu, one.simd.dispatch), []).append(one)
    parts = [pieces(each, found) for each in cus.values()]
    tables = [part.table for part in parts]
    total = np.concatenate(tables).sum(0)[None]
    looped = bool(total[0, 2] > 0)
    numbers = batches(parts, _iteration if looped else _shares)
    freedom = max(int(numbers[-1].max()), 1)
    names = [*SHARES, *(f"cause:{name}" for name in CAUSES)]
    measures = [(names, _shares)]
    if looped:
        split = [BUSY, *(f"iteration:{name}" for name in CAUSES)]
        measures.insert(0, (["cycles", "simd_cycles", "waves", *split], _iteration))
    for named, function in measures:
        values = function(total)[0].tolist()
        spread = errors(tables, numbers, function).tolist()
        yield from zip(named, map(Estimate, values, spread, [freedom] * len(values)), strict=True)
    lengths, batch = _lengths(simds, found, list(cus), [p.edges for p in parts], numbers)
    if len(lengths):
        yield "median_cycles", median(lengths, batch)


def _iteration(sums: Floats) -> Floats:
    """Mean of an iteration, of a SIMD's turn, waves in the loop, and the mean's pieces."""
    cycles, in_loop, iterations = (np.maximum(sums[:, i], 1e-9) for i in range(3))
    mean_cycles = in_loop / iterations
    busy, causes = sums[:, 3], sums[:, 3 + len(SHARES) :]
    split = np.column_stack([busy, causes]) * (mean_cycles / cycles)[:, None]
    return np.column_stack([mean_cycles, cycles / iterations, in_loop / cycles, split])


def _shares(sums: Floats) -> Floats:
    """% of the window."""
    result: Floats = 100 * sums[:, 3:] / np.maximum(sums[:, :1], 1)
    return result


def _lengths(
    simds: Sequence[SimdCauses],
    found: Causes,
    cus: list[tuple[int, int, int]],
    edges: Sequence[Array],
    numbers: Sequence[Array],
) -> tuple[Floats, Array]:
    """Cycles of the inner iterations of all waves, and the batch in which each begins."""
    lengths, batch = [np.empty(0)], [np.empty(0, np.int64)]
    for one in simds:
        at = cus.index((one.simd.se, one.simd.cu, one.simd.dispatch))
        table = inner(one, found)
        begin = table["begin"].to_numpy().astype(np.int64)
        place = np.maximum(np.searchsorted(edges[at], begin, side="right") - 1, 0)
        lengths.append(table["end"].to_numpy().astype(float) - begin)
        batch.append(numbers[at][place])
    return np.concatenate(lengths), np.concatenate(batch)


def _budgets(found: Budget) -> Iterator[tuple[str, Estimate]]:
    """Budget of an iteration, mean over all waves.

    What one iteration asks follows from the code; which iterations ran does not (a causal mask
    mixes long and short ones): the error is that of drawing waves again.
    """
    table = found.iterations
    if table is None or not len(table):
        return
    owner = table.groupby(_OWNER, sort=True).ngroup().to_numpy().astype(np.int64)
    names = [name.removesuffix("_cycles") for name in _BUDGET]
    means, spread, freedom = mean(table[names].to_numpy().astype(float), owner)
    for name, value, error in zip(_BUDGET, means.tolist(), spread.tolist(), strict=True):
        yield f"budget:{name}", Estimate(value, error, freedom)
