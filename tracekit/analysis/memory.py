"""Bytes that memory instructions move: per iteration, per cycle, per instruction.

Bytes are those of the mnemonic times 64 lanes: which lanes were active is not traced, so all
of them are upper bounds.  A load straight to the LDS moves its bytes on both paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.names import Cause
from tracekit.analysis.budget import turns
from tracekit.analysis.causes import Causes, SimdCauses
from tracekit.analysis.clock import Clock
from tracekit.analysis.model.mix import parts
from tracekit.isa.mfma import row as matrix_row
from tracekit.isa.traffic import widths
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

_KEY = ("se", "cu", "dispatch")
_RATES = (
    "memory_bytes", "lds_bytes", "memory_bytes_per_cycle", "lds_bytes_per_cycle", "memory_share",
    "lds_share", "lds_busy_share", "flop", "flop_per_byte",
)  # fmt: skip
COLUMNS = ("se", "cu", "simd", "dispatch", "window", "start", "end", "window_cycles", "intervals",
           *_RATES)  # fmt: skip
CU_COLUMNS = (*_KEY, "simds", *_RATES, "memory_refused_share", "lds_refused_share", "bound",
              "mhz", "chip_cus", "chip_terabytes_per_second")  # fmt: skip
ITERATION_COLUMNS = (*_KEY, "simd", "slot", "iterations", "cycles", "memory_bytes", "lds_bytes")
INSTRUCTION_COLUMNS = (
    "dispatch", "code_object", "vaddr", "line", "source", "instruction", "memory_bytes_each",
    "lds_bytes_each", "executed", "memory_bytes", "lds_bytes", "refused_cycles",
)  # fmt: skip
#: Bytes that a CU takes a cycle from its vector memory path, and from its LDS.  Source: AMD's
#: CDNA3 white paper (L1 64 bytes, LDS 128 bytes a clock); gfx950 reads its LDS at up to twice
#: that, which ``lds_busy_share`` (service time) respects.
MEMORY_PATH, LDS_PATH = 64, 128
#: Part of a path from which on its bytes speak for a bound: refusals alone may be a burst.
AGREES = 0.5
#: CUs of the largest chip of an architecture (a GCD of MI250X, MI300X and MI325X, MI350X).
CHIP_CUS = {"gfx90a": 110, "gfx942": 304, "gfx950": 256}


@dataclass(frozen=True)
class Memory:
    """``rows`` per SIMD (COLUMNS), ``cus`` per CU (CU_COLUMNS: rates are the sums of its
    SIMDs', ``bound``: "memory_bound", "lds_bound" or ""), ``iterations`` per wave slot (means
    of an iteration of one wave, ITERATION_COLUMNS), ``instructions`` (INSTRUCTION_COLUMNS:
    in the window, most bytes first).

    Shares are of MEMORY_PATH and LDS_PATH bytes a cycle of the CU, also in ``rows``.
    """

    rows: pd.DataFrame
    cus: pd.DataFrame
    iterations: pd.DataFrame
    instructions: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def memory_of(timeline: Timeline, found: Causes, clock: Clock) -> Memory:
    """The bytes of a timeline in the window of ``found``."""
    import pandas as pd

    memory, lds = widths(timeline.listing.text)
    service = parts(timeline.listing, timeline.costs)["lds_data"]
    flop = _flop(timeline)
    executed = [_executed(simd) for simd in found.simds]
    rows = []
    for simd, row in zip(found.simds, executed, strict=True):
        view, cycles = simd.simd, max(simd.window.cycles, 1)
        moved, local, work = (int(each[row].sum()) for each in (memory, lds, flop))
        rows.append((
            view.se, view.cu, view.simd, view.dispatch, simd.window.label, simd.window.start,
            simd.window.end, simd.window.cycles, len(simd.window.intervals), moved, local,
            moved / cycles, local / cycles, moved / cycles / MEMORY_PATH,
            local / cycles / LDS_PATH, int(service[row].sum()) / cycles, work,
            work / moved if moved else None,
        ))  # fmt: skip
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    notes = [*found.notes, "bytes are upper bounds: which lanes are active is not traced"]
    return Memory(
        table,
        _cus(table, found, timeline.arch.name, clock.mhz),
        _iterations(timeline, found, memory, lds),
        _instructions(timeline, found, executed, memory, lds),
        notes,
    )


def judged(simds: pd.DataFrame, cus: pd.DataFrame) -> pd.DataFrame:
    """``simds`` of a budget, where latency_bound gives way to what its CU's bytes agree on."""
    known = cus[cus["bound"] != ""]
    named = known[list(_KEY)].itertuples(index=False, name=None)
    bounds = dict(zip(named, known["bound"], strict=True))
    keys = simds[list(_KEY)].itertuples(index=False, name=None)
    verdicts = [
        bounds.get(key, verdict) if verdict == "latency_bound" else verdict
        for key, verdict in zip(keys, simds["verdict"], strict=True)
    ]
    return simds.assign(verdict=verdicts)


