"""Marker scopes as a flame table: time by the stack of scopes, over all waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.model.markers import scopes
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("stack", "name", "depth", "entries", "waves", "cycles", "self_cycles",
           "cycles_p50")  # fmt: skip
POINT_COLUMNS = ("se", "cu", "simd", "slot", "time", "id", "name")
_WAVE = ["se", "cu", "simd", "slot", "wave"]


def flames(timeline: Timeline) -> pd.DataFrame:
    """One row per stack of marker scopes (COLUMNS), in order of first appearance.

    ``stack``: names from the outside in, joined by ";".  ``cycles``: sum over waves from
    entry to exit; ``self_cycles``: without the scopes inside.
    """
    import pandas as pd

    table = scopes(timeline)
    stacks: list[str] = [""] * len(table)
    inner = np.zeros(len(table), np.int64)
    path: list[int] = []
    owner: tuple[object, ...] = ()
    keys = list(table[_WAVE].itertuples(index=False, name=None))
    depth, names = table["depth"].tolist(), table["name"].tolist()
    length = (table["end"] - table["begin"]).tolist()
    for i, key in enumerate(keys):
        if key != owner:
            path, owner = [], key
        del path[depth[i] :]
        if path:
            inner[path[-1]] += length[i]
            stacks[i] = f"{stacks[path[-1]]};{names[i]}"
        else:
            stacks[i] = names[i]
        path.append(i)
    table["stack"], table["cycles"] = stacks, length
    table["self_cycles"] = table["cycles"] - inner
    table["key"] = keys
    if not len(table):
        return pd.DataFrame(columns=list(COLUMNS))
    grouped = table.groupby("stack", sort=False)
    result = grouped.agg(
        name=("name", "first"), depth=("depth", "first"), entries=("cycles", "size"),
        waves=("key", "nunique"), cycles=("cycles", "sum"), self_cycles=("self_cycles", "sum"),
        cycles_p50=("cycles", "median"),
    )  # fmt: skip
    return result.reset_index()[list(COLUMNS)]


def points(timeline: Timeline) -> pd.DataFrame:
    """Markers that neither enter nor leave a scope (POINT_COLUMNS)."""
    table = timeline.markers
    found = table[(table["value"] & 3) == 0].copy()
    found["id"] = np.right_shift(found["value"].to_numpy(), 2)
    found["name"] = [timeline.marker_names.get(i, str(i)) for i in found["id"].tolist()]
    return found[list(POINT_COLUMNS)].reset_index(drop=True)
