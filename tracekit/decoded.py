"""Timelines from a decoded ``ui_output_*`` directory (10-column schema, version 3.0.0).

Such a directory holds only what AMD's decoder made of the stream: its rows are AMD's
timing, whatever timing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tracekit.assemble import Columns, ListingTables, timeline_of
from tracekit.capture.names import decoded_ids
from tracekit.capture.surroundings import read_json
from tracekit.errors import FormatError, TracekitError
from tracekit.sqtt.raw import WaveFlag
from tracekit.timeline import COLUMNS, Timeline

if TYPE_CHECKING:
    from tracekit.capture.capture import Capture

ONLY_AMD = (
    "decoded JSON holds only AMD's timing; exact timing needs the .att streams, the same rows "
    "are given for both"
)
_ENTRY = re.compile(r"(\d+) / (?:0x)?([0-9a-fA-F]+)$")


def read_decoded(capture: Capture, timing: str, se: int | None = None) -> Timeline:
    """The timeline of a decoded directory; ``se`` restricts it to one shader engine."""
    assert capture.decoded is not None
    return _Reader(capture, capture.decoded, timing, se).run()


def int_table(path: Path, rows: Any, width: int, what: str) -> NDArray[np.int64]:
    """A list of integer rows as int64[n, width]; FormatError when it is none."""
    if rows is None:
        rows = []
    try:
        table = np.array(rows, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(path, f"{what}: expected rows of {width} integers") from None
    if table.size == 0:
        return np.empty((0, width), np.int64)
    if table.ndim != 2 or table.shape[1] < width:
        raise FormatError(path, f"{what}: expected rows of {width} integers")
    return table[:, :width]


class _Reader:
    def __init__(self, capture: Capture, folder: Path, timing: str, se: int | None) -> None:
        self.capture, self.folder, self.timing, self.se = capture, folder, timing, se
        self.tables = ListingTables.of(capture.complete_listing(lambda: capture.code_objects))
        self.parts: dict[str, list[Columns]] = {name: [] for name in COLUMNS}
        self.notes = [*capture.notes, ONLY_AMD] if timing == "exact" else list(capture.notes)
        ids = decoded_ids(folder)
        self.dispatch = ids[1] if ids else 0

    def run(self) -> Timeline:
        names = self._json("filenames.json", {})
        missing: list[str] = []
        waves = sorted(self._wave_files(names))
        for key, name in waves:
            path = self.folder / name
            if path.is_file():
                self._wave(key[0], path)
            else:
                missing.append(name)
        if missing:
            self.notes.append(
                f"{len(missing)} of {len(waves)} wave files listed in filenames.json are missing "
                f"(first: {missing[0]}); the rest was read"
            )
        self._occupancy()
        self._counters()
        self._clock()
        self._streams()
        return timeline_of(
            self.capture, self.timing, self.tables, self.parts, self.notes, decoded=True
        )

    def _json(self, name: str, default: Any) -> Any:
        path = self.folder / name
        return read_json(path) if path.is_file() else default

    def _wave_files(self, names: Any) -> list[tuple[tuple[int, int, int, int], str]]:
        """((se, simd, slot, wave), file name) of all waves that filenames.json lists."""
        path = self.folder / "filenames.json"
        found: list[tuple[tuple[int, int, int, int], str]] = []
        try:
            for se, simds in (names.get("wave_filenames") or {}).items():
                for simd, slots in simds.items():
                    for slot, waves in slots.items():
                        for wave, entry in waves.items():
                            key = (int(se), int(simd), int(slot), int(wave))
                            found.append((key, Path(str(entry[0])).name))
        except (AttributeError, TypeError, ValueError, IndexError):
            raise FormatError(
                path, "wave_filenames: expected {se: {simd: {slot: {wave: [file, begin, end]}}}}"
            ) from None
        return [each for each in found if self.se is None or each[0][0] == self.se]

    def _wave(self, se: int, path: Path) -> None:
        content = read_json(path)
        wave = content.get("wave") if isinstance(content, dict) else None
        if not isinstance(wave, dict):
            raise FormatError(path, "expected a JSON object with 'wave'")
        place = [self._int(path, wave, name) for name in ("cu", "simd", "slot", "id")]
        cu, simd, slot, number = place
        begin, end = self._int(path, wave, "begin"), self._int(path, wave, "end")
        table = int_table(path, wave.get("instructions"), 5, "instructions")
        timeline = int_table(path, wave.get("timeline"), 2, "timeline")
        n, tables = len(table), self.tables
        row = self._rows(table[:, 4])
        same = {"se": se, "cu": cu, "simd": simd, "slot": slot, "wave": number}
        where = row[:1] if n else np.array([-1])
        self.parts["instructions"].append(
            {name: np.full(n, value) for name, value in same.items()}
            | {
                "time": table[:, 0].copy(),
                "category": table[:, 1].astype(np.int8),
                "stall": table[:, 2].copy(),
                "duration": table[:, 3].copy(),
                "code_object": tables.code_object[row],
                "vaddr": tables.vaddr[row],
                "line": table[:, 4].astype(np.int32),
                "instruction": tables.text_code[row],
                "release": np.full(n, -1, np.int64),
                "dispatch": np.full(n, self.dispatch, np.int32),
                "row": row,
                "type": np.full(n, -1, np.int8),
            }
        )
        self.parts["waves"].append(
            {name: [value] for name, value in same.items()}
            | {
                "begin": [begin],
                "end": [end],
                "instructions": [n],
                "stitched": [int((row >= 0).sum())],
                "complete": [True],
                "dispatch": [self.dispatch],
                "code_object": tables.code_object[where],
                "entry": tables.vaddr[where],
                "flags": [int(WaveFlag.COMPLETE)],
            }
        )
        spent = timeline[:, 1]
        self.parts["states"].append(
            {name: np.full(len(timeline), value) for name, value in same.items()}
            | {
                "state": np.clip(timeline[:, 0], 0, 4).astype(np.int8),
                "begin": begin + np.cumsum(spent) - spent,
                "duration": spent,
            }
        )

    def _int(self, path: Path, wave: Mapping[str, Any], name: str) -> int:
        value = wave.get(name)
        if not isinstance(value, int):
            raise FormatError(path, f"wave.{name}: expected an integer, found {value!r}")
        return value

    def _rows(self, line: NDArray[np.int64]) -> NDArray[np.int32]:
        unique, inverse = np.unique(line, return_inverse=True)
        rows = [self.tables.listing.row_of_line(n) if n > 0 else -1 for n in unique.tolist()]
        return np.array(rows, np.int32)[inverse] if len(rows) else np.empty(0, np.int32)

    def _occupancy(self) -> None:
        path = self.folder / "occupancy.json"
        content = self._json("occupancy.json", {})
        if not isinstance(content, dict):
            raise FormatError(path, "expected a JSON object")
        names = content.get("dispatches") or {}
        entries = {int(k): self._entry(str(v)) for k, v in names.items() if str(k).isdigit()}
        for se, rows in content.items():
            if not se.isdigit() or self.se not in (None, int(se)):
                continue
            table = int_table(path, rows, 6, f"SE {se}")
            kernel = [entries.get(k, (0, 0)) for k in table[:, 5].tolist()]
            columns = ("time", "cu", "simd", "slot", "start")
            part: Columns = {name: table[:, i] for i, name in enumerate(columns)}
            part["se"] = np.full(len(table), int(se))
            part["dispatch"] = np.full(len(table), self.dispatch)
            part["code_object"] = np.array([k[0] for k in kernel], np.int64)
            part["entry"] = np.array([k[1] for k in kernel], np.int64)
            self.parts["occupancy"].append(part)

    def _entry(self, name: str) -> tuple[int, int]:
        """(code object, address) of a kernel by its "object / 0xentry" or its symbol."""
        found = _ENTRY.match(name)
        if found:
            return int(found[1]), int(found[2], 16)
        for symbol in self.tables.listing.symbols:
            if name in (symbol.name, symbol.demangled):
                return symbol.code_object, symbol.vaddr
        return 0, 0

    def _counters(self) -> None:
        for path in sorted(self.folder.glob("se*_perfcounter.json")):
            se = path.name[2:].split("_")[0]
            if not se.isdigit() or self.se not in (None, int(se)):
                continue
            content = read_json(path)
            rows = content.get("data") if isinstance(content, dict) else None
            table = int_table(path, rows, 7, "data")
            columns = ("time", "c0", "c1", "c2", "c3", "cu", "bank")
            part: Columns = {name: table[:, i] for i, name in enumerate(columns)}
            part["se"] = np.full(len(table), int(se))
            self.parts["counters"].append(part)

    def _clock(self) -> None:
        path = self.folder / "realtime.json"
        content = self._json("realtime.json", {})
        if not isinstance(content, dict):
            raise FormatError(path, "expected a JSON object")
        metadata = content.get("metadata")
        frequency = metadata.get("frequency") if isinstance(metadata, dict) else None
        for name, rows in content.items():
            if not name.startswith("SE") or not name[2:].isdigit():
                continue
            if self.se not in (None, int(name[2:])):
                continue
            table = int_table(path, rows, 2, name)
            self.parts["clock"].append(
                {
                    "se": np.full(len(table), int(name[2:])),
                    "time": table[:, 0],
                    "realtime": table[:, 1],
                    "frequency_hz": np.full(len(table), frequency or 100_000_000),
                }
            )

    def _streams(self) -> None:
        """What a decoded directory still tells of its streams: which SEs, which CU."""
        cus: dict[int, int] = {}
        instructions: dict[int, int] = {}
        for part in self.parts["waves"]:
            se, cu, n = (part[name][0] for name in ("se", "cu", "instructions"))  # type: ignore[index]
            cus[se] = cu
            instructions[se] = instructions.get(se, 0) + n
        seen = {int(part["se"][0]) for part in self.parts["occupancy"] if len(part["se"])}  # type: ignore[index,arg-type]
        if not seen and not cus:
            raise TracekitError(
                f"{self.folder}: no wave and no occupancy to read (see tracekit info)"
            )
        for se in sorted(seen | set(cus)):
            known: dict[str, Any] = dict.fromkeys(COLUMNS["streams"], 0)
            known |= {"se": se, "dispatch": self.dispatch, "file": self.folder.name}
            known |= {"target_cu": cus.get(se, -1), "simd_mask": 15}
            known |= {"instructions": instructions.get(se, 0)}
            known |= {"base": -1, "phase": -1, "truncated_at": -1}
            self.parts["streams"].append({name: [value] for name, value in known.items()})
