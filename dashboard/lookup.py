"""Answers to what the timeline asks: an instruction, the next match, the next bubble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.lanes import Place
from tracekit.analysis.causes import Causes
from tracekit.analysis.iterations import fold
from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

Rows = NDArray[np.intp]


class Missing(TracekitError):
    """A row that is not in the table."""


@dataclass(frozen=True)
class Cursor:
    """Where a search goes on: from the row ``current`` if it is a match, else from a time."""

    after: int  # cycles
    step: int  # 1 forward, -1 backward
    current: int = -1


def instruction(timeline: Timeline, index: int) -> dict[str, Any]:
    """Everything about row ``index`` of the instruction table."""
    table, listing = timeline.executed, timeline.listing
    if not 0 <= index < len(table):
        raise Missing(f"no instruction {index}")
    found: dict[str, Any] = {
        name: int(table[name].iloc[index])
        for name in ("se", "cu", "simd", "slot", "wave", "time", "stall", "duration", "row")
    }
    row = found["row"]
    known = 0 <= row < len(listing)
    cycles = int(timeline.costs.cycles[row]) if known else -1
    return found | {
        "text": listing.text[row] if known else "(no program counter)",
        "vaddr": int(listing.vaddr[row]) if known else -1,
        "object": int(listing.code_object[row]) if known else 0,
        "cycles": cycles if cycles >= 0 else None,
        "source": listing.source[row] if known else "",
    }


def matching_rows(timeline: Timeline, text: str) -> Rows:
    """Listing rows whose text contains ``text``, or whose address it is (0x... or object:0x...)."""
    listing, wanted = timeline.listing, text.strip().lower()
    number, _, address = wanted.rpartition(":")
    if address.startswith("0x"):
        try:
            own = listing.vaddr == int(address, 16)
        except ValueError:
            own = np.zeros(len(listing), bool)
        if number.isdigit():
            own &= listing.code_object == int(number)
        return np.flatnonzero(own)
    return np.flatnonzero([wanted in line.lower() for line in listing.text])


def find(timeline: Timeline, place: Place, text: str, cursor: Cursor) -> dict[str, Any]:
    """The next executed match in order of time, its number and their count."""
    table = timeline.executed
    rows = matching_rows(timeline, text)
    own = np.isin(table["row"].to_numpy(), rows) if len(rows) else np.zeros(len(table), bool)
    own &= (table["se"] == place[0]).to_numpy() & (table["dispatch"] == place[1]).to_numpy()
    at = np.flatnonzero(own)
    if not len(at):
        return {"count": 0, "index": -1}
    order, number = _next(at, table["time"].to_numpy()[at], cursor)
    number %= len(order)  # around the end
    best = int(order[number])
    return {"count": len(at), "number": number + 1, **instruction(timeline, best), "index": best}


def next_bubble(rows: Any, place: Place, cursor: Cursor) -> dict[str, Any]:
    """The next bubble of the place in order of time; ``start`` None after the last one."""
    own = (rows["se"] == place[0]) & (rows["dispatch"] == place[1]) & (rows["start"] >= 0)
    at = np.flatnonzero(own)
    order, number = _next(at, rows["start"].to_numpy()[at], cursor)
    if not 0 <= number < len(order):
        return {"start": None}
    return bubble(rows, int(order[number]))


def _next(at: Rows, time: NDArray[np.int64], cursor: Cursor) -> tuple[Rows, int]:
    """Rows ``at`` in order of time, and the place of the next one there (may be outside)."""
    by_time = np.lexsort((at, time))
    order, time = at[by_time], time[by_time]
    here = np.flatnonzero(order == cursor.current)
    if len(here):
        return order, int(here[0]) + cursor.step
    if cursor.step > 0:
        return order, int(np.searchsorted(time, cursor.after, side="left"))
    return order, int(np.searchsorted(time, cursor.after, side="right")) - 1


def bubble(rows: Any, index: int) -> dict[str, Any]:
    """Row ``index`` of the bubble table."""
    if not 0 <= index < len(rows):
        raise Missing(f"no bubble {index}")
    best = rows.iloc[index]
    return {
        "index": index,
        "start": int(best["start"]), "cycles": int(best["cycles"]), "simd": int(best["simd"]),
        "cause": best["cause"], "waves": best["waves"], "previous_mfma": best["previous_mfma"],
        "next_mfma": best["next_mfma"], "iteration": int(best["iteration"]),
    }  # fmt: skip


def iteration_starts(found: Causes, place: Place) -> list[int]:
    """Begins of the iterations of the first SIMD of a place, and the last one's end."""
    for simd in found.simds:
        if (simd.simd.se, simd.simd.dispatch) == place:
            folded = fold(simd, found.loops)
            if len(folded.begin):
                return [*folded.begin.tolist(), int(folded.end[-1])]
    return []
