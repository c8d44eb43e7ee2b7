"""What a change would save: causes at zero, and what is asked for, replayed on a model.

The replay is another package's (entry point ``tracekit.replay``; zyfa has one): without it
there are no gains, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points

import numpy as np

from tracekit.analysis.attribution.names import CAUSES, Cause
from tracekit.analysis.explain.advice import advice
from tracekit.analysis.explain.edits import Array, Edit, NoReplay, Outcome, Replayed, Replayer
from tracekit.analysis.explain.evidence import PLACE, Evidence
from tracekit.analysis.explain.page import Advice, Gain, Gains, Replay, WhatIf
from tracekit.analysis.explain.whatif import Asked, loads_of

GROUP = "tracekit.replay"
#: Causes that a page replays, and the share of the idle time that a cause must have, or that
#: removing it could take, to be one of them.
REPLAYED, SHARE, REMOVABLE = 6, 0.02, 0.1
#: Causes that the instructions they are charged to have by themselves: taken out, they cost
#: nothing.
REMOVED = (
    "vector_work", "lds_refused_or_issue", "vmem_refused_or_issue", "vmcnt_wait", "lgkmcnt_wait",
    "nop", "scalar_waits_for_vector", "scalar_or_branch", "barrier",
)  # fmt: skip
#: Rules whose advice would, at best, take a cause away.
CAUSE_OF = {
    "lds_bursts": "lds_refused_or_issue", "lds_bandwidth": "lds_refused_or_issue",
    "lds_read_ahead": "lgkmcnt_wait", "vmem_pressure": "vmem_refused_or_issue", "nops": "nop",
}  # fmt: skip
#: Freed from refusal, they still run.
FREED = ("vector_refused",)


@cache
def replayer() -> Replayer | None:
    """The first that is installed."""
    for point in entry_points(group=GROUP):
        found: Replayer = point.load()
        return found
    return None


def zeroed(evidence: Evidence, cause: str, pair: tuple[int, int] | None = None) -> Edit | None:
    """``cause`` at zero: every execution of the instructions that are charged with it on the
    chains of the deciding waves; of the bubbles between ``pair`` of MFMA rows, where given.
    None for causes that no model has."""
    if cause not in REMOVED and cause not in FREED:
        return None
    charged = evidence.chains.charged
    chosen = charged[:, 2] == Cause(CAUSES.index(cause))
    if pair is not None:
        chosen &= (charged[:, 0] == pair[0]) & (charged[:, 1] == pair[1])
    rows: Array = np.unique(charged[chosen, 3])
    rows = rows[rows >= 0]
    if not len(rows):
        return None
    return Edit(freed=rows) if cause in FREED else Edit(removed=rows)


def gains(
    evidence: Evidence,
    asked: Sequence[Asked] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Gains:
    """Replays of a kernel: its largest causes at zero, what its advice says, what is asked."""
    run = replayer()
    if run is None:
        return Gains(None, "no gain: it is replayed on a model, and no package with one (zyfa) "
                     "is installed")  # fmt: skip
    if not evidence.mfmas:
        return Gains(None, "no gain: no MFMA ran")
    causes = _causes(evidence)
    advised = {each.rule: edit for each in advice(evidence) if (edit := _advised(evidence, each))}
    edits = [*causes.values(), *advised.values(), *(each.edit for each in asked)]
    try:
        found = run(evidence.timeline, evidence.dispatches, _header(evidence), edits, progress)
    except NoReplay as error:
        return Gains(None, f"no gain: {error}")
    # Of the page's iteration: the part replayed may run faster or slower than the rest.
    whole = evidence.iteration if found.unit == "iteration" else None
    each = iter([_gain(found, outcome, whole) for outcome in found.changed])
    return Gains(
        _replay(found, whole),
        "",
        {name: next(each) for name in causes},
        {name: next(each) for name in advised},
        tuple(WhatIf(one.text, next(each), one.note) for one in asked),
    )


def _causes(evidence: Evidence) -> Mapping[str, Edit]:
    """The causes worth a replay, largest first."""
    found: dict[str, Edit] = {}
    for name, _ in sorted(evidence.cycles.items(), key=lambda item: -item[1]):
        removable = evidence.chains.removable(Cause(CAUSES.index(name)))
        if evidence.share(name) < SHARE and removable < REMOVABLE * evidence.idle:
            continue
        edit = zeroed(evidence, name)
        if edit is not None and len(found) < REPLAYED:
            found[name] = edit
    return found


def _advised(evidence: Evidence, each: Advice) -> Edit | None:
    """What a piece of advice would change, where a replay can."""
    if each.rule in CAUSE_OF:
        return zeroed(evidence, CAUSE_OF[each.rule])
    if each.rule != "prefetch_distance":
        return None
    # All loads that are waited for: where some stay, the wait moves on to them.
    table = evidence.waits
    rows = table[table["counter"] == "vmcnt"][PLACE].itertuples(index=False, name=None)
    waits = [evidence.row(*map(int, place)) for place in rows]
    loads = {row for wait in waits if wait >= 0 for row in loads_of(evidence, wait)}
    return Edit(earlier=dict.fromkeys(sorted(loads), 1))


def _header(evidence: Evidence) -> int:
    """Listing row with which an iteration begins; -1 without a loop."""
    loops = evidence.analysis.causes.loops
    found = [loops.dominant[each] for each in evidence.dispatches if each in loops.dominant]
    return loops.bodies[found[0]][0] if found else -1


def _gain(found: Replayed, outcome: Outcome, whole: float | None) -> Gain:
    share_saved = (found.unchanged.cycles - outcome.cycles) / max(found.recorded_cycles, 1.0)
    unit = found.recorded_cycles if whole is None else whole
    name, share = max(outcome.busy.items(), key=lambda item: item[1])
    return Gain(
        gain_cycles=share_saved * unit,
        gain_low_cycles=max(share_saved - found.error, 0.0) * unit,
        gain_share=share_saved,
        after_cycles=unit - share_saved * unit,
        next_resource=name,
        next_resource_share=share,
    )


def _replay(found: Replayed, whole: float | None) -> Replay:
    return Replay(
        unit_cycles=found.recorded_cycles if whole is None else whole,
        unit=found.unit,
        units=found.units,
        recorded_cycles=found.recorded_cycles,
        unchanged_cycles=found.unchanged.cycles,
        error=found.error,
        error_cycles=found.error * (found.recorded_cycles if whole is None else whole),
        se=found.se,
        cu=found.cu,
        replayed_waves=found.waves,
        replayed_instructions=found.instructions,
        all_instructions=found.all_instructions,
        parameters=found.parameters,
    )
