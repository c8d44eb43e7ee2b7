"""Whether the listing of a decoded directory is that of its waves, by what they executed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.decoded.plausible import contradicted
from tracekit.tables.columns import Columns
from tracekit.tables.listing_tables import ListingTables
from tracekit.tables.parts import Parts

#: Share of instructions of another category than their line from which the listing is
#: another kernel's: of the public captures none has a single one.
MOST_CONTRADICTED = 0.1


def believe(parts: Parts, tables: ListingTables) -> None:
    """Take the line from instructions of another category; from all where they are many."""
    pieces: list[Any] = list(parts["instructions"])
    wrong = [contradicted(tables.listing, p["row"], p["category"]) for p in pieces]
    count, total = sum(int(w.sum()) for w in wrong), sum(len(w) for w in wrong)
    if not count:
        return
    share = f"{count} of {total} instructions are of another category than their line"
    if count > MOST_CONTRADICTED * total:
        parts.notes.append(f"code.json: {share}: it is not of these waves, not used")
        wrong = [np.ones(len(w), bool) for w in wrong]
    else:
        parts.notes.append(f"code.json: {share}: they have none")
    for piece, wave, each in zip(pieces, parts["waves"], wrong, strict=True):
        _unstitch(piece, wave, each, tables)


def _unstitch(
    piece: Columns, wave: Columns, wrong: NDArray[np.bool_], tables: ListingTables
) -> None:
    row: Any = piece["row"]
    row = np.where(wrong, -1, row).astype(np.int32)
    piece |= {
        "row": row,
        "code_object": tables.code_object[row],
        "vaddr": tables.vaddr[row],
        "line": tables.line[row],
        "instruction": tables.text_code[row],
    }
    wave["stitched"] = [int((row >= 0).sum())]
