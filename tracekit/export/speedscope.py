"""speedscope JSON: one evented profile a wave (markers and instructions), and hotspots.

The time unit is none: one unit is one cycle of the shader clock.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tracekit.analysis.analysis import Analysis
from tracekit.tables.timeline import Timeline
from tracekit.version import VERSION

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_WAVE = ["se", "cu", "simd", "slot", "wave"]


def write(analysis: Analysis, path: Path) -> None:
    """Write the timeline of ``analysis`` to ``path``."""
    path.write_text(json.dumps(document(analysis), separators=(",", ":")))


def document(analysis: Analysis) -> dict[str, Any]:
    """The file as an object: frames are instructions, profile 0 sums latency by source."""
    timeline = analysis.timeline
    listing = timeline.listing
    frames: list[dict[str, Any]] = [_frame(listing, row) for row in range(len(listing))]
    frames.append({"name": "(no program counter)"})
    profiles = [_hotspots(timeline, frames)]
    table = timeline.executed
    first = 0
    row = table["row"].to_numpy()
    time, duration = table["time"].to_numpy(), table["duration"].to_numpy()
    for key, count in zip(
        timeline.waves[_WAVE].to_numpy().tolist(),
        timeline.waves["instructions"].tolist(), strict=True,
    ):  # fmt: skip
        rows = slice(first, first + count)
        first += count
        if count:
            name = "SE {} CU {} SIMD {} slot {} wave {}".format(*key)
            profiles.append(_wave(name, row[rows], time[rows], time[rows] + duration[rows], frames))
    origin = " (simulated)" if timeline.simulated else ""
    return {
        "$schema": SCHEMA,
        "exporter": f"tracekit {VERSION}",
        "name": f"{timeline.capture}{origin}, cycles",
        "shared": {"frames": frames},
        "profiles": profiles,
    }


def _frame(listing: Any, row: int) -> dict[str, Any]:
    frame: dict[str, Any] = {"name": f"{int(listing.vaddr[row]):#x} {listing.text[row]}"}
    place = listing.source[row].split(" -> ")[0]
    file, _, line = place.rpartition(":")
    if file and line.isdigit():
        frame |= {"file": file, "line": int(line)}
    return frame


def _wave(name: str, row: Any, start: Any, end: Any, frames: list[Any]) -> dict[str, Any]:
    """Instructions one after the other; times never go back."""
    edges = np.maximum.accumulate(np.stack([start, end], 1).ravel())
    number = np.where(row < 0, len(frames) - 1, row).tolist()
    events = []
    for i, frame in enumerate(number):
        events.append({"type": "O", "frame": frame, "at": int(edges[2 * i])})
        events.append({"type": "C", "frame": frame, "at": int(edges[2 * i + 1])})
    return {
        "type": "evented", "name": name, "unit": "none",
        "startValue": int(edges[0]), "endValue": int(edges[-1]), "events": events,
    }  # fmt: skip


def _hotspots(timeline: Timeline, frames: list[dict[str, Any]]) -> dict[str, Any]:
    """Sampled: source place > instruction, weighted by the sum of durations."""
    row = timeline.executed["row"].to_numpy()
    duration = timeline.executed["duration"].to_numpy()
    known = row >= 0
    sums = np.bincount(row[known], duration[known], minlength=len(timeline.listing))
    places: dict[str, int] = {}
    samples, weights = [], []
    for at in np.flatnonzero(sums).tolist():
        source = timeline.listing.source[at] or "(no source)"
        if source not in places:
            places[source] = len(frames)
            frames.append({"name": source})
        samples.append([places[source], at])
        weights.append(int(sums[at]))
    return {
        "type": "sampled", "name": "cycles by source and instruction", "unit": "none",
        "startValue": 0, "endValue": sum(weights), "samples": samples, "weights": weights,
    }  # fmt: skip
