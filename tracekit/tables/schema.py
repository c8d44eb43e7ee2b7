"""Columns of every table, with the dtype and the unit of each.

Times are cycles of the shader clock, counted from near the start of that SE's stream
(the ``time`` column); clocks of different SEs are not aligned.  Where a column has no
value it holds -1 (integers) or NaN (instruction).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: Columns of every table: name -> (dtype, meaning).
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "waves": {
        "se": ("int16", "shader engine"),
        "cu": ("int8", "compute unit"),
        "simd": ("int8", "SIMD of the CU, 0-3"),
        "slot": ("int8", "wave slot of the SIMD, 0-9"),
        "wave": ("int32", "n-th traced wave of that slot, from 0"),
        "begin": ("int64", "cycles: WAVE_START (first token where the start was not traced)"),
        "end": ("int64", "cycles: WAVE_END (last token where the end was not traced)"),
        "instructions": ("int64", "executed instructions traced"),
        "stitched": ("int64", "of these, how many have a program counter"),
        "complete": ("bool", "both ends traced, no packet lost in between"),
        "dispatch": ("int32", "dispatch id: the file's, plus the ordinal within the stream"),
        "code_object": ("int32", "code object of the entry, 0 unknown"),
        "entry": ("int64", "ELF address of the first instruction (absolute where unknown)"),
        "flags": ("int32", "sqtt.raw.WaveFlag: what is known of its ends and losses"),
    },
    "instructions": {
        "se": ("int16", "shader engine"),
        "cu": ("int8", "compute unit"),
        "simd": ("int8", "SIMD"),
        "slot": ("int8", "wave slot"),
        "wave": ("int32", "n-th wave of the slot"),
        "time": ("int64", "cycles: first attempt to issue"),
        "category": ("int8", "AMD's category 1-11; 0 when its type was lost"),
        "stall": ("int64", "cycles: time + stall = issue"),
        "duration": ("int64", "cycles: time + duration = end of the issue cost"),
        "code_object": ("int32", "code object id, 0 unstitched"),
        "vaddr": ("int64", "ELF address, -1 unstitched"),
        "line": ("int32", "code.json line, -1 without"),
        "instruction": ("category", "disassembly, NaN unstitched"),
        "release": ("int64", "cycles: release of an s_barrier (exact timing), else -1"),
        "dispatch": ("int32", "dispatch id"),
        "row": ("int32", "row of the listing, -1 unstitched"),
        "type": ("int8", "INST token type (gfx9.Inst, INST_IMMED ...), -1 in decoded JSON"),
    },
    "states": {
        "se": ("int16", "shader engine"),
        "cu": ("int8", "compute unit"),
        "simd": ("int8", "SIMD"),
        "slot": ("int8", "wave slot"),
        "wave": ("int32", "n-th wave of the slot"),
        "state": ("category", "EMPTY, IDLE, EXEC, WAIT, STALL"),
        "begin": ("int64", "cycles"),
        "duration": ("int64", "cycles"),
    },
    "occupancy": {
        "se": ("int16", "shader engine"),
        "time": ("int64", "cycles"),
        "cu": ("int8", "compute unit"),
        "simd": ("int8", "SIMD"),
        "slot": ("int8", "wave slot"),
        "start": ("bool", "a wave started (else it ended)"),
        "dispatch": ("int32", "dispatch id, -1 unknown"),
        "code_object": ("int32", "code object of the wave's entry, 0 unknown"),
        "entry": ("int64", "ELF address of the wave's entry"),
    },
    "markers": {
        "se": ("int16", "shader engine"),
        "time": ("int64", "cycles"),
        "cu": ("int8", "compute unit"),
        "simd": ("int8", "SIMD"),
        "slot": ("int8", "wave slot"),
        "value": ("int64", "the 32 bits of M0 at s_ttracedata"),
    },
    "counters": {
        "se": ("int16", "shader engine"),
        "time": ("int64", "cycles: token time - 4 * cu (CUs are read one a tick)"),
        "cu": ("int8", "compute unit"),
        "bank": ("int8", "0: SQ counters 0-3, 1: 4-7"),
        "c0": ("int32", "counts since the sample before"),
        "c1": ("int32", "as c0"),
        "c2": ("int32", "as c0"),
        "c3": ("int32", "as c0"),
    },
    "clock": {
        "se": ("int16", "shader engine"),
        "time": ("int64", "cycles"),
        "realtime": ("int64", "GPU realtime counter"),
        "frequency_hz": ("int64", "of the realtime counter"),
    },
    "dispatches": {
        "dispatch": ("int32", "dispatch id"),
        "se": ("int16", "shader engine"),
        "time": ("int64", "cycles of the initiator write"),
        "me": ("int8", "micro engine"),
        "pipe": ("int8", "pipe"),
        "code_object": ("int32", "code object of the entry, 0 unknown"),
        "entry": ("int64", "ELF address of the entry (absolute where unknown)"),
        "kernel": ("str", "name of the symbol, else 'code object / 0xentry'"),
        "threads_x": ("int32", "workgroup size"),
        "threads_y": ("int32", "workgroup size"),
        "threads_z": ("int32", "workgroup size"),
        "lds_bytes": ("int32", "LDS of a workgroup by COMPUTE_PGM_RSRC2, 512-byte granule"),
        "vgprs": ("int32", "VGPRs of a wave by COMPUTE_PGM_RSRC1"),
        "user_sgprs": ("int32", "user SGPRs"),
        "scratch": ("bool", "uses scratch memory"),
    },
    "streams": {
        "se": ("int16", "shader engine"),
        "dispatch": ("int32", "dispatch id of the file"),
        "file": ("str", "name of the stream"),
        "bytes": ("int64", "size of the stream, 0 for decoded JSON"),
        "target_cu": ("int8", "CU whose instructions are traced, -1 unknown"),
        "simd_mask": ("int8", "SIMDs traced"),
        "instructions": ("int64", "traced"),
        "base": ("int64", "shader clock at time 0, -1 unknown"),
        "phase": ("int8", "constant c of the tick phase, -1 unknown"),
        "truncated_at": ("int64", "byte offset of a cut token, -1 none"),
        "packets_lost": ("int64", "PACKET_LOST tokens"),
        "tt_stalls": ("int64", "times the trace stalled the shader"),
        "illegal_tokens": ("int64", "tokens naming a wave slot above 9"),
        "orphan_tokens": ("int64", "instruction types without an issue"),
        "resynchronised": ("int64", "times the stitcher had to search its place"),
        "swapped": ("int64", "pairs of types that came out of order"),
    },
}

#: What Timeline.instructions has beside, or in place of, the decoded columns.
DESCRIBED: dict[str, tuple[str, str]] = {
    "category": ("category", "AMD's category by name, lost where its type was; as a number: "
                 "table['category'].cat.codes, or Timeline.executed"),
    "issue": ("int64", "cycles: it leaves the wave; time + stall, of s_waitcnt, s_nop and the "
              "like their end - 4"),
    "opcode": ("category", "mnemonic, NaN unstitched"),
    "pipe": ("category", "the pipe that executes it by the cost table, none unstitched"),
    "pipe_cycles": ("int16", "cycles that it holds the pipe, -1 unknown or unstitched"),
}  # fmt: skip


def columns(table: str) -> dict[str, tuple[str, str]]:
    """The columns of the Timeline's table of that name."""
    return COLUMNS[table] | (DESCRIBED if table == "instructions" else {})


def frame(table: str, columns: dict[str, object]) -> pd.DataFrame:
    """A DataFrame of ``columns`` with the documented dtypes, without copying arrays."""
    import pandas as pd

    data: dict[str, object] = {}
    for name, (dtype, _) in COLUMNS[table].items():
        values = columns[name]
        if dtype not in ("category", "str"):
            values = np.asarray(values, dtype)
        data[name] = values
    return pd.DataFrame(data, copy=False)


def categorical(codes: NDArray[np.integer[Any]], labels: pd.Index[str]) -> pd.Categorical[Any]:
    """A categorical column of ``codes`` into ``labels`` (-1: no value)."""
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=labels)
