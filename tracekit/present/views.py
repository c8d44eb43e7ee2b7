"""Tables that commands and notebooks show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.present.cells import Column, address, mean, number, percent, word

if TYPE_CHECKING:
    import pandas as pd

#: What tells the rows of an SE apart, but for its SIMDs.
SIMDS = ("se", "cu", "dispatch", "window")
OCCUPANCY = {
    "se": Column("SE", rank=0),
    "cu": Column("CU"),
    "simd": Column("SIMD", rank=0),
    "dispatch": Column("dispatch", rank=2),
    "waves": Column("waves", rank=2),
    "window_cycles": Column("window cycles", number),
    "mfma": Column("MFMA", number, rank=2),
    "matrix_occupancy": Column("matrix", percent, rank=0),
    "vector_occupancy": Column("vector", percent, rank=0),
    "overlap": Column("both", percent),
    "neither": Column("neither", percent),
    "coissued": Column("co-issued", percent, rank=2),
    "issue_window": Column("MFMA issue", percent, rank=2),
    "violations": Column("violations", number),
}
WAITS = {
    "vaddr": Column("wait", address, rank=0),
    "counter": Column("counter", left=True, rank=0),
    "value": Column("n", number),
    "count": Column("count", number),
    "waited_median": Column("waited", mean, rank=0),
    "waited_total": Column("total", number, rank=0),
    "lead_median": Column("lead", mean),
    "latency_median": Column("latency", mean),
    "hidden": Column("hidden", percent),
    "producer_vaddr": Column("for", address),
    "producer_instruction": Column("producer", word, left=True, rank=0, cut=True),
    "next_mfma_vaddr": Column("MFMA", address),
    "source": Column("source", word, left=True, rank=2),
}
LOADS = {
    "vaddr": Column("PC", address, rank=0),
    "counter": Column("counter", left=True, rank=0),
    "count": Column("count", number),
    "waited_for": Column("waited for", number, rank=0),
    "lead_min": Column("lead min", mean),
    "lead_median": Column("median", mean),
    "lead_max": Column("max", mean),
    "done_min": Column("to its wait's end, min", mean),
    "done_median": Column("median", mean),
    "done_max": Column("max", mean),
    "instruction": Column("instruction", left=True, rank=0, cut=True),
    "source": Column("source", word, left=True, rank=2),
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
