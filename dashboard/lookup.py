"""Answers to what the timeline asks: an instruction, the next match, the next bubble."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.lanes import Place
from tracekit.analysis.causes import Causes
from tracekit.analysis.iterations import fold
from tracekit.errors import TracekitError
from tracekit.timeline import Timeline


def instruction(timeline: Timeline, index: int) -> dict[str, Any]:
    """Everything about row ``index`` of the instruction table."""
    table, listing = timeline.instructions, timeline.listing
    if not 0 <= index < len(table):
        raise TracekitError(f"no instruction {index}")
    found: dict[str, Any] = {
        name: int(table[name].iloc[index])
        for name in ("se", "cu", "simd", "slot", "wave", "time", "stall", "duration", "row")
    }
    row = found["row"]
    known = 0 <= row < len(listing)
    cycles = int(listing.cycles[row]) if known else -1
    return found | {
        "text": listing.text[row] if known else "(no program counter)",
        "vaddr": int(listing.vaddr[row]) if known else -1,
        "object": int(listing.code_object[row]) if known else 0,
        "cycles": cycles if cycles >= 0 else None,
        "source": listing.source[row] if known else "",
    }


def matching_rows(timeline: Timeline, text: str) -> np.ndarray:
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


def find(timeline: Timeline, place: Place, text: str, after: int, step: int) -> dict[str, Any]:
    """The next (``step`` 1) or last (-1) executed match beyond ``after``, and their count."""
    table = timeline.instructions
    rows = matching_rows(timeline, text)
    own = np.isin(table["row"].to_numpy(), rows) if len(rows) else np.zeros(len(table), bool)
    own &= (table["se"] == place[0]).to_numpy() & (table["dispatch"] == place[1]).to_numpy()
    at = np.flatnonzero(own)
    if not len(at):
        return {"count": 0, "index": -1}
    time = table["time"].to_numpy()[at]
    beyond = np.flatnonzero(time > after if step > 0 else time < after)
    if len(beyond):
        best = beyond[np.argmin(time[beyond])] if step > 0 else beyond[np.argmax(time[beyond])]
    else:  # around the end
        best = np.argmin(time) if step > 0 else np.argmax(time)
    return {"count": len(at), **instruction(timeline, int(at[best])), "index": int(at[best])}


def next_bubble(rows: Any, place: Place, after: int, step: int, simd: int) -> dict[str, Any]:
    """The next or last bubble of the place beyond ``after`` (of one SIMD unless -1)."""
    own = (rows["se"] == place[0]) & (rows["dispatch"] == place[1]) & (rows["start"] >= 0)
    if simd >= 0:
        own &= rows["simd"] == simd
    own &= (rows["start"] > after) if step > 0 else (rows["start"] < after)
    part = rows[own]
    if not len(part):
        return {"start": None}
    return _bubble(part.loc[part["start"].idxmin() if step > 0 else part["start"].idxmax()])


def bubble(rows: Any, index: int) -> dict[str, Any]:
    """Row ``index`` of the bubble table."""
    if not 0 <= index < len(rows):
        raise TracekitError(f"no bubble {index}")
    return _bubble(rows.iloc[index])


def _bubble(best: Any) -> dict[str, Any]:
    return {
        "start": int(best["start"]), "cycles": int(best["cycles"]), "simd": int(best["simd"]),
        "cause": best["cause"], "waves": best["waves"], "after": best["after"],
        "before": best["before"], "iteration": int(best["iteration"]),
    }  # fmt: skip


def iteration_starts(found: Causes, place: Place) -> list[int]:
    """Begins of the iterations of the first SIMD of a place, and the last one's end."""
    for simd in found.simds:
        if (simd.simd.se, simd.simd.dispatch) == place:
            folded = fold(simd, found.loops)
            if len(folded.begin):
                return [*folded.begin.tolist(), int(folded.end[-1])]
    return []
