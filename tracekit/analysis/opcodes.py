"""What each opcode of the dominant loop costs an iteration: the budget, taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.budget import turns
from tracekit.analysis.model.loops import Loops, loops
from tracekit.analysis.model.mix import opcode_of, row_cycles
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("dispatch", "pipe", "class", "opcode", "count", "cycles_each", "cycles")
#: Pipes in the order of the table.
_ORDER = (Pipe.MATRIX, Pipe.VECTOR, Pipe.LDS, Pipe.VMEM, Pipe.SCALAR, Pipe.BRANCH, Pipe.NONE)


def opcodes(timeline: Timeline, rates: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Executions and pipe cycles per iteration of a wave and opcode (COLUMNS), by dispatch.

    Means over the iterations that ``budget`` counts, of all wave slots.  ``cycles`` is
    null where the cost of an opcode is unknown or none is counted (internal instructions).
    ``rates``: as in ``budget``.
    """
    return opcodes_of(timeline, loops(timeline), rates)


def opcodes_of(
    timeline: Timeline, found: Loops, rates: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """``opcodes`` from the loops of the timeline."""
    import pandas as pd

    listing, costs = timeline.listing, timeline.costs
    chosen = turns(timeline, found)
    row = timeline.executed["row"].to_numpy()
    cycles = row_cycles(listing, costs, rates)
    tables = []
    for dispatch, own in chosen.groupby("dispatch", sort=True):
        edges = np.zeros(len(row) + 1, np.int64)
        np.add.at(edges, own["first"].to_numpy(), 1)
        np.add.at(edges, own["last"].to_numpy(), -1)
        within = np.cumsum(edges[:-1])
        there = (within > 0) & (row >= 0)
        executed = np.bincount(row[there], within[there], minlength=len(listing)) / len(own)
        ran = np.flatnonzero(executed)
        table = pd.DataFrame(
            {
                "pipe": costs.pipe[ran],
                "class": costs.klass[ran],
                "opcode": [opcode_of(listing.text[at]) for at in ran.tolist()],
                "cycles_each": cycles[ran],
                "count": executed[ran],
            }
        )
        keys = ["pipe", "class", "opcode", "cycles_each"]
        tables.append(table.groupby(keys, as_index=False).sum().assign(dispatch=dispatch))
    if not tables:
        return pd.DataFrame(columns=list(COLUMNS))
    result = pd.concat(tables, ignore_index=True)
    known = (result["cycles_each"] >= 0) & (result["pipe"] != Pipe.NONE)
    result["cycles_each"] = result["cycles_each"].astype("Int64").where(known)
    result["cycles"] = result["count"] * result["cycles_each"].astype("Float64")
    order = {int(pipe): number for number, pipe in enumerate(_ORDER)}
    result["order"] = result["pipe"].map(order)
    result["pipe"] = [Pipe(pipe).name.lower() for pipe in result["pipe"].tolist()]
    result = result.sort_values(
        ["dispatch", "order", "cycles", "count"], ascending=[True, True, False, False],
        kind="stable", ignore_index=True,
    )  # fmt: skip
    return result[list(COLUMNS)]
