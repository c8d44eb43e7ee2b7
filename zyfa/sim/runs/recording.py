"""The driver of a recorded wave: its instructions, and the delays that the capture gives."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracekit.analysis.explain.edits import Edit
from zyfa.sim.runs.recorded import Recorded
from zyfa.sim.timing.costs import INTERNAL, LDS, MATRIX, SCALAR, VALU, VMEM, Cost
from zyfa.sim.timing.track import Driver, Given


class Operation(NamedTuple):
    """A memory operation: "vmem", "flat" (as it counts for lgkmcnt), "lds" or "smem", and the
    number of the instruction."""

    kind: str
    at: int


@dataclass
class Script:
    """What a wave runs, in the order in which it does: ``order`` has the recorded numbers."""

    costs: list[Cost]
    givens: list[Given | None]
    order: Sequence[int]


class Recording(Driver):
    """Plays one script of a recorded wave."""

    def __init__(self, wave: Recorded, script: Script):
        self.wave, self.script, self.at = wave, script, 0
        self._taken = wave.taken.tolist()
        self._order = list(script.order)

    def current(self) -> tuple[int, Cost] | None:
        if self.at >= len(self._order):
            return None
        n = self._order[self.at]
        return n, self.script.costs[n]

    def given(self) -> Given | None:
        return self.script.givens[self._order[self.at]]

    def issue(self, now: int) -> bool:
        n = self._order[self.at]
        self.at += 1
        return bool(self._taken[n])


def script(wave: Recorded, costs: list[Cost], lds_given: bool = False) -> Script:
    """The wave as it was recorded: each s_waitcnt that waited for memory completes as long
    after the issue of the youngest operation that it waited for as in the capture."""
    number = _numbers(costs, range(len(costs)))
    givens: list[Given | None] = [None] * len(costs)
    for n, cost in enumerate(costs):
        if cost.port == VMEM:
            givens[n] = Given(stall=int(wave.stall[n]))
    for n, done in waits(costs).items():
        youngest = max((op.at for op in done if op.kind != "lds" or lds_given), default=None)
        if youngest is not None and wave.duration[n] > 4:
            late = int(wave.issue[n] - wave.issue[youngest])
            givens[n] = Given(((number[youngest], late),))
        else:
            givens[n] = Given()
    return Script(costs, givens, range(len(costs)))


def edited(wave: Recorded, costs: list[Cost], edit: Edit) -> Script:
    """The wave with an edit.  Each memory operation arrives as long after its issue as in the
    capture (of what no wait tells: at once), whichever wait asks for it."""
    latency = latencies(wave, costs)
    changed = _changed(wave, costs, edit)
    order = _order(wave, edit.earlier)
    number = _numbers(costs, order)
    givens: list[Given | None] = [
        Given(stall=int(wave.stall[n])) if cost.port == VMEM else None
        for n, cost in enumerate(changed)
    ]
    for n, done in waits(costs, edit, wave).items():
        asked = (op.at for op in done if op.kind != "lds" and op.at in latency)
        givens[n] = Given(tuple((number[at], latency[at]) for at in asked))
    return Script(changed, givens, order)


def waits(
    costs: list[Cost], edit: Edit | None = None, wave: Recorded | None = None
) -> dict[int, list[Operation]]:
    """Per s_waitcnt the operations that are done after it and that no wait before asked for."""
    vmem: deque[Operation] = deque()
    lgkm: deque[Operation] = deque()
    found = {}
    counts = {} if edit is None else edit.counts
    for n, cost in enumerate(costs):
        if cost.port == VMEM:
            vmem.append(Operation("vmem", n))
            if cost.flat:
                lgkm.append(Operation("flat", n))
        elif cost.port == LDS:
            lgkm.append(Operation("lds", n))
        elif cost.port == SCALAR and cost.smem:
            lgkm.append(Operation("smem", n))
        elif cost.internal == "wait":
            limits = dict(cost.counts)
            if counts and wave is not None:
                limits.update(counts.get(int(wave.rows[n]), {}))
            done = _retired(vmem, limits.get("vmcnt"))
            found[n] = done + _retired(lgkm, limits.get("lgkmcnt"))
    return found


def latencies(wave: Recorded, costs: list[Cost]) -> dict[int, int]:
    """Cycles from issue to arrival per operation of vector or scalar memory that was waited for.

    The youngest of a wait arrived as it ended; the older ones, of the same wait, took no
    longer than that.  Operations whose wait did not wait are not in it."""
    found: dict[int, int] = {}
    for n, done in waits(costs).items():
        asked = [op.at for op in done if op.kind != "lds"]
        if asked and wave.duration[n] > 4:
            late = int(wave.issue[n] - wave.issue[max(asked)])
            found.update(dict.fromkeys(asked, late))
    return found


def _retired(queue: deque[Operation], limit: int | None) -> list[Operation]:
    """The oldest entries, taken out until `limit` are left; none without a limit."""
    return [] if limit is None else [queue.popleft() for _ in range(len(queue) - limit)]


def _numbers(costs: list[Cost], order: Sequence[int]) -> dict[int, int]:
    """Number of each memory operation in the order of issue."""
    memory = (
        n for n in order
        if costs[n].port in (VMEM, LDS) or (costs[n].port == SCALAR and costs[n].smem)
    )  # fmt: skip
    return {n: number for number, n in enumerate(memory)}


def _order(wave: Recorded, earlier: Mapping[int, int]) -> Sequence[int]:
    """Recorded numbers in the order of issue: an execution that is k earlier takes the place
    of the k-th before it, and the first ones all that of the first."""
    places = list(range(len(wave)))
    if not earlier:
        return places
    moved: dict[int, list[int]] = {}
    for row, k in earlier.items():
        at = np.flatnonzero(wave.rows == row).tolist()
        for i, n in enumerate(at):
            moved.setdefault(at[max(i - k, 0)], []).append(n)
    gone = {n for group in moved.values() for n in group}
    return [n for place in places for n in moved.get(place, [] if place in gone else [place])]


def _changed(wave: Recorded, costs: list[Cost], edit: Edit) -> list[Cost]:
    """The costs after removing, freeing and counting."""
    removed, freed = set(edit.removed.tolist()), set(edit.freed.tolist())
    known: dict[tuple[str, int, str], Cost] = {}

    def of(row: int, cost: Cost) -> Cost:
        kind = "removed" if row in removed else "freed" if row in freed else ""
        if cost.port == MATRIX or (kind == "freed" and cost.port != VALU):
            kind = ""
        if not kind and row not in edit.counts:
            return cost
        key = (cost.text, row, kind)
        if key not in known:
            known[key] = {"removed": _ghost, "freed": _portless}.get(kind, lambda each: each)(cost)
            if not kind and cost.internal == "wait":
                known[key] = _with_counts(cost, edit.counts[row])
        return known[key]

    return [of(row, cost) for row, cost in zip(wave.rows.tolist(), costs, strict=True)]


def _ghost(cost: Cost) -> Cost:
    """It takes no time; a memory operation arrives its latency later."""
    found = copy.copy(cost)
    found.was, found.port, found.internal = cost.port, INTERNAL, "ghost"
    return found


def _portless(cost: Cost) -> Cost:
    """A vector instruction that takes its time from its own wave alone."""
    found = copy.copy(cost)
    found.port, found.internal, found.count = INTERNAL, "nop", cost.hold
    return found


def _with_counts(cost: Cost, counts: Mapping[str, int]) -> Cost:
    found = copy.copy(cost)
    found.counts = {**cost.counts, **counts}
    return found
