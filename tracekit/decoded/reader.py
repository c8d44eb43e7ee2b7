"""What all decoded schemas share: wave files, counters, clock pairs and what is missing.

Such a directory holds only what AMD's decoder made of the stream: its rows are AMD's
timing, whatever timing is asked for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.capture.archive import Place
from tracekit.capture.files import matching, read_json
from tracekit.capture.names import decoded_ids
from tracekit.decoded.belief import believe
from tracekit.decoded.numbers import int_table, integer, within
from tracekit.decoded.plausible import LATEST, sound_life, sound_rows
from tracekit.decoded.wave_files import WaveKey, listed_waves, named_waves
from tracekit.errors import FormatError, TracekitError
from tracekit.gfx9 import REALTIME_HZ, TICK
from tracekit.sqtt.raw import WaveFlag
from tracekit.tables.columns import Columns
from tracekit.tables.listing_tables import ListingTables
from tracekit.tables.parts import Parts
from tracekit.tables.schema import COLUMNS

ONLY_AMD = (
    "decoded JSON holds only AMD's timing; exact timing needs the .att streams, the same rows "
    "are given for both"
)
_ENTRY = re.compile(r"(\d+) / (?:0x)?([0-9a-fA-F]{1,15})$")


@dataclass(frozen=True)
class Losses:
    """What of a directory is not in the tables.

    ``listed_waves``: wave files that it names; of these are not there or cannot be read
    ``missing_waves`` and ``damaged_waves``.  ``implausible_rows``: rows that cannot be true.
    ``lacking_files``: other files that are damaged or not there.
    """

    listed_waves: int = 0
    missing_waves: int = 0
    damaged_waves: int = 0
    implausible_rows: int = 0
    lacking_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Read:
    """What a directory gave."""

    parts: Parts
    losses: Losses


class Reader(ABC):
    """Reads one directory; subclasses know one schema each."""

    def __init__(self, folder: Place, tables: ListingTables, timing: str, se: int | None) -> None:
        self.folder, self.tables, self.se = folder, tables, se
        self.parts = Parts()
        self.notes = self.parts.notes
        if timing == "exact":
            self.notes.append(ONLY_AMD)
        ids = decoded_ids(folder)
        self.dispatch = ids[1] if ids and ids[1] < 1 << 31 else 0
        self.implausible = 0
        self.lacking: list[str] = []

    def run(self) -> Read:
        self._spared("occupancy.json", "occupancy", self._occupancy)
        listed = self._wave_files()
        missing, damaged = self._waves(listed)
        believe(self.parts, self.tables)
        self._spared("se*_perfcounter.json", "counters", self._counters)
        self._spared("realtime.json", "clock", self._clock)
        self._streams()
        if self.implausible:
            self.notes.append(
                f"{self.implausible} rows cannot be true (times out of order or outside their "
                "wave, stalls longer than the instruction) and were left out"
            )
        losses = Losses(len(listed), missing, damaged, self.implausible, tuple(self.lacking))
        return Read(self.parts, losses)

    def _spared(self, name: str, table: str, read: Callable[[], None]) -> None:
        """Read a file whose damage costs one table, not the capture."""
        try:
            read()
        except FormatError as error:
            self.parts[table].clear()
            self.lacking.append(name)
            self.notes.append(f"{error}; {table} from it is missing")

    # What a schema defines.

    def rows_of_lines(self, path: Place, table: NDArray[np.int64]) -> NDArray[np.int32]:
        """Listing row of each instruction by its last column, -1 unknown."""
        unique, inverse = np.unique(table[:, 4], return_inverse=True)
        listing = self.tables.listing
        rows = [listing.row_of_line(n) if n > 0 else -1 for n in unique.tolist()]
        return np.array(rows, np.int32)[inverse] if rows else np.empty(0, np.int32)

    def times(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Stall of each instruction, in cycles."""
        return table[:, 2]

    def cu_of(self, path: Place, wave: dict[str, Any], key: WaveKey) -> int:
        return integer(path, wave, "cu", limit=15)

    @abstractmethod
    def occupancy_rows(
        self, path: Place, content: dict[str, Any], se: str
    ) -> NDArray[np.int64]:  # fmt: skip
        """int64[n, 6]: time, cu, simd, slot, start, kernel of one shader engine."""

    # What they share.

    def _json(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        content = read_json(path) if path.is_file() else {}
        if not isinstance(content, dict):
            raise FormatError(path, "expected a JSON object")
        return content

    def _wave_files(self) -> list[tuple[WaveKey, str]]:
        """Key and file name of the waves that filenames.json lists (else of all files)."""
        path = self.folder / "filenames.json"
        if path.is_file():
            try:
                found = listed_waves(path, self._json("filenames.json"))
            except FormatError as error:
                self.lacking.append("filenames.json")
                self.notes.append(f"{error}; wave files were found by their names")
                found = named_waves(self.folder)
        else:
            self.notes.append("no filenames.json: wave files were found by their names")
            found = named_waves(self.folder)
        return sorted(each for each in found if self.se is None or each[0][0] == self.se)

    def _waves(self, listed: list[tuple[WaveKey, str]]) -> tuple[int, int]:
        """Read what is there; how many wave files are missing, and how many damaged."""
        missing: list[str] = []
        broken: list[FormatError] = []
        for key, name in listed:
            path = self.folder / name
            if not path.is_file():
                missing.append(name)
                continue
            try:
                self._wave(key, path)
            except FormatError as error:
                broken.append(error)
        if broken and not self.parts["waves"]:
            raise broken[0]
        self.notes += [f"{error}; this wave was left out" for error in broken[:3]]
        if len(broken) > 3:
            self.notes.append(f"{len(broken) - 3} more wave files are damaged and were left out")
        if missing:
            first = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            rest = "the rest was read" if len(missing) < len(listed) else "none is here"
            self.notes.append(
                f"{len(missing)} of {len(listed)} wave files listed in filenames.json are "
                f"missing ({first}); {rest}"
            )
        return len(missing), len(broken)

    def _wave(self, key: WaveKey, path: Place) -> None:
        content = read_json(path)
        wave = content.get("wave") if isinstance(content, dict) else None
        if not isinstance(wave, dict):
            raise FormatError(path, "expected a JSON object with 'wave'")
        se, simd, slot, number = key
        begin, end = integer(path, wave, "begin"), integer(path, wave, "end")
        if not sound_life(begin, end):
            raise FormatError(path, f"a wave cannot live from cycle {begin} to {end}")
        cu = self.cu_of(path, wave, key)
        table = int_table(path, wave.get("instructions"), 5, "instructions")
        timeline = int_table(path, wave.get("timeline"), 2, "timeline")
        table = self._sound(table, sound_rows(table, begin, end))
        timeline = self._sound(timeline, np.abs(timeline[:, 1]) <= end - begin + TICK)
        n, tables = len(table), self.tables
        row = self.rows_of_lines(path, table)
        same = {"se": se, "cu": cu, "simd": simd, "slot": slot, "wave": number}
        where = row[:1] if n else np.array([-1])
        self.parts.add(
            "instructions",
            {name: np.full(n, value) for name, value in same.items()}
            | {
                "time": table[:, 0].copy(),
                "category": np.where(table[:, 1] <= 11, np.maximum(table[:, 1], 0), 0),
                "stall": np.maximum(self.times(table), 0),
                "duration": np.maximum(table[:, 3], 0),
                "code_object": tables.code_object[row],
                "vaddr": tables.vaddr[row],
                "line": tables.line[row],
                "instruction": tables.text_code[row],
                "release": np.full(n, -1, np.int64),
                "dispatch": np.full(n, self.dispatch, np.int32),
                "row": row,
                "type": np.full(n, -1, np.int8),
            },
        )
        self.parts.add(
            "waves",
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
            },
        )
        spent = np.maximum(timeline[:, 1], 0)
        self.parts.add(
            "states",
            {name: np.full(len(timeline), value) for name, value in same.items()}
            | {
                "state": np.clip(timeline[:, 0], 0, 4).astype(np.int8),
                "begin": begin + np.cumsum(spent) - spent,
                "duration": spent,
            },
        )

    def _sound(self, table: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows that can be true; the others are counted."""
        self.implausible += int((~kept).sum())
        return table if kept.all() else table[kept]

    def _occupancy(self) -> None:
        path = self.folder / "occupancy.json"
        content = self._json("occupancy.json")
        names = content.get("dispatches") or {}
        if not isinstance(names, dict):
            raise FormatError(path, "dispatches: expected a JSON object")
        entries = {int(k): self._entry(str(v)) for k, v in names.items() if _number(k)}
        engines = sorted(filter(_number, content), key=int)
        if not engines:
            self.lacking.append("occupancy.json")
        for se in engines:
            if self.se not in (None, int(se)):
                continue
            table = self.occupancy_rows(path, content, se)
            table = self._sound(table, (table[:, 0] >= 0) & (table[:, 0] < LATEST))
            kernel = [entries.get(k, (0, 0)) for k in table[:, 5].tolist()]
            columns = ("time", "cu", "simd", "slot", "start")
            for column, name in enumerate(columns[1:], 1):
                within(path, table[:, column], f"SE {se}: {name}")
            part: Columns = {name: table[:, i] for i, name in enumerate(columns)}
            part["se"] = np.full(len(table), int(se))
            part["dispatch"] = np.full(len(table), self.dispatch)
            part["code_object"] = np.array([k[0] for k in kernel], np.int64)
            part["entry"] = np.array([k[1] for k in kernel], np.int64)
            self.parts.add("occupancy", part)

    def _entry(self, name: str) -> tuple[int, int]:
        """(code object, address) of a kernel by its "object / 0xentry" or its symbol."""
        found = _ENTRY.match(name)
        if found and int(found[1]) < 1 << 31:
            return int(found[1]), int(found[2], 16)
        for symbol in self.tables.listing.symbols:
            if name in (symbol.name, symbol.demangled):
                return symbol.code_object, symbol.vaddr
        return 0, 0

    def _counters(self) -> None:
        for path in matching(self.folder, "se*_perfcounter.json"):
            se = path.name[2:].split("_")[0]
            if not _number(se) or self.se not in (None, int(se)):
                continue
            content = read_json(path)
            rows = content.get("data") if isinstance(content, dict) else None
            table = int_table(path, rows, 7, "data")
            table = self._sound(table, np.abs(table[:, 0]) < LATEST)
            columns = ("time", "c0", "c1", "c2", "c3", "cu", "bank")
            within(path, table[:, 5], "data: cu")
            within(path, table[:, 6], "data: bank")
            part: Columns = {name: table[:, i] for i, name in enumerate(columns)}
            part["se"] = np.full(len(table), int(se))
            self.parts.add("counters", part)
        self.parts["counters"].sort(key=lambda part: int(next(iter(part["se"]), 0)))  # type: ignore[call-overload]

    def _clock(self) -> None:
        path = self.folder / "realtime.json"
        content = self._json("realtime.json")
        metadata = content.get("metadata")
        frequency = metadata.get("frequency") if isinstance(metadata, dict) else None
        if type(frequency) is not int or not 0 < frequency < 1 << 62:
            frequency = REALTIME_HZ
        engines = [name for name in content if name.startswith("SE") and _number(name[2:])]
        for name in sorted(engines, key=lambda name: int(name[2:])):
            if self.se not in (None, int(name[2:])):
                continue
            table = int_table(path, content[name], 2, name)
            table = self._sound(table, np.abs(table[:, 0]) < LATEST)
            self.parts.add(
                "clock",
                {
                    "se": np.full(len(table), int(name[2:])),
                    "time": table[:, 0],
                    "realtime": table[:, 1],
                    "frequency_hz": np.full(len(table), frequency),
                },
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
        if not seen and not cus and self.tables.listing.hits is None:
            raise TracekitError(
                f"{self.folder}: no wave, no occupancy and no counts to read (see tracekit info)"
            )
        for se in sorted(seen | set(cus)):
            known: dict[str, Any] = dict.fromkeys(COLUMNS["streams"], 0)
            known |= {"se": se, "dispatch": self.dispatch, "file": self.folder.name}
            known |= {"target_cu": cus.get(se, -1), "simd_mask": 15}
            known |= {"instructions": instructions.get(se, 0)}
            known |= {"base": -1, "phase": -1, "truncated_at": -1}
            self.parts.add("streams", {name: [value] for name, value in known.items()})


def _number(text: str) -> bool:
    """A shader engine or kernel id: ASCII digits that fit a column."""
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < 1 << 15
