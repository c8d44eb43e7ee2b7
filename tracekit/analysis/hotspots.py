"""Where the time goes, line by line: rocprofv3's sums, and what they consist of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.analysis.model.code import CodeLines, code_lines
from tracekit.analysis.model.line_sums import Sums, line_sums, listed_sums
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

#: Columns of rocprofv3's stats CSV, and the keys that they have here.
STATS = {
    "CodeObj": "code_object",
    "Vaddr": "vaddr",
    "Instruction": "instruction",
    "Hitcount": "hits",
    "Latency": "latency_cycles",
    "Stall": "stall_cycles",
    "Idle": "idle_cycles",
    "Source": "source",
}
#: What tracekit adds, behind them.
OWN = (
    "matrix_cycles", "vector_cycles", "refused_cycles", "nop_cycles", "waitcnt_cycles",
    "barrier_cycles",
)  # fmt: skip


@dataclass
class Hotspots:
    """``rows``: STATS' keys and OWN, one row a label or line of code, by address.

    ``lines`` are the same rows by listing row and line number.  ``counted`` is False where
    the sums are those of code.json, because no wave is there.
    """

    rows: pd.DataFrame
    lines: CodeLines
    counted: bool
    notes: list[str] = field(default_factory=list)


def hotspots(timeline: Timeline) -> Hotspots:
    """Sums per line of code over all waves of the timeline (OWN is null where unknown).

    Lines of symbols that did not run are left out.  Without a single traced instruction the
    sums of a decoded directory's code.json are given, and a note says so.
    """
    counted = len(timeline.executed) > 0
    sums = line_sums(timeline) if counted else listed_sums(timeline.listing)
    lines = code_lines(timeline.listing, sums.hits)
    return Hotspots(_table(timeline, lines, sums), lines, counted, _notes(timeline, sums))


def _table(timeline: Timeline, lines: CodeLines, sums: Sums) -> pd.DataFrame:
    import pandas as pd

    listing, label, row = timeline.listing, lines.row < 0, lines.row
    labels = [lines.symbols[i] for i in lines.symbol[label].tolist()]

    def merged(of_label: list[Any], of_row: Any) -> list[Any]:
        heads = iter(of_label)
        return [next(heads) if r < 0 else of_row[r] for r in row.tolist()]

    columns: dict[str, object] = {
        "code_object": merged([s.code_object for s in labels], listing.code_object.tolist()),
        "vaddr": merged([s.vaddr for s in labels], listing.vaddr.tolist()),
        "instruction": merged([f"; {s.name}" for s in labels], listing.text),
        "hits": sums.hits,
        "latency_cycles": sums.latency,
        "stall_cycles": sums.stall,
        "idle_cycles": sums.idle,
        "source": merged([s.demangled for s in labels], listing.source),
    } | _own(listing, timeline.costs, sums)
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            picked = pd.Series(np.append(values, 0)[row], dtype="Int64")
            columns[name] = picked.mask(picked < 0)
    return pd.DataFrame(columns)


def _own(listing: Listing, costs: Costs, sums: Sums) -> dict[str, object]:
    """OWN per listing row, -1 where unknown."""
    cycles, text = costs.cycles.astype(np.int64), listing.text
    found: dict[str, object] = {}
    for name, pipe in (("matrix_cycles", Pipe.MATRIX), ("vector_cycles", Pipe.VECTOR)):
        busy = np.where(cycles >= 0, np.maximum(sums.hits, 0) * cycles, -1)
        found[name] = np.where(costs.pipe == pipe, busy, 0)
    parts = {
        "refused_cycles": ~np.isin(listing.expect, (Expect.IMMED, Expect.BARRIER, Expect.SKIP)),
        "nop_cycles": np.array([t.startswith("s_nop") for t in text], bool),
        "waitcnt_cycles": np.array([t.startswith("s_waitcnt") for t in text], bool),
    }
    found |= {name: np.where(mask, sums.stall, 0) for name, mask in parts.items()}
    return found | {"barrier_cycles": sums.barrier}


def _notes(timeline: Timeline, sums: Sums) -> list[str]:
    if len(timeline.executed):
        lost = int((timeline.executed["row"] < 0).sum())
        return [f"{lost:,} instructions have no program counter: they are in no line"] * (lost > 0)
    if not (sums.hits > 0).any():
        return ["no instruction was traced and the listing brings no counts"]
    if timeline.missing_waves:
        why = f"{timeline.missing_waves} of {timeline.listed_waves} wave files are missing"
    else:
        why = "the capture holds no waves"
    return [f"the sums are code.json's, over all waves in AMD timing, because {why}"]
