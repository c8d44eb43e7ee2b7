"""One stream to the pieces of the tables: stitched, timed, laid out in columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.listing import Listing
from tracekit.sqtt import amd, exact, phase
from tracekit.sqtt.decode import take
from tracekit.sqtt.layout import Misc
from tracekit.sqtt.raw import RawStream, WaveFlag
from tracekit.sqtt.registers import Registers
from tracekit.sqtt.rows import Rows
from tracekit.sqtt.side import counters, markers, occupancy, wave_starts
from tracekit.sqtt.stitch import Stitched, stitch
from tracekit.tables.columns import Columns
from tracekit.tables.listing_tables import ListingTables
from tracekit.tables.parts import Parts

#: A byte offset past any token, before registers.FOREVER.
STREAM_END = 1 << 61


@dataclass(frozen=True)
class StreamFacts:
    """What a file says of its stream besides the tokens: its name, ids and size (bytes)."""

    name: str
    se: int
    dispatch: int
    size: int
    target_cu: int
    simd_mask: int


class StreamTables:
    """One stream on its way into the tables; ``parts`` is all of it."""

    def __init__(
        self,
        stream: StreamFacts,
        raw: RawStream,
        registers: Registers,
        tables: ListingTables,
        timing: str,
    ) -> None:
        self.stream, self.raw, self.registers = stream, raw, registers
        self.tables, self.timing = tables, timing
        self.phase = phase.fit(raw)
        self._made = Parts()

    def parts(self) -> Parts:
        """The pieces of all tables that the stream gives."""
        self._fill()
        return self._made

    def _fill(self) -> None:
        raw, registers = self.raw, self.registers
        starts = wave_starts(raw, registers)
        order = starts.position(raw.waves["start_offset"])
        code_object, entry = starts.code_object[order], starts.entry[order]
        dispatch = self._dispatch(starts.dispatch)
        self._registers(dispatch_ids=self._dispatch(np.arange(len(registers.dispatches))))
        se = self.stream.se
        self._made.add("occupancy", occupancy(raw, starts, dispatch, se))
        self._made.add("markers", markers(raw, se))
        self._made.add("counters", counters(raw, se))
        if not raw.records:  # an SE traced for occupancy only: its waves are in that table
            self._stream(None)
            return
        start_row = np.array(
            [
                self.tables.listing.row_of(*where)
                for where in zip(code_object.tolist(), entry.tolist(), strict=True)
            ],
            np.int32,
        )
        stitched = stitch(raw, self.tables.stitch, start_row, self._anchor_rows())
        rows = self._rows(stitched)
        wave_counts = rows.wave_counts
        self._waves(wave_counts, rows.row, dispatch[order], code_object, entry)
        self._instructions(rows, wave_counts, dispatch[order])
        self._stream(stitched)

    def _dispatch(self, ordinal: NDArray[np.int64]) -> NDArray[np.int64]:
        """Dispatch ids: that of the file for the first dispatch, counting on from there.

        The ordinal counts the dispatches that launched waves, so that the empty ones
        (cache flushes between kernels) take no number.
        """
        if not len(self.registers.dispatches):
            return np.full(len(ordinal), self.stream.dispatch, np.int64)
        return self.stream.dispatch + np.maximum(ordinal, 0)

    def _anchor_rows(self) -> NDArray[np.int32]:
        rows = []
        for address in self.raw.anchors[:, 2].tolist():
            known = address >= 0
            # An anchor's object must be loaded at that time; by the end of the stream is
            # the best that is known without the token's offset.
            where = self.registers.resolve(address, STREAM_END) if known else (0, -1)
            rows.append(self.tables.listing.row_of(*where))
        return np.array(rows, np.int32)

    def _rows(self, stitched: Stitched) -> Rows:
        if self.timing == "exact":
            return exact.exact_rows(self.raw, stitched.row, self.tables.barrier, self.phase)
        made = amd.amd_rows(self.raw, stitched.row, self.tables.barrier, self.tables.scaled)
        self._amd_states(made.timelines)
        return made.rows

    def _waves(
        self,
        wave_counts: NDArray[np.int64],
        row: NDArray[np.int32],
        dispatch: NDArray[np.int64],
        code_object: NDArray[np.int64],
        entry: NDArray[np.int64],
    ) -> None:
        waves = self.raw.waves
        stitched = wave_counts
        if len(row) and row.min() < 0:
            stitched = np.zeros(len(wave_counts), np.int64)
            own = np.flatnonzero(wave_counts)  # reduceat has no empty groups
            heads = (np.cumsum(wave_counts) - wave_counts)[own]
            stitched[own] = np.add.reduceat(row >= 0, heads, dtype=np.int64)
        flags = waves["flags"]
        good = flags & (WaveFlag.COMPLETE | WaveFlag.PACKETS_LOST | WaveFlag.LOST_END)
        n = len(flags)
        self._made.add(
            "waves",
            {
                "se": np.full(n, self.stream.se),
                "cu": np.full(n, self.stream.target_cu),
                "simd": waves["simd"],
                "slot": waves["slot"],
                "wave": waves["index"],
                "begin": waves["begin"],
                "end": waves["end"],
                "instructions": wave_counts,
                "stitched": stitched,
                "complete": good == WaveFlag.COMPLETE,
                "dispatch": dispatch,
                "code_object": code_object,
                "entry": entry,
                "flags": flags,
            },
        )

    def _instructions(
        self, rows: Rows, wave_counts: NDArray[np.int64], dispatch: NDArray[np.int64]
    ) -> None:
        waves, tables, n = self.raw.waves, self.tables, len(rows.time)
        row = rows.row
        released, releases = rows.released, rows.release

        def of_wave(values: NDArray[np.int64], kind: str) -> Callable[[], NDArray[np.generic]]:
            return lambda: np.repeat(values.astype(kind), wave_counts)

        def of_row(values: NDArray[np.generic]) -> Callable[[], NDArray[np.generic]]:
            return lambda: take(values, row)

        def release() -> NDArray[np.int64]:
            column = np.full(n, -1, np.int64)
            column[released] = releases
            return column

        self._made.add(
            "instructions",
            {
                "se": of_wave(np.full(len(wave_counts), self.stream.se), "int16"),
                "cu": of_wave(np.full(len(wave_counts), self.stream.target_cu), "int8"),
                "simd": of_wave(waves["simd"], "int8"),
                "slot": of_wave(waves["slot"], "int8"),
                "wave": of_wave(waves["index"], "int32"),
                "time": rows.time,
                "category": rows.category.view(np.int8),
                "stall": rows.stall,
                "duration": rows.duration,
                "code_object": of_row(tables.code_object),
                "vaddr": of_row(tables.vaddr),
                "line": of_row(tables.line),
                "instruction": of_row(tables.text_code),
                "release": release,
                "dispatch": of_wave(dispatch, "int32"),
                "row": row,
                "type": rows.type.view(np.int8),
            },
        )

    def _amd_states(self, timelines: list[list[tuple[int, int]]]) -> None:
        waves = self.raw.waves
        counts = np.array([len(line) for line in timelines], np.int64)
        entries = np.array([e for line in timelines for e in line], np.int64).reshape(-1, 2)
        # Each wave's states follow one another from its begin.
        before = np.cumsum(entries[:, 1]) - entries[:, 1]
        heads = np.append(before, 0)[np.cumsum(counts) - counts]
        begin = before + np.repeat(waves["begin"] - heads, counts)
        columns: Columns = {
            name: np.repeat(waves[source], counts)
            for name, source in (("simd", "simd"), ("slot", "slot"), ("wave", "index"))
        }
        columns["se"] = np.full(len(entries), self.stream.se)
        columns["cu"] = np.full(len(entries), self.stream.target_cu)
        columns |= {"state": entries[:, 0].astype(np.int8), "begin": begin}
        columns["duration"] = entries[:, 1]
        self._made.add("states", columns)

    def _registers(self, dispatch_ids: NDArray[np.int64]) -> None:
        registers, se = self.registers, self.stream.se
        self._made.add(
            "clock",
            {
                "se": np.full(len(registers.realtime), se),
                "time": np.array([t for t, _ in registers.realtime], np.int64),
                "realtime": np.array([r for _, r in registers.realtime], np.int64),
                "frequency_hz": np.full(len(registers.realtime), registers.realtime_hz),
            },
        )
        records = registers.dispatches
        where = [registers.resolve(d.pc, d.offset) for d in records]
        names = [kernel_name(self.tables.listing, *w) for w in where]
        self._made.add(
            "dispatches",
            {
                "dispatch": dispatch_ids,
                "se": np.full(len(records), se),
                "time": np.array([d.time for d in records], np.int64),
                "me": np.array([d.me for d in records], np.int8),
                "pipe": np.array([d.pipe for d in records], np.int8),
                "code_object": np.array([w[0] for w in where], np.int64),
                "entry": np.array([w[1] for w in where], np.int64),
                "kernel": names,
                "threads_x": np.array([d.threads[0] for d in records], np.int32),
                "threads_y": np.array([d.threads[1] for d in records], np.int32),
                "threads_z": np.array([d.threads[2] for d in records], np.int32),
                "lds_bytes": np.array([d.lds_bytes for d in records], np.int32),
                "vgprs": np.array([d.vgprs for d in records], np.int32),
                "user_sgprs": np.array([d.user_sgprs for d in records], np.int32),
                "scratch": np.array([d.scratch for d in records], bool),
            },
        )

    def _stream(self, stitched: Stitched | None) -> None:
        raw, stream = self.raw, self.stream
        base = raw.epochs["base"]
        constant = self.phase.constant
        instructions = int(raw.inst_counts.sum() + raw.state_counts[3])
        if self._made["instructions"] and stitched is not None:
            instructions = len(self._made["instructions"][-1]["time"])  # type: ignore[arg-type]
        self._made.add(
            "streams",
            {
                "se": [stream.se],
                "dispatch": [stream.dispatch],
                "file": [stream.name],
                "bytes": [stream.size],
                "target_cu": [stream.target_cu],
                "simd_mask": [stream.simd_mask],
                "instructions": [instructions],
                "base": [int(base[0]) if len(base) else -1],
                "phase": [-1 if constant is None else constant],
                "truncated_at": [raw.truncated_at],
                "packets_lost": [int(raw.misc_counts[Misc.PACKET_LOST])],
                "tt_stalls": [int(raw.misc_counts[Misc.TT_STALL_BEGIN])],
                "illegal_tokens": [raw.illegal_tokens],
                "orphan_tokens": [raw.orphan_tokens],
                "resynchronised": [int(stitched.resynchronised.sum()) if stitched else 0],
                "swapped": [int(stitched.swapped.sum()) if stitched else 0],
            },
        )
        if raw.truncated_at >= 0:
            self._made.notes.append(
                f"{stream.name}: byte {raw.truncated_at:#x}: a token runs past the end; what "
                "precedes the cut was decoded (the buffer was probably full)"
            )


def kernel_name(listing: Listing, code_object: int, entry: int) -> str:
    """Symbol whose code the entry is in (with kernarg preload it is symbol + 0x100)."""
    for symbol in listing.symbols:
        if symbol.code_object == code_object and symbol.vaddr in (entry, entry - 0x100):
            return symbol.demangled or symbol.name
    return f"{code_object} / {entry:#x}"