def _executed(simd: SimdCauses) -> Array:
    """Listing rows that the SIMD issues in its window, -1 where unknown."""
    within = simd.window.intervals
    time = simd.simd.issue
    at = np.searchsorted(within.start, time, side="right") - 1
    inside = (at >= 0) & (time < np.append(within.end, 0)[at])
    return simd.simd.row[inside].astype(np.int64)


def _flop(timeline: Timeline) -> Array:
    """Operations of each listing row as an MFMA."""
    found = [matrix_row(timeline.arch.name, text) if text.startswith("v_") else None
             for text in timeline.listing.text]  # fmt: skip
    return np.array([0 if each is None else each.flop for each in found] + [0], np.int64)


def _cus(table: pd.DataFrame, found: Causes, arch: str, mhz: float | None) -> pd.DataFrame:
    import pandas as pd

    refused = {
        cause: [int(s.view.pieces.cycles[s.view.pieces.cause == cause].sum()) for s in found.simds]
        for cause in (Cause.VMEM, Cause.LDS)
    }
    idle = [simd.view.idle for simd in found.simds]
    largest = [_largest(simd) for simd in found.simds]
    rows = []
    for key, part in table.groupby(list(_KEY), sort=True):
        sums: dict[str, float | None] = {name: part[name].sum() for name in _RATES}
        moved = int(part["memory_bytes"].sum())
        sums["flop_per_byte"] = int(part["flop"].sum()) / moved if moved else None
        at = part.index.tolist()
        whole = max(sum(idle[i] for i in at), 1)
        shares = {cause: sum(cycles[i] for i in at) / whole for cause, cycles in refused.items()}
        most = [largest[i] for i in at]
        seconds = None if mhz is None else mhz * 1e6
        rate = float(part["memory_bytes_per_cycle"].sum())
        rows.append((
            *key, len(part), *(sums[name] for name in _RATES), shares[Cause.VMEM],
            shares[Cause.LDS], _bound(most, *part[["memory_share", "lds_busy_share"]].sum()), mhz,
            CHIP_CUS[arch], None if seconds is None else rate * seconds * CHIP_CUS[arch] / 1e12,
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=list(CU_COLUMNS))


def _largest(simd: SimdCauses) -> int:
    return int(simd.totals().argmax())


def _bound(largest: list[int], memory: float, lds: float) -> str:
    """What both refusals (the largest cause on most SIMDs) and bytes say; "" where they differ."""
    for name, cause, share in (
        ("memory_bound", Cause.VMEM, memory), ("lds_bound", Cause.LDS, lds)
    ):  # fmt: skip
        if 2 * largest.count(cause) > len(largest) and share >= AGREES:
            return name
    return ""


def _iterations(timeline: Timeline, found: Causes, memory: Array, lds: Array) -> pd.DataFrame:
    import pandas as pd

    counted = turns(timeline, found.loops)
    row = timeline.executed["row"].to_numpy()
    first, last = counted["first"].to_numpy(), counted["last"].to_numpy()
    for name, width in (("memory_bytes", memory), ("lds_bytes", lds)):
        sums = np.append(0, np.cumsum(width[row]))
        counted[name] = sums[last] - sums[first]
    counted["cycles"] = counted["end"] - counted["begin"]
    if not len(counted):
        return pd.DataFrame(columns=list(ITERATION_COLUMNS))
    grouped = counted.groupby([*_KEY, "simd", "slot"], sort=True)
    result = grouped[["cycles", "memory_bytes", "lds_bytes"]].mean()
    result["iterations"] = grouped.size()
    return pd.DataFrame(result.reset_index()[list(ITERATION_COLUMNS)])


def _instructions(
    timeline: Timeline, found: Causes, executed: list[Array], memory: Array, lds: Array
) -> pd.DataFrame:
    import pandas as pd

    listing, rows = timeline.listing, found.charges.facts.rows
    refused: dict[tuple[int, int], int] = {}
    counts: dict[int, Array] = {}
    for simd, row in zip(found.simds, executed, strict=True):
        number, pieces = simd.simd.dispatch, simd.view.pieces
        mine = np.isin(pieces.cause, (Cause.VMEM, Cause.LDS)) & (pieces.row >= 0)
        for at, cycles in zip(rows.row[pieces.row[mine]].tolist(), pieces.cycles[mine].tolist(),
                              strict=True):  # fmt: skip
            refused[number, at] = refused.get((number, at), 0) + cycles
        count = np.bincount(row[row >= 0], minlength=len(listing))
        counts[number] = counts.get(number, 0 * count) + count
    result = []
    for number, count in sorted(counts.items()):
        for at in np.flatnonzero((count > 0) & (memory + lds > 0)[:-1]).tolist():
            n = int(count[at])
            result.append((
                number, int(listing.code_object[at]), int(listing.vaddr[at]),
                int(listing.line[at]), listing.source[at], listing.text[at], int(memory[at]),
                int(lds[at]), n, n * int(memory[at]), n * int(lds[at]),
                refused.get((number, at), 0),
            ))  # fmt: skip
    table = pd.DataFrame(result, columns=list(INSTRUCTION_COLUMNS))
    order = (table["memory_bytes"] + table["lds_bytes"]).sort_values(ascending=False, kind="stable")
    return table.loc[order.index].reset_index(drop=True)
