"""The rows of ``tracekit.waits/1``: which memory operation each s_waitcnt waits for.

lead = the wait's start - the issue of the youngest operation that it needs, at least 0;
waited = its duration, of which ISSUE cycles are its own.  A wait that took longer than that
tells the latency (lead + waited - ISSUE); one that did not tells nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals
from tracekit.analysis.model.rows import Rows
from tracekit.analysis.waits.consumers import consumers
from tracekit.analysis.waits.queues import COUNTERS, Queue
from tracekit.isa.listing import Listing
from tracekit.isa.listing_costs import Costs

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

#: Cycles that an s_waitcnt takes when nothing is outstanding.
ISSUE = 4
COLUMNS = (
    "se", "cu", "simd", "dispatch", "code_object", "vaddr", "line", "source", "instruction",
    "counter", "value", "count", "waited_median", "waited_total", "lead_median", "latency_min",
    "latency_median", "latency_max", "hidden", "exact", "covered", "producer_vaddr",
    "producer_instruction", "producer_source", "consumer_vaddr", "consumer_instruction",
    "next_mfma_vaddr", "both", "split",
)  # fmt: skip
#: Executions of a wait that have no row there, or share one.
APART_COLUMNS = (
    "dispatch", "code_object", "vaddr", "instruction", "counter", "executions", "no_producer",
    "unknown",
)  # fmt: skip
LOAD_COLUMNS = (
    "se", "cu", "simd", "dispatch", "code_object", "vaddr", "line", "source", "instruction",
    "counter", "count", "waited_for", "lead_min", "lead_median", "lead_max", "done_min",
    "done_median", "done_max",
)  # fmt: skip
_SIMD = ["se", "cu", "simd"]


@dataclass
class Waits:
    """``rows`` (COLUMNS), largest waited_total first; ``apart`` (APART_COLUMNS): executions per
    wait and counter, with those that needed nothing and those whose producer is unknown;
    ``single``: share of the executions with a known producer that need exactly one operation,
    None without any.

    ``exact``: executions whose latency is known; ``covered``: operations that the wait needs
    (median); ``both``: executions that needed the other counter too, and so give no latency;
    ``split``: the neighbour in the listing waits for the same counter, as compilers write it
    for debugging; se, cu and simd are None in sums over SIMDs.
    """

    rows: pd.DataFrame
    apart: pd.DataFrame
    single: float | None


def waits(
    rows: Rows,
    listing: Listing,
    found: tuple[Queue, Queue],
    within: dict[int, Intervals] | None = None,
    per_simd: bool = False,
) -> Waits:
    """The waits that start ``within`` the intervals of their SIMD (None: anywhere).

    ``found`` is ``queues(rows, listing)``; keys of ``within`` are ``Waves.simd_of``.
    """
    import pandas as pd

    table = _executions(rows, found, within)
    apart = table.groupby(["dispatch", "wait_row", "counter"], sort=True).agg(
        executions=("wait", "size"), no_producer=("nothing", "sum"), unknown=("unknown", "sum")
    ).reset_index()  # fmt: skip
    _describe(apart, listing, "wait_row")
    apart["counter"] = [COUNTERS[i] for i in apart["counter"]]
    known = table[table["producer"] >= 0].reset_index(drop=True)
    single = float((known["covered"] == 1).mean()) if len(known) else None
    keys = [*(_SIMD if per_simd else []), "dispatch", "wait_row", "counter", "producer_row"]
    grouped = known.groupby(keys, sort=False)
    result = grouped.agg(
        value=("value", "first"), count=("wait", "size"), waited_median=("waited", "median"),
        waited_total=("waited", "sum"), lead_median=("lead", "median"),
        latency_min=("latency", "min"), latency_median=("latency", "median"),
        latency_max=("latency", "max"), exact=("latency", "count"),
        covered=("covered", "median"), both=("both", "sum"), lead=("lead", "sum"),
        wait=("wait", "first"), producer=("producer", "first"),
    ).reset_index()  # fmt: skip
    whole = result["lead"] + result["waited_total"] - ISSUE * result["count"]
    result["hidden"] = (result["lead"] / whole).where(whole > 0)
    _describe(result, listing, "wait_row")
    result["counter"] = [COUNTERS[i] for i in result["counter"]]
    reader, mfma = consumers(
        rows, listing, result["wait"].to_numpy(), result["producer"].to_numpy()
    )
    for name, at in (("producer", result["producer"].to_numpy()), ("consumer", reader),
                     ("next_mfma", mfma)):  # fmt: skip
        _name(result, listing, name, np.where(at >= 0, np.append(rows.row, -1)[at], -1))
    result["split"] = _split(listing, rows.costs)[result["wait_row"].to_numpy()]
    for name in () if per_simd else _SIMD:
        result[name] = None
    result = result.sort_values(["waited_total", "vaddr"], ascending=[False, True])
    return Waits(
        pd.DataFrame(result[list(COLUMNS)]).reset_index(drop=True),
        apart[list(APART_COLUMNS)],
        single,
    )


def loads(
    rows: Rows,
    listing: Listing,
    found: tuple[Queue, Queue],
    within: dict[int, Intervals] | None = None,
    per_simd: bool = False,
) -> pd.DataFrame:
    """One row per memory instruction and counter (LOAD_COLUMNS), most executed first.

    ``lead``: issue to the start of the first wait that needs it; ``done``: to that wait's end,
    less its own ISSUE cycles; over those ``waited_for`` of ``count`` executions.
    """
    import pandas as pd

    parts = []
    for queue in found:
        wait = np.full(len(queue.operations), -1)
        size = np.where(queue.needs, queue.last - queue.first, 0)
        slot = np.repeat(queue.first - (np.cumsum(size) - size), size) + np.arange(size.sum())
        wait[slot] = np.repeat(queue.wait, size)
        op = queue.operations
        lead = np.maximum(rows.time[wait] - rows.issue[op], 0) if len(rows) else wait
        done = np.maximum(rows.end[wait] - ISSUE - rows.issue[op], 0) if len(rows) else wait
        own = wait >= 0
        parts.append(pd.DataFrame({
            **_place(rows, op), "load_row": rows.row[op], "counter": COUNTERS[queue.counter],
            "own": own, "lead": np.where(own, lead, np.nan), "done": np.where(own, done, np.nan),
        })[_inside(rows, op, rows.issue, within)])  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    keys = [*(_SIMD if per_simd else []), "dispatch", "load_row", "counter"]
    result = table.groupby(keys, sort=False).agg(
        count=("own", "size"), waited_for=("own", "sum"),
        **{f"{name}_{how}": (name, how) for name in ("lead", "done")
           for how in ("min", "median", "max")},
    ).reset_index()  # fmt: skip
    _describe(result, listing, "load_row")
    for name in () if per_simd else _SIMD:
        result[name] = None
    result = result.sort_values(["count", "vaddr"], ascending=[False, True])
    return pd.DataFrame(result[list(LOAD_COLUMNS)]).reset_index(drop=True)


def _executions(
    rows: Rows, found: tuple[Queue, Queue], within: dict[int, Intervals] | None
) -> pd.DataFrame:
    """One row per executed wait and counter that it names."""
    import pandas as pd

    needing = [np.zeros(len(rows), bool) for _ in found]
    for queue, mask in zip(found, needing, strict=True):
        mask[queue.wait] = queue.needs | queue.unknown
    parts = []
    for queue, other in zip(found, reversed(needing), strict=True):
        wait, producer = queue.wait, queue.producer
        waited = rows.end[wait] - rows.time[wait]
        lead = np.zeros(len(wait), np.int64)
        told = producer >= 0
        lead[told] = np.maximum(rows.time[wait[told]] - rows.issue[producer[told]], 0)
        both = other[wait] & (queue.needs | queue.unknown)
        sample = told & (waited > ISSUE) & ~both
        parts.append(pd.DataFrame({
            **_place(rows, wait), "wait": wait, "wait_row": rows.row[wait],
            "counter": int(queue.counter), "value": queue.value, "producer": producer,
            "producer_row": np.where(told, np.append(rows.row, -1)[producer], -1),
            "waited": waited, "lead": lead, "both": both, "unknown": queue.unknown,
            "nothing": ~queue.needs & ~queue.unknown, "covered": queue.last - queue.first,
            "latency": np.where(sample, lead + waited - ISSUE, np.nan),
        })[_inside(rows, wait, rows.time, within)])  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _place(rows: Rows, at: Array) -> dict[str, Array]:
    wave = rows.wave[at]
    return {name: getattr(rows.waves, name)[wave] for name in (*_SIMD, "dispatch")}


def _inside(
    rows: Rows, at: Array, time: Array, within: dict[int, Intervals] | None
) -> NDArray[np.bool_]:
    if within is None:
        return np.ones(len(at), bool)
    result = np.zeros(len(at), bool)
    simd = rows.waves.simd_of[rows.wave[at]]
    for number, window in within.items():
        mine = np.flatnonzero(simd == number)
        place = np.searchsorted(window.start, time[at[mine]], side="right") - 1
        ends = np.append(window.end, 0)[place]
        result[mine] = (place >= 0) & (time[at[mine]] < ends)
    return result


def _describe(table: pd.DataFrame, listing: Listing, column: str) -> None:
    """Add code_object, vaddr, line, source and instruction of the listing rows in ``column``."""
    row = table[column].to_numpy().astype(np.int64)
    for name in ("code_object", "vaddr", "line"):
        table[name] = np.append(getattr(listing, name), -1)[row]
    table["source"] = [listing.source[i] if i >= 0 else "" for i in row.tolist()]
    table["instruction"] = [listing.text[i] if i >= 0 else "" for i in row.tolist()]


def _name(table: pd.DataFrame, listing: Listing, name: str, row: Array) -> None:
    """Add vaddr (-1 none), instruction and source of listing rows, as ``name``_..."""
    table[f"{name}_vaddr"] = np.append(listing.vaddr, -1)[row]
    table[f"{name}_instruction"] = [listing.text[i] if i >= 0 else "" for i in row.tolist()]
    table[f"{name}_source"] = [listing.source[i] if i >= 0 else "" for i in row.tolist()]


def _split(listing: Listing, costs: Costs) -> NDArray[np.bool_]:
    """Listing rows that wait next to a wait for the same counter."""
    result = np.zeros(len(listing) + 1, bool)
    for counter in COUNTERS:
        names = np.array([f"{counter}(" in text for text in listing.text], bool)
        wait = names & (costs.klass == "wait")
        pair = np.flatnonzero(wait[:-1] & wait[1:])
        result[pair] = result[pair + 1] = True
    return result
