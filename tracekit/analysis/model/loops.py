"""Loops as the waves ran them: from the back edges that were taken.

A back edge is a taken branch to an earlier (or its own) address; loops with one header are
one loop.  An *iteration* runs from an execution of the header to the next one that a back
edge reaches, the last one to the end of the branch that was not taken; a visit to the
header that leaves before any such branch is no iteration.  Times are issues.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.tables.described import issues
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.int64]

WAVE = ("se", "cu", "simd", "slot", "wave")
COLUMNS = (
    "loop", "dispatch", "dominant", "depth", "parent", "code_object", "header_vaddr",
    "tail_vaddr", "header_line", "tail_line", "instructions", "waves", "entries", "iterations",
    "cycles_p10", "cycles_p50", "cycles_p90", "matrix_cycles", "wave_cycles", "share",
)  # fmt: skip
ITERATION_COLUMNS = ("loop", "dispatch", *WAVE, "iteration", "begin", "end", "first", "last")
PHASE_COLUMNS = (
    "dispatch", *WAVE, "iterations", "prologue_cycles", "loop_cycles", "epilogue_cycles",
)  # fmt: skip


@dataclass
class Loops:
    """Loops of a timeline.

    ``rows``: one per loop and dispatch (COLUMNS); ``iterations``: one per iteration of a wave
    (ITERATION_COLUMNS: begin and end in cycles, first and last + 1 as positions in the
    instruction table); ``phases``: per wave that runs the dominant loop (PHASE_COLUMNS);
    ``dominant``: dispatch -> its dominant loop.
    """

    rows: pd.DataFrame
    iterations: pd.DataFrame
    phases: pd.DataFrame
    dominant: dict[int, int] = field(default_factory=dict)
    #: loop -> listing rows of its header and its last branch.
    bodies: dict[int, tuple[int, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of_dominant(self, dispatch: int) -> pd.DataFrame:
        """The iterations of the dominant loop of ``dispatch``; empty without one."""
        return self.iterations[self.iterations["loop"] == self.dominant.get(dispatch, -1)]


@dataclass
class _Rows:
    """Columns of the instruction table, of one dispatch: ``at`` are their positions."""

    at: NDArray[np.intp]
    row: NDArray[np.int64]
    issue: Array
    end: Array
    wave: Array  # ordinal of the wave

    def same_wave(self) -> NDArray[np.bool_]:
        """Whether the next row is of the same wave (n - 1 values)."""
        same: NDArray[np.bool_] = self.wave[1:] == self.wave[:-1]
        return same


def loops(timeline: Timeline) -> Loops:
    """The loops that the traced waves ran.

    The dominant loop of a dispatch is the one in which most matrix cycles were issued, not
    counting those of loops inside it; without MFMAs the one with most wave cycles.
    """
    import pandas as pd

    rows: list[dict[str, object]] = []
    iterations: list[pd.DataFrame] = []
    found = Loops(pd.DataFrame(), pd.DataFrame(), pd.DataFrame())
    for dispatch, part, keys in _dispatches(timeline):
        number = len(rows)
        static = _static(part, timeline.listing)
        table = _iterations(part, static)
        for line in _describe(part, static, table, timeline):
            parent = int(line["parent"])  # type: ignore[call-overload]
            line |= {"loop": number + int(line["loop"]), "dispatch": dispatch}  # type: ignore[call-overload]
            line["parent"] = number + parent if parent >= 0 else -1
            rows.append(line)
        table["loop"] += number
        for name, values in zip(WAVE, keys, strict=True):
            table[name] = values[table["wave_number"].to_numpy()]
        table["dispatch"] = dispatch
        iterations.append(table)
        for offset, header in enumerate(static.header.tolist()):
            found.bodies[number + offset] = (header, int(static.tail[offset]))
        best = max(
            (row for row in rows[number:] if row["iterations"]),
            key=lambda row: (row["matrix_cycles"], row["wave_cycles"]),
            default=None,
        )
        if best is not None:
            best["dominant"] = True
            found.dominant[dispatch] = int(best["loop"])  # type: ignore[call-overload]
    found.rows = pd.DataFrame(rows, columns=list(COLUMNS))
    found.iterations = (
        pd.concat(iterations, ignore_index=True)[list(ITERATION_COLUMNS)]
        if iterations
        else pd.DataFrame(columns=list(ITERATION_COLUMNS), dtype=np.int64)
    )
    found.phases = _phases(timeline, found)
    if not len(found.rows):
        found.notes.append("no loop was run (or no instruction has a program counter)")
    return found


def _dispatches(timeline: Timeline) -> list[tuple[int, _Rows, list[NDArray[np.int64]]]]:
    """(dispatch, its instructions, its waves as one array per column of WAVE)."""
    table = timeline.executed
    if not len(table):
        return []
    columns = {name: table[name].to_numpy().astype(np.int64) for name in (*WAVE, "dispatch")}
    time, stall = table["time"].to_numpy(), table["stall"].to_numpy()
    duration = table["duration"].to_numpy()
    issue = issues(table["category"].to_numpy().astype(np.int64), time, stall, duration)
    fresh = np.ones(len(table), bool)
    fresh[1:] = np.any([np.diff(values) != 0 for values in columns.values()], axis=0)
    wave = np.cumsum(fresh) - 1
    row = table["row"].to_numpy().astype(np.int64)
    found = []
    for dispatch in np.unique(columns["dispatch"]).tolist():
        at = np.flatnonzero(columns["dispatch"] == dispatch)
        first = wave[at[0]]
        starts = np.flatnonzero(fresh)
        keys = [columns[name][starts][first:] for name in WAVE]
        part = _Rows(at, row[at], issue[at], (time + duration)[at], wave[at] - first)
        found.append((int(dispatch), part, keys))
    return found


@dataclass
class _Static:
    """Loops by their addresses: listing rows of ``header`` and last ``tail``; ``depth`` from
    1, ``parent`` -1; and per listing row: the loop it is the header of, the loop whose back
    edge it is, the innermost loop around it (-1: none)."""

    header: Array
    tail: Array
    depth: Array
    parent: Array
    header_of: Array
    tail_of: Array
    inner: Array


def _static(part: _Rows, listing: Listing) -> _Static:
    row, after = part.row[:-1], part.row[1:]
    branch = np.append(listing.expect == Expect.BRANCH, False)[row]
    back = branch & part.same_wave() & (after >= 0) & (after <= row)
    edges = np.unique(np.stack([after[back], row[back]]), axis=1)
    header, index = np.unique(edges[0], return_inverse=True)
    tail = np.full(len(header), -1, np.int64)
    np.maximum.at(tail, index, edges[1])
    inside = (header[None] <= header[:, None]) & (tail[:, None] <= tail[None])
    np.fill_diagonal(inside, False)
    size = tail - header
    parent = np.full(len(header), -1, np.int64)
    for loop in np.flatnonzero(inside.any(1)).tolist():
        around = np.flatnonzero(inside[loop])
        parent[loop] = around[np.argmin(size[around])]
    n = len(listing) + 1  # one more: row -1 is in no loop
    header_of, tail_of, inner = (np.full(n, -1, np.int64) for _ in range(3))
    header_of[header] = np.arange(len(header))
    tail_of[edges[1]] = index
    for loop in np.argsort(-size, kind="stable").tolist():
        inner[header[loop] : tail[loop] + 1] = loop
    return _Static(header, tail, inside.sum(1) + 1, parent, header_of, tail_of, inner)


def _iterations(part: _Rows, static: _Static) -> pd.DataFrame:
    """Every iteration: loop, wave_number, iteration (n-th of the wave), begin, end, ..."""
    import pandas as pd

    n = len(part.row)
    loop_at = static.header_of[part.row]
    visit = np.flatnonzero(loop_at >= 0)
    visit = visit[np.argsort(loop_at[visit], kind="stable")]
    loop, wave = loop_at[visit], part.wave[visit]
    before = np.maximum(visit - 1, 0)
    again = (visit > 0) & (part.wave[before] == wave)
    again &= static.tail_of[part.row[before]] == loop
    same = (loop[1:] == loop[:-1]) & (wave[1:] == wave[:-1])
    followed = np.append(same & again[1:], False)[: len(visit)]
    ends = np.searchsorted(part.wave, wave, side="right")
    limit = np.where(np.append(same, False)[: len(visit)], np.append(visit[1:], n), ends)
    # The last branch back before the limit; its key sorts by loop, then by position.
    tails = np.flatnonzero(static.tail_of[part.row] >= 0)
    keys = np.sort(static.tail_of[part.row[tails]] * n + tails)
    at = np.searchsorted(keys, loop * n + limit) - 1
    last = np.where(at >= 0, keys[at] - loop * n, -1) if len(keys) else np.full(len(visit), -1)
    done = followed | (last >= visit)
    stop = np.where(followed, limit, last + 1)[done]
    visit, loop, wave, followed = visit[done], loop[done], wave[done], followed[done]
    end = np.where(followed, part.issue[np.minimum(stop, n - 1)], part.end[stop - 1])
    fresh = np.ones(len(loop), bool)
    fresh[1:] = (loop[1:] != loop[:-1]) | (wave[1:] != wave[:-1])
    group = np.flatnonzero(fresh)
    ordinal = np.arange(len(loop)) - np.repeat(group, np.diff(np.append(group, len(loop))))
    return pd.DataFrame(
        {
            "loop": loop,
            "wave_number": wave,
            "iteration": ordinal,
            "begin": part.issue[visit],
            "end": end,
            "first": part.at[visit],
            "last": part.at[stop - 1] + 1,
            "again": again[done],
        }
    )


def _describe(
    part: _Rows, static: _Static, table: pd.DataFrame, timeline: Timeline
) -> list[dict[str, object]]:
    """One row of COLUMNS for each loop of one dispatch, numbered from 0, without dispatch."""
    listing, costs = timeline.listing, timeline.costs
    inner = static.inner[part.row]
    within = np.append(part.same_wave(), False)
    step = np.where(within, np.append(part.issue[1:], 0) - part.issue, part.end - part.issue)
    count = len(static.header)
    pipe, cycles = np.append(costs.pipe, 0), np.append(costs.cycles, 0).astype(np.int64)
    matrix = np.where(pipe == Pipe.MATRIX, np.maximum(cycles, 0), 0)[part.row]
    mine = inner >= 0
    matrix_cycles = np.bincount(inner[mine], matrix[mine], minlength=count)
    wave_cycles = np.bincount(inner[mine], step[mine], minlength=count)
    total = max(int(step.sum()), 1)
    loop = table["loop"].to_numpy()
    length = (table["end"] - table["begin"]).to_numpy()
    wave, again = table["wave_number"].to_numpy(), table["again"].to_numpy()
    rows: list[dict[str, object]] = []
    for i, (header, tail) in enumerate(
        zip(static.header.tolist(), static.tail.tolist(), strict=True)
    ):
        own = loop == i
        quantiles = np.percentile(length[own], (10, 50, 90)).tolist() if own.any() else [None] * 3
        rows.append(
            {
                "loop": i,
                "dominant": False,
                "depth": int(static.depth[i]),
                "parent": int(static.parent[i]),
                "code_object": int(listing.code_object[header]),
                "header_vaddr": int(listing.vaddr[header]),
                "tail_vaddr": int(listing.vaddr[tail]),
                "header_line": int(listing.line[header]),
                "tail_line": int(listing.line[tail]),
                "instructions": tail - header + 1,
                "waves": len(np.unique(wave[own])),
                "entries": int((own & ~again).sum()),
                "iterations": int(own.sum()),
                "cycles_p10": quantiles[0],
                "cycles_p50": quantiles[1],
                "cycles_p90": quantiles[2],
                "matrix_cycles": int(matrix_cycles[i]),
                "wave_cycles": int(wave_cycles[i]),
                "share": wave_cycles[i] / total,
            }
        )
    return rows


def _phases(timeline: Timeline, found: Loops) -> pd.DataFrame:
    """Prologue, loop and epilogue of each wave that runs its dispatch's dominant loop."""
    import pandas as pd

    table = found.iterations
    own = table[table["loop"].isin(list(found.dominant.values()))]
    if not len(own):
        return pd.DataFrame(columns=list(PHASE_COLUMNS))
    instructions = timeline.executed
    keys = ["dispatch", *WAVE]
    grouped = own.groupby(keys, sort=False)
    phases = grouped.agg(
        iterations=("begin", "size"), begin=("begin", "min"), end=("end", "max"),
        position=("first", "min"),
    ).reset_index()  # fmt: skip
    positions = phases["position"].to_numpy()
    wave = np.zeros(len(instructions), bool)
    wave[1:] = np.any([np.diff(instructions[name].to_numpy()) != 0 for name in keys], axis=0)
    starts = np.append(np.append(0, np.flatnonzero(wave)), len(instructions))
    at = np.searchsorted(starts, positions, side="right") - 1
    first, last = starts[at], starts[at + 1] - 1
    issue = issues(
        *(instructions[name].to_numpy()[np.append(first, last)].astype(np.int64)
          for name in ("category", "time", "stall", "duration"))
    )  # fmt: skip
    half = len(first)
    phases["prologue_cycles"] = phases["begin"] - issue[:half]
    phases["loop_cycles"] = phases["end"] - phases["begin"]
    phases["epilogue_cycles"] = np.maximum(issue[half:] + 4 - phases["end"].to_numpy(), 0)
    return phases[list(PHASE_COLUMNS)]
