"""The ``ui_output`` directory that ROCprof Compute Viewer opens (schema 3.0.0, 10 columns).

What rocprofv3 writes for a thread trace: filenames.json, a file a wave, code.json,
occupancy.json, and counters, clock pairs and wave states where there are any.  docs/exports.md
lists what the schema has no place for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.hotspots import STATS, Hotspots
from tracekit.errors import TracekitError
from tracekit.export.rcv_waves import File, file_names, wave_files
from tracekit.export.wstates import wave_states
from tracekit.isa.listing import Symbol
from tracekit.tables.timeline import Timeline

#: The only timing that the schema knows.
TIMING = "amd"
VERSION = "3.0.0"
HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
_DESCRIPTOR = "[gfx_clock, realtime_clock]"
#: What a directory of this kind holds; such files are removed before it is written anew.
_OWN = re.compile(
    r"filenames|code|occupancy|realtime|snapshots|wstates\d|se\d+_perfcounter|"
    r"se\d+_sm\d+_sl\d+_wv\d+"
)


def write(analysis: Analysis, path: Path) -> None:
    """Write the directory ``path``; files of an older one at that place are removed.

    Raises TracekitError for a timeline in exact timing, without code addresses (rocprofv2)
    or with several dispatches of one shader engine, and where ``path`` is a file.
    """
    if analysis.timeline.shown_timing != TIMING:
        raise TracekitError("rcv holds AMD's rows: use --timing amd")
    files = list(documents(analysis))
    if path.exists() and not path.is_dir():
        raise TracekitError(f"{path}: is a file; rcv writes a directory")
    path.mkdir(parents=True, exist_ok=True)
    for old in path.glob("*.json"):
        if _OWN.fullmatch(old.stem):
            old.unlink()
    for name, content in files:
        text = json.dumps(content, separators=(",", ":"), sort_keys=True)
        (path / name).write_text(text, encoding="utf-8")


def documents(analysis: Analysis) -> Iterator[File]:
    """(name, content) of every file."""
    timeline, sums = analysis.timeline, analysis.hotspots
    lines = sums.lines
    if len(timeline.listing) and (timeline.listing.vaddr < 0).any():
        raise TracekitError("rcv names code by address, which this capture (rocprofv2) lacks")
    number = np.zeros(len(timeline.listing) + 1, np.int64)
    listed = lines.row >= 0
    number[lines.row[listed]] = lines.line[listed]
    waves = list(wave_files(timeline, number))
    yield "filenames.json", file_names(waves, list(timeline.counter_names), VERSION)
    yield from waves
    code = _code(sums) + _other_kernels(timeline, sums)
    yield "code.json", {"code": code or None, "header": HEADER, "version": VERSION}
    yield "occupancy.json", _occupancy(timeline, lines.symbols)
    yield from _counters(timeline)
    if len(timeline.clock):
        yield "realtime.json", _realtime(timeline)
    for state, (times, counts) in wave_states(timeline).items():
        name = f"wstates{state}.json"
        yield name, {"name": name, "state": counts, "time": times}
    if timeline.simulated or timeline.synthetic:
        # Ours: whoever opens the directory again is told that no chip ran this.
        yield (
            "meta.json",
            {
                "arch": timeline.arch.name,
                "simulated": timeline.simulated,
                "synthetic": timeline.synthetic,
            },
        )


def _code(sums: Hotspots) -> list[list[Any]]:
    table = sums.rows[list(STATS.values())].copy()
    counts = ["hits", "latency_cycles", "stall_cycles", "idle_cycles"]
    table[counts] = table[counts].fillna(0)
    columns = {name: table[name].tolist() for name in table.columns}
    zeros, line = [0] * len(table), sums.lines.line.tolist()
    order = [
        columns["instruction"], zeros, line, columns["source"], columns["code_object"],
        columns["vaddr"], *(columns[name] for name in counts),
    ]  # fmt: skip
    rows = [list(row) for row in zip(*order, strict=True)]
    # By line; a label may have the number of the instruction before it, which it follows.
    places = 2 * sums.lines.line + (sums.lines.row < 0)
    return [rows[i] for i in np.argsort(places, kind="stable").tolist()]


def _other_kernels(timeline: Timeline, sums: Hotspots) -> list[list[Any]]:
    """Labels alone of kernels that occupancy names but of which no instruction was traced.

    Without them their names would stand for no address.
    """
    shown = {sums.lines.symbols[i] for i in sums.lines.symbol[sums.lines.row < 0].tolist()}
    entries = timeline.occupancy[["code_object", "entry"]].drop_duplicates()
    wanted = set(entries.itertuples(index=False, name=None))
    last = int(sums.lines.line.max()) if len(sums.lines.line) else 0
    return [
        [f"; {s.name}", 0, last, s.demangled, s.code_object, s.vaddr, 0, 0, 0, 0]
        for s in sums.lines.symbols
        if (s.code_object, s.vaddr) in wanted and s not in shown
    ]


def _occupancy(timeline: Timeline, known: list[Symbol]) -> dict[str, Any]:
    """Kernels are numbered from 1 in order of appearance; 0 is the unknown one."""
    table = timeline.occupancy
    entries = list(zip(table["code_object"].tolist(), table["entry"].tolist(), strict=True))
    kernels = {(0, 0): 0}
    for entry in entries:
        if entry[0] or entry[1] > 0:
            kernels.setdefault(entry, len(kernels))
    columns = [table[name].to_numpy() for name in ("time", "cu", "simd", "slot", "start")]
    columns.append(np.array([kernels.get(entry, 0) for entry in entries], np.int64))
    content: dict[str, Any] = {
        se: rows.tolist() for se, rows in _by_engine(table["se"].to_numpy(), columns)
    }
    # A name that two kernels bear would stand for either.
    often = Counter(s.name for s in known)
    symbols = {(s.code_object, s.vaddr): s.name for s in known if often[s.name] == 1}
    content["dispatches"] = {
        str(number): symbols.get(entry, f"{entry[0]} / {entry[1]:#x}")
        for entry, number in kernels.items()
    }
    return content | {"version": VERSION}


def _counters(timeline: Timeline) -> Iterator[File]:
    table = timeline.counters
    names = ("time", "c0", "c1", "c2", "c3", "cu", "bank")
    columns = [table[name].to_numpy() for name in names]
    for se, rows in _by_engine(table["se"].to_numpy(), columns):
        yield f"se{se}_perfcounter.json", {"data": rows.tolist()}


def _realtime(timeline: Timeline) -> dict[str, Any]:
    table = timeline.clock
    content: dict[str, Any] = {
        "metadata": {
            "descriptor": _DESCRIPTOR,
            "frequency": int(table["frequency_hz"].iloc[0]),
        }
    }
    columns = [table[name].to_numpy() for name in ("time", "realtime")]
    for se, rows in _by_engine(table["se"].to_numpy(), columns):
        content[f"SE{se}"] = rows.tolist()
    return content


def _by_engine(
    se: NDArray[Any], columns: list[NDArray[Any]]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """(shader engine, int64[n, columns]) in order of the engines."""
    rows = np.stack([column.astype(np.int64) for column in columns], 1)
    for engine in np.unique(se).tolist():
        yield str(engine), rows[se == engine]
