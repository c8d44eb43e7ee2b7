"""Which kernels the traced waves ran."""

from __future__ import annotations

import re

import numpy as np

from tracekit.tables.timeline import Timeline

#: A kernel that no symbol names: "code object / 0xentry".
_NAMELESS = re.compile(r"\d+ / 0x[0-9a-f]+$")


def kernel_names(timeline: Timeline) -> tuple[str, ...]:
    """Names of the kernels that the traced waves ran, in order of their dispatches.

    By the dispatches of the waves (all of them where no wave was traced), else by the symbol
    around the waves' entry.  Empty where nothing names them.
    """
    waves, table = timeline.waves, timeline.dispatches
    if len(waves) and len(table):
        own = table[table["dispatch"].isin(waves["dispatch"].unique())]
        table = own if len(own) else table
    names = [name for name in table["kernel"].tolist() if name and not _NAMELESS.match(name)]
    return tuple(dict.fromkeys(names or _by_symbol(timeline)))


def _by_symbol(timeline: Timeline) -> list[str]:
    """Names of the symbols that the waves' entries lie behind."""
    names = []
    entered = timeline.waves[["code_object", "entry"]].drop_duplicates().to_numpy().tolist()
    for code_object, entry in entered:
        own = [s for s in timeline.listing.symbols if s.code_object == code_object]
        own.sort(key=lambda symbol: symbol.vaddr)
        at = int(np.searchsorted([symbol.vaddr for symbol in own], entry, side="right")) - 1
        if at >= 0:
            names.append(own[at].name)
    return names
