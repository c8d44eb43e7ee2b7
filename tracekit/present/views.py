"""Tables that commands and notebooks show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.present.cells import Column, address, mean, number, percent, word

if TYPE_CHECKING:
    import pandas as pd

OCCUPANCY = {
    "se": Column("SE"),
    "cu": Column("CU"),
    "simd": Column("SIMD"),
    "dispatch": Column("dispatch"),
    "waves": Column("waves"),
    "window_cycles": Column("window cycles", number),
    "mfma": Column("MFMA", number),
    "matrix_occupancy": Column("matrix", percent),
    "vector_occupancy": Column("vector", percent),
    "overlap": Column("both", percent),
    "neither": Column("neither", percent),
    "coissued": Column("co-issued", percent),
    "issue_window": Column("MFMA issue", percent),
    "violations": Column("violations", number),
}
WAITS = {
    "vaddr": Column("wait", address),
    "counter": Column("counter", left=True),
    "value": Column("n", number),
    "count": Column("count", number),
    "waited_median": Column("waited", mean),
    "waited_total": Column("total", number),
    "lead_median": Column("lead", mean),
    "latency_median": Column("latency", mean),
    "hidden": Column("hidden", percent),
    "producer_vaddr": Column("for", address),
    "producer_instruction": Column("producer", word, left=True),
    "next_mfma_vaddr": Column("MFMA", address),
    "source": Column("source", word, left=True),
}
LOADS = {
    "vaddr": Column("PC", address),
    "counter": Column("counter", left=True),
    "count": Column("count", number),
    "waited_for": Column("waited for", number),
    "lead_min": Column("lead min", mean),
    "lead_median": Column("median", mean),
    "lead_max": Column("max", mean),
    "done_min": Column("to its wait's end, min", mean),
    "done_median": Column("median", mean),
    "done_max": Column("max", mean),
    "instruction": Column("instruction", left=True),
    "source": Column("source", word, left=True),
}


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of an occupancy with columns of cycles as shares of the window too."""
    found = {
        name: rows[column] / rows["window_cycles"]
        for name, column in (
            ("overlap", "overlap_cycles"), ("neither", "neither_cycles"),
            ("coissued", "coissued_cycles"), ("issue_window", "issue_window_cycles"),
        )
    }  # fmt: skip
    return rows.assign(**found)
