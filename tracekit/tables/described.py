"""Executed instructions as people read them: names for numbers, the pipe and its cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import Category
from tracekit.isa.classify import mnemonic
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs
from tracekit.tables.schema import categorical

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

#: Names of categories by their number (gfx9.Category); 0 is "lost".
CATEGORIES = ("lost", *(each.name.lower() for each in Category if each))


def issues(category: Array, time: Array, stall: Array, duration: Array) -> Array:
    """Issue times of instruction rows (of an IMMED its completion)."""
    # IMMED and MESSAGE rows of AMD's start before they issue; their end tells when.
    late = (category == Category.IMMED) | (category == Category.MESSAGE)
    return np.where(late, time + duration - 4, time + stall)


def described(executed: pd.DataFrame, listing: Listing, costs: Costs) -> pd.DataFrame:
    """``executed`` with the columns of ``schema.DESCRIBED``; what it has is not copied."""
    import pandas as pd

    row = executed["row"].to_numpy()
    numbers = executed["category"].to_numpy()
    names = np.array([mnemonic(text) for text in listing.text], np.str_)
    opcodes, code = np.unique(names, return_inverse=True)
    time, stall, duration = (executed[name].to_numpy() for name in ("time", "stall", "duration"))
    pipes = [each.name.lower() for each in Pipe]
    table = {str(name): executed[name] for name in executed.columns}
    return pd.DataFrame(
        table
        | {
            "category": categorical(numbers, pd.Index(CATEGORIES)),
            "issue": issues(numbers, time, stall, duration),
            "opcode": categorical(np.append(code, -1)[row].astype(np.int32), pd.Index(opcodes)),
            "pipe": categorical(np.append(costs.pipe, Pipe.NONE)[row].astype(np.int8),
                                pd.Index(pipes)),
            "pipe_cycles": np.append(costs.cycles, np.int16(-1))[row].astype(np.int16),
        },
        copy=False,
    )  # fmt: skip
