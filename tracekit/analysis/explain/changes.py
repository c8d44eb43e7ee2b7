"""What changed since another capture of the kernel: every cause before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from tracekit.analysis.attribution.names import CAUSES
from tracekit.analysis.model import bootstrap
from tracekit.analysis.turns import SHARES, Turns

Verdict = Literal["shrank", "grew", "unchanged"]


class Side(Protocol):
    """A kernel before or after: Evidence, or what a digest kept of it."""

    @property
    def kernel(self) -> str: ...
    @property
    def matrix_cycles(self) -> int: ...
    @property
    def turns(self) -> Turns | None: ...


@dataclass(frozen=True)
class Change:
    """A cause in mean cycles while one wave runs one iteration (of the window's share, times
    the median iteration); ``low`` to ``high``: 95 % interval of the difference when waves and
    iterations are drawn again; "unchanged" where that contains 0.

    ``key`` is a cause, or "iteration": the length of all of it.
    """

    key: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    verdict: Verdict


def matching(kernel: str, base: Sequence[Side]) -> Side | None:
    """The one of ``base`` with the name ``kernel``; without, the heaviest."""
    named = [each for each in base if each.kernel == kernel]
    heaviest = sorted(base, key=lambda each: -each.matrix_cycles)
    return next(iter([*named, *heaviest]), None)


def changes(before: Side, after: Side) -> tuple[Change, ...]:
    """The iteration and every cause that either has, largest difference first; empty where
    one of the two has no loop."""
    sides = [_side(each.turns, stream) for stream, each in enumerate((before, after))]
    if sides[0] is None or sides[1] is None:
        return ()
    (old, old_draws), (new, new_draws) = sides[0], sides[1]
    found = [
        _change(name, old[i], new[i], new_draws[:, i] - old_draws[:, i])
        for i, name in enumerate(("iteration", *CAUSES))
        if old[i] or new[i]
    ]
    first = [each for each in found if each.key == "iteration"]
    rest = [each for each in found if each.key != "iteration"]
    return (*first, *sorted(rest, key=lambda each: -abs(each.difference)))


def _side(cut: Turns | None, stream: int) -> tuple[Sequence[float], bootstrap.Floats] | None:
    """(values, replicates) of the iteration and each cause, cycles."""
    length = None if cut is None else cut.iteration
    if cut is None or length is None:
        return None
    values = cut.values[:, len(SHARES) :].astype(float)
    whole = cut.cycles.astype(float)
    shares = values.sum(0) / max(float(whole.sum()), 1)
    drawn = bootstrap.ratios(values, whole, bootstrap.weights(cut.cluster, stream))
    lengths = bootstrap.medians(cut.lengths.astype(float), bootstrap.weights(cut.owner, stream))
    replicates = np.column_stack([lengths, drawn * lengths[:, None]])
    return [length, *(shares * length).tolist()], replicates


def _change(name: str, before: float, after: float, spread: bootstrap.Floats) -> Change:
    low, high = bootstrap.interval(spread)
    verdict: Verdict = "grew" if low > 0 else "shrank" if high < 0 else "unchanged"
    return Change(name, before, after, after - before, low, high, verdict)
