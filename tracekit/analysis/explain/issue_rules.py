"""Rules about pipes, waves and what they issue."""

from __future__ import annotations

from tracekit.analysis.explain.evidence import Evidence
from tracekit.analysis.explain.page import Advice
from tracekit.analysis.explain.rules import CAUSE, first_charged, listed, percent
from tracekit.analysis.shapes import SLOW_FORMAT

#: Service time of the LDS up to which refusals are bursts; share of the path, likewise.
BURST = 0.5
#: Share of the window with fewer waves than help, and how much better the bound with one more.
ALONE, BETTER = 0.2, 1.1
#: Share of the idle cycles in which no other wave was there, or s_nop ran.
NOBODY, NOPS = 0.3, 0.05
#: Share of the window's matrix cycles that slow opcodes have.
SLOW = 0.1


def lds_bursts(evidence: Evidence) -> Advice | None:
    """LDS instructions refused though the LDS is idle most of the time."""
    share = evidence.share("lds_refused_or_issue")
    busy = float(evidence.memory["lds_busy_share"].max()) if len(evidence.memory) else 1.0
    if share < CAUSE or busy >= BURST:
        return None
    at = first_charged(evidence, "lds_refused_or_issue")
    return Advice(
        "lds_bursts",
        f"spread LDS instructions among the MFMAs: refused or issuing in {percent(share)} of idle "
        f"while the LDS works {percent(busy)} of the time, a burst that fills its queue "
        f"({listed(at)} first)",
        {"share": share, "lds_busy_share": busy},
        tuple(at),
    )


def lds_bandwidth(evidence: Evidence) -> Advice | None:
    """The LDS refuses most, and works half of the time or more."""
    cus = evidence.memory
    bound = cus[cus["bound"] == "lds_bound"]
    if not len(bound) or len(bound) < len(cus):
        return None
    share, busy = evidence.share("lds_refused_or_issue"), float(bound["lds_busy_share"].max())
    at = first_charged(evidence, "lds_refused_or_issue")
    return Advice(
        "lds_bandwidth",
        f"ask less of the LDS: it works {percent(busy)} of the time and refuses, or issues, in "
        f"{percent(share)} of idle ({listed(at)} first); keep more of a tile in registers",
        {"share": share, "lds_busy_share": busy},
        tuple(at),
    )


def vmem_pressure(evidence: Evidence) -> Advice | None:
    """Vector memory instructions refused: their queue is full."""
    share = evidence.share("vmem_refused_or_issue")
    if share < CAUSE or not len(evidence.memory):
        return None
    rate = float(evidence.memory["memory_bytes_per_cycle"].max())
    used = float(evidence.memory["memory_share"].max())
    at = first_charged(evidence, "vmem_refused_or_issue")
    how = "move fewer bytes" if used >= BURST else "spread loads over the iteration"
    return Advice(
        "vmem_pressure",
        f"{how}: vector memory refused or issuing in {percent(share)} of idle at {rate:.1f} B/clk "
        f"per CU, {percent(used)} of its path ({listed(at)} first)",
        {"share": share, "memory_bytes_per_cycle": rate, "memory_share": used},
        tuple(at),
    )


def few_waves(evidence: Evidence) -> Advice | None:
    """One wave alone where two would have more work to overlap."""
    alone = evidence.resident.get(1, 0.0)
    nobody = int(evidence.totals["others_none_cycles"].sum()) / max(evidence.idle, 1)
    simds = evidence.budget[["best_1", "best_2"]].dropna()
    if evidence.iteration is None or alone < ALONE or nobody < NOBODY or not len(simds):
        return None
    one, two = (float(simds[name].mean()) for name in ("best_1", "best_2"))
    if two < BETTER * one:
        return None
    limits = evidence.limits
    why = "unknown (no dispatch registers)"
    if len(limits):
        why = ", ".join(dict.fromkeys(limits["limiter"]))
    tail = evidence.tail
    drained = f"; its launch drains for {percent(tail['tail_share'].max())}" if len(tail) else ""
    numbers: dict[str, float | int | None] = {"alone_share": alone, "others_none_share": nobody,
                                              "best_1": one, "best_2": two}  # fmt: skip
    if len(tail):
        numbers["tail_share"] = float(tail["tail_share"].max())
    return Advice(
        "few_waves",
        f"keep two waves resident: one is alone {percent(alone)} of the time, and nobody else was "
        f"there in {percent(nobody)} of idle; the bound is {percent(one)} with one, "
        f"{percent(two)} with two. Limiter: {why}{drained}",
        numbers,
        (),
    )


def lock_step(evidence: Evidence) -> Advice | None:
    """Waves of a SIMD that do the same at once."""
    table = evidence.overlap
    found = table[table["verdict"] == "lock_step"]
    if not len(table) or 2 * len(found) <= len(table):
        return None
    score = float(found["alternation"].astype(float).mean())
    return Advice(
        "lock_step",
        f"let the waves of a SIMD take turns: they run in lock step (alternation {score:+.2f} on "
        f"{len(found)} of {len(table)} SIMDs); start one half an iteration later, by barriers "
        "and s_setprio",
        {"alternation": score, "lock_step_simds": len(found), "simds": len(table)},
        (),
    )


def packed_beside_mfma(evidence: Evidence) -> Advice | None:
    """Packed F32 that a running MFMA keeps out."""
    share = int(evidence.totals["refused_packed_cycles"].sum()) / max(evidence.idle, 1)
    if share < NOPS:
        return None
    at = first_charged(evidence, "vector_refused", "packed")
    return Advice(
        "packed_beside_mfma",
        f"use plain F32 where an MFMA runs: packed F32 is kept out by it in {percent(share)} of "
        f"idle ({listed(at)} first)",
        {"share": share},
        tuple(at),
    )


def nops(evidence: Evidence) -> Advice | None:
    """Wait states where other work could stand."""
    share = evidence.share("nop")
    if share < NOPS:
        return None
    at = first_charged(evidence, "nop")
    return Advice(
        "nops",
        f"put independent instructions in place of s_nop: {percent(share)} of idle "
        f"({listed(at)} first)",
        {"share": share},
        tuple(at),
    )


def half_rate(evidence: Evidence) -> Advice | None:
    """MFMA opcodes that do less per cycle than another of their type (the format of operands
    is the kernel's choice)."""
    table = evidence.shapes
    slow = table[~table["flag"].isin(["", SLOW_FORMAT]) & table["matrix_cycles"].notna()]
    whole = max(int(table["matrix_cycles"].fillna(0).sum()), 1)
    share = int(slow["matrix_cycles"].sum()) / whole
    if share < SLOW:
        return None
    first = slow.iloc[0]
    return Advice(
        "half_rate",
        f"{first['opcode']}: {first['flag']} ({percent(share)} of matrix cycles)",
        {"share": share},
        (),
    )


def outside_loop(evidence: Evidence) -> Advice | None:
    """More wave time around the loop than in it."""
    phases = evidence.analysis.loops.phases
    phases = phases[phases["dispatch"].isin(evidence.dispatches)]
    around = int((phases["prologue_cycles"] + phases["epilogue_cycles"]).sum())
    inside = int(phases["loop_cycles"].sum())
    if around <= inside:
        return None
    return Advice(
        "outside_loop",
        f"look outside the loop: waves spend {around:,} cycles before and after it, {inside:,} in "
        "it (--window span); longer loops, or persistent workgroups, spread that",
        {"outside_cycles": around, "loop_cycles": inside},
        (),
    )
