"""SQ counters that the trace carries, beside what the decoded instructions say.

Counters come in two banks of four; names are those of ``filenames.json`` or given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import Category
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("se", "cu", "counter", "name", "samples", "counted", "decoded", "ratio")
#: Counters that equal a number of decoded instructions of these categories.  Checked on a
#: public MI350X capture: 16-bit and 32-bit VALU, MFMA, LDS, buffer, global and scalar work.
INSTRUCTIONS: dict[str, tuple[Category, ...]] = {
    "SQ_ACTIVE_INST_VALU": (Category.VALU,),
    "SQ_ACTIVE_INST_LDS": (Category.LDS,),
    "SQ_ACTIVE_INST_VMEM": (Category.VMEM,),
    "SQ_ACTIVE_INST_FLAT": (Category.FLAT,),
    "SQ_ACTIVE_INST_SCA": (Category.SMEM, Category.SALU),
    "SQ_INSTS_VALU": (Category.VALU,),
    "SQ_INSTS_LDS": (Category.LDS,),
    "SQ_INSTS_SALU": (Category.SALU,),
    "SQ_INSTS_SMEM": (Category.SMEM,),
}
#: Cycles in which the matrix pipes of the CU are busy, summed over SIMDs.
MFMA_CYCLES = "SQ_VALU_MFMA_BUSY_CYCLES"
MFMA_COUNT = "SQ_INSTS_MFMA"


def counters(timeline: Timeline, names: Sequence[str] = ()) -> pd.DataFrame:
    """Counters per SE and CU (COLUMNS).

    ``names`` in the order of the counters; by default the capture's own.  ``decoded`` and
    ``ratio`` (counted / decoded) are null for counters without a name or an equivalent, and
    where no instruction of that CU was traced.
    """
    import pandas as pd

    names = list(names or timeline.counter_names)
    table = timeline.counters
    decoded = _decoded(timeline)
    rows: list[dict[str, object]] = []
    places = table[["se", "cu", "bank"]].drop_duplicates().sort_values(["se", "cu", "bank"])
    for se, cu, bank in places.to_numpy().tolist():
        own_rows = (table["se"] == se) & (table["cu"] == cu) & (table["bank"] == bank)
        group = table[own_rows]
        for column in range(4):
            counter = 4 * bank + column
            name = names[counter] if counter < len(names) else ""
            counted = int(group[f"c{column}"].sum())
            if not name and not counted:
                continue
            own = decoded.get((se, cu), {}).get(name)
            rows.append(
                {
                    "se": se, "cu": cu, "counter": counter, "name": name,
                    "samples": len(group), "counted": counted, "decoded": own,
                    "ratio": counted / own if own else None,
                }
            )  # fmt: skip
    result = pd.DataFrame(rows, columns=list(COLUMNS))
    result["decoded"] = result["decoded"].astype("Int64")
    result["ratio"] = result["ratio"].astype("float64")
    return result


def _decoded(timeline: Timeline) -> dict[tuple[int, int], dict[str, int | None]]:
    """Per traced (se, cu): what each known counter should have counted."""
    table, listing, costs = timeline.executed, timeline.listing, timeline.costs
    if not len(table):
        return {}
    place = table["se"].to_numpy().astype(np.int64) << 8 | table["cu"].to_numpy()
    category = table["category"].to_numpy()
    row = table["row"].to_numpy()
    matrix = np.append(costs.pipe == Pipe.MATRIX, False)[row]
    cycles: NDArray[np.int64] = np.append(costs.cycles.astype(np.int64), 0)[row]
    found: dict[tuple[int, int], dict[str, int | None]] = {}
    for key in np.unique(place).tolist():
        own = place == key
        counts = np.bincount(category[own], minlength=16)
        values: dict[str, int | None] = {
            name: int(counts[list(kinds)].sum()) for name, kinds in INSTRUCTIONS.items()
        }
        mine = own & matrix
        known = bool(len(listing)) and not (cycles[mine] < 0).any()
        values[MFMA_CYCLES] = int(cycles[mine].sum()) if known else None
        values[MFMA_COUNT] = int(mine.sum()) if len(listing) else None
        found[key >> 8, key & 0xFF] = values
    return found
