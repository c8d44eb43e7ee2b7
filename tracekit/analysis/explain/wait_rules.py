"""Rules about waits for memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracekit.analysis.explain.evidence import PLACE, Evidence
from tracekit.analysis.explain.page import Advice
from tracekit.analysis.explain.rules import CAUSE, WAIT, listed, percent
from tracekit.analysis.waits.consumers import consumers
from tracekit.isa.traffic import LANES, traffic

#: Part of the latency below which a load counts as issued too late.
HIDDEN = 0.5
#: Share of the vector memory path up to which its bytes leave room for another order.
ROOM = 0.6
#: Executions of a wait that are looked at, and below which it is an accident.
SAMPLE, LEAST = 8, 3
#: Waits that a sentence names.
FIRST = 3
#: Spread of leads (standard deviation, cycles) from which on they tell whether waits fall, and
#: cycles of wait for one of lead that are a fall: 1 for a latency, 0 where bytes are the limit.
SPREAD, FALL = 32, -0.3
#: Cycles after the wait from which on a reader did not need it there: an MFMA's length.
LATER = 64


def prefetch_distance(evidence: Evidence) -> Advice | None:
    """Loads that are issued just before their wait, where that is why it waits: the path has
    room, or executions that issued earlier waited less."""
    used = float(evidence.memory["memory_share"].max()) if len(evidence.memory) else 1.0
    table = evidence.waits
    late = table[
        (table["counter"] == "vmcnt") & (table["share"] >= WAIT) & (table["count"] >= LEAST)
        & (table["hidden"] < HIDDEN)
        & table["producer_instruction"].astype(str).str.contains("_load_")
    ]  # fmt: skip
    rows = []
    for row in late.to_dict("records"):
        falls = _falls(evidence, evidence.row(*(int(row[name]) for name in PLACE)))
        if falls or (falls is None and used < ROOM):
            rows.append(row)
    if not rows:
        return None
    loads = [
        evidence.ref(row["code_object"], row["producer_vaddr"], text=row["producer_instruction"])
        for row in rows
    ]
    waits = [evidence.ref(*(int(row[name]) for name in PLACE)) for row in rows]
    told = "; ".join(
        f"{load.place or load.instruction} issues {row['lead_median']:,.0f} cycles before "
        f"{wait.place} waits {row['waited_median']:,.0f}"
        for row, load, wait in zip(rows, loads, waits, strict=True)
    )
    numbers: dict[str, float | int | None] = {
        "share": float(sum(row["share"] for row in rows)),
        "memory_share": used,
    }
    cost = _cost(rows, numbers)
    for row, wait in zip(rows, waits, strict=True):
        numbers[f"lead_median {wait.key}"] = float(row["lead_median"])
        numbers[f"waited_median {wait.key}"] = float(row["waited_median"])
    return Advice(
        "prefetch_distance",
        f"issue the loads of {listed(waits)} an iteration earlier, or wait with a count: {told}. "
        f"{_room(used)}. Costs {cost} a wave",
        numbers,
        (*waits, *loads),
    )


def lds_read_ahead(evidence: Evidence) -> Advice | None:
    """LDS reads that are issued just before their wait."""
    table = evidence.waits
    late = table[
        (table["counter"] == "lgkmcnt") & (table["count"] >= LEAST) & (table["hidden"] < HIDDEN)
        & (table["cycles"] > 0)
        & table["producer_instruction"].astype(str).str.startswith("ds_read")
    ]  # fmt: skip
    share = float(late["share"].sum())
    if share < CAUSE:
        return None
    rows = late.to_dict("records")
    waits = [evidence.ref(*(int(row[name]) for name in PLACE)) for row in rows]
    count = late["count"].to_numpy()
    lead, waited = (
        float(np.average(late[name].to_numpy().astype(float), weights=count))
        for name in ("lead_median", "waited_median")
    )
    covered = int(late["covered"].max())
    named = listed(waits[:FIRST]) + (" first" if len(rows) > FIRST else "")
    return Advice(
        "lds_read_ahead",
        f"read the LDS a step ahead, while the MFMAs of the step before run: {len(rows)} waits "
        f"({named}) have {percent(share)} of idle; their reads issue {lead:,.0f} cycles before "
        f"and they wait {waited:,.0f}. Costs the registers of one step once more ({covered} reads "
        "at most for one wait)",
        {
            "share": share,
            "waits": len(rows),
            "lead_median": lead,
            "waited_median": waited,
            "covered_reads": covered,
        },
        tuple(waits[:FIRST]),
    )


def _room(used: float) -> str:
    told = f"{percent(used)} of 64 B/clk used"
    return f"The path has room ({told})" if used < ROOM else f"Waits fall as leads grow ({told})"


def _falls(evidence: Evidence, row: int) -> bool | None:
    """Whether a wait takes less where its load was issued earlier; None where leads are alike,
    so that nobody can say."""
    facts = evidence.analysis.charges.facts
    rows, queue = facts.rows, facts.queues[0]
    at = (rows.row[queue.wait] == row) & queue.needs & ~queue.unknown
    wait, load = queue.wait[at], queue.producer[at]
    lead = (rows.time[wait] - rows.issue[load]).astype(np.float64)
    waited = (rows.end[wait] - rows.time[wait]).astype(np.float64)
    if len(lead) < SAMPLE or lead.std() < SPREAD:
        return None
    slope = float(np.cov(lead, waited, bias=True)[0, 1] / lead.var())
    return slope <= FALL


def _cost(rows: list[dict[Any, Any]], numbers: dict[str, float | int | None]) -> str:
    """What buffering the waited-for loads once more takes, by the operations they cover."""
    lds = registers = 0
    for row in rows:
        each = traffic(row["producer_instruction"])
        covered = int(row["covered"])
        if each.lds:
            lds += covered * each.lds * LANES
        else:
            registers += covered * -(-each.memory // 4)
    numbers |= {"buffer_lds_bytes": lds, "buffer_vgprs": registers}
    told = [f"{lds:,} bytes of LDS" if lds else "", f"{registers} VGPRs" if registers else ""]
    return " and ".join(filter(None, told)) + ", at most,"


def wait_with_count(evidence: Evidence) -> Advice | None:
    """vmcnt(0) where the youngest operations are needed much later, or by nobody."""
    table = evidence.waits
    table = table[
        (table["counter"] == "vmcnt") & (table["value"] == 0) & (table["share"] >= WAIT)
        & (table["count"] >= LEAST) & (table["covered"] >= 2)
    ]  # fmt: skip
    found = []
    for row in table.to_dict("records"):
        place = [int(row[name]) for name in PLACE]
        spare = _spare(evidence, evidence.row(*place))
        if spare:
            found.append((evidence.ref(*place), spare, row["share"]))
    if not found:
        return None
    told = ", ".join(f"vmcnt({spare}) at {ref.place}" for ref, spare, _ in found)
    numbers: dict[str, float | int | None] = {"share": float(sum(share for *_, share in found))}
    numbers |= {f"count {ref.key}": spare for ref, spare, _ in found}
    return Advice(
        "wait_with_count",
        f"wait with a count: {told} would do; what is younger is read {LATER} cycles later or "
        "not at all",
        numbers | {"later_cycles": LATER},
        tuple(ref for ref, *_ in found),
    )


def _spare(evidence: Evidence, row: int) -> int:
    """Youngest operations that no sampled execution of the wait needs there."""
    facts = evidence.analysis.charges.facts
    rows, queue, listing = facts.rows, facts.queues[0], evidence.timeline.listing
    mine = rows.row[queue.wait] == row
    at = np.flatnonzero(mine & queue.needs & ~queue.unknown)[:SAMPLE]
    least = None
    for i in at.tolist():
        ops = queue.operations[queue.first[i] : queue.last[i]]
        wait = np.full(len(ops), queue.wait[i])
        reader, _ = consumers(rows, listing, wait, ops)
        end = int(rows.end[queue.wait[i]])
        spare = 0
        for op, read in zip(ops[::-1].tolist(), reader[::-1].tolist(), strict=True):
            # A load to the LDS is read by whom the registers do not tell.
            hidden = traffic(listing.text[rows.row[op]]).lds > 0
            if hidden or (read >= 0 and rows.time[read] - end < LATER):
                break
            spare += 1
        spare = min(spare, len(ops) - 1)
        least = spare if least is None else min(least, spare)
    return least or 0
