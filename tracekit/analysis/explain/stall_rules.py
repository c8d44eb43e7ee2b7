"""Rules about barriers, instruction fetch and LDS banks."""

from __future__ import annotations

import numpy as np

from tracekit.analysis.attribution.names import CAUSES, Cause
from tracekit.analysis.counters import counters
from tracekit.analysis.explain.evidence import Evidence
from tracekit.analysis.explain.page import Advice, Ref
from tracekit.analysis.explain.rules import CAUSE, WAIT, first_charged, listed, percent
from tracekit.gfx9 import Category

#: Counters of the LDS: cycles in which conflicts stall it, and in which it serves addresses.
CONFLICTS, SERVES = "SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"
#: Part of the second that the first must be.
CONFLICT = 0.1
#: Executed instructions that a place needs before its gaps are no accident.
LEAST = 3


def barrier_skew(evidence: Evidence) -> Advice | None:
    """Idle while the wave that would go on waits at a barrier for another."""
    cycles, doing = 0, np.zeros(len(CAUSES), np.int64)
    for view in evidence.views:
        pieces = view.pieces
        pieces = pieces.take(pieces.own == Cause.BARRIER)
        cycles += int(pieces.cycles.sum())
        np.add.at(doing, np.minimum(pieces.cause, len(CAUSES) - 1), pieces.cycles)
    share = cycles / max(evidence.idle, 1)
    if share < CAUSE:
        return None
    first = CAUSES[int(doing.argmax())]
    most = int(doing.max()) / max(cycles, 1)
    at, skew = _barriers(evidence)
    return Advice(
        "barrier_skew",
        f"let the waves of a workgroup arrive together: in {percent(share)} of idle the wave that "
        f"goes on next waits at s_barrier ({listed(at)}) for the last to arrive, median "
        f"{skew:,.0f} cycles after the first; {percent(most)} of that is the last one's {first}; "
        "give the waves equal work, or wait later",
        {"share": share, "skew_median": skew, f"{first}_share": most},
        tuple(at),
    )


def _barriers(evidence: Evidence) -> tuple[list[Ref], float]:
    """Barriers of the window, by the time that waves wait at them, and the median time from
    the first arrival to the last."""
    facts, listing = evidence.analysis.charges.facts, evidence.timeline.listing
    rows, met = facts.rows, facts.meetings
    own = np.isin(rows.waves.dispatch[rows.wave[met.row]], evidence.dispatches)
    begin = min(int(view.pieces.start.min()) for view in evidence.views if len(view.pieces))
    end = max(int(view.pieces.end.max()) for view in evidence.views if len(view.pieces))
    own &= (met.last_arrival >= begin) & (met.arrival < end)
    row, waited = rows.row[met.row][own], (met.last_arrival - met.arrival)[own]
    where, of = np.unique(row, return_inverse=True)
    order = np.argsort(-np.bincount(of, waited), kind="stable")
    refs = [
        evidence.ref(int(listing.code_object[r]), int(listing.vaddr[r]), int(listing.line[r]))
        for r in where[order][:LEAST].tolist()
        if r >= 0
    ]
    group, arrived = met.group[own], met.last_arrival[own]
    _, meeting = np.unique(np.stack([group, arrived]), axis=1, return_inverse=True)
    first = np.full(int(meeting.max(initial=-1)) + 1, 0, np.int64)
    np.maximum.at(first, meeting, waited)
    return refs, float(np.median(first)) if len(first) else 0.0


def instruction_fetch(evidence: Evidence) -> Advice | None:
    """Nothing attempted: instructions are not there in time."""
    share = evidence.share("no_attempt")
    at = first_charged(evidence, "no_attempt")
    if share < CAUSE or not at:
        return None
    return Advice(
        "instruction_fetch",
        f"look at how code is fetched: in {percent(share)} of idle the wave attempts nothing "
        f"(before {listed(at)} first): a miss of the instruction cache, or arbitration; align "
        "loop heads and branch targets to cache lines, and keep the loop short",
        {"share": share},
        tuple(at),
    )


def bank_conflicts(evidence: Evidence) -> Advice | None:
    """Counters of the trace say that LDS accesses collide."""
    share = evidence.share("lds_refused_or_issue", "lgkmcnt_wait")
    table = counters(evidence.timeline)
    sums = table.groupby("name")["counted"].sum()
    conflicts, serves = (int(sums.get(name, 0)) for name in (CONFLICTS, SERVES))
    rows = evidence.timeline.executed
    accesses = int((rows["category"] == Category.LDS).sum())
    if share < WAIT or not conflicts or not accesses:
        return None
    # Without the other counter: a cycle for each access.
    part = conflicts / serves if serves else conflicts / accesses * CONFLICT
    if part < CONFLICT:
        return None
    at = first_charged(evidence, "lds_refused_or_issue") or first_charged(evidence, "lgkmcnt_wait")
    of = f", {percent(part)} of those in which it serves addresses" if serves else ""
    return Advice(
        "bank_conflicts",
        f"change the layout in the LDS (swizzle, or pad rows): bank conflicts stall it for "
        f"{conflicts:,} cycles{of}, {conflicts / accesses:.1f} for each of {accesses:,} traced "
        f"accesses; {percent(share)} of idle is LDS ({listed(at)} first)",
        {"share": share, "conflict_cycles": conflicts, "lds_instructions": accesses,
         "conflicts_per_access": conflicts / accesses,
         "conflict_share": part if serves else None},
        tuple(at),
    )  # fmt: skip
