"""Windows: the cycles that a number is about.

``steady`` is the set of cycles in which at least one wave is resident on the SIMD and every
resident wave that runs the dominant loop is between the end of its first and the start of
its last iteration: neither filling nor draining.  It may have gaps, where one wave has left
the loop and the next is not yet in it.

``span`` is the first instruction's issue to the last one's issue + 4 on that SIMD;
``START:END`` cycles of that SE's time column, or per cent of the span with a ``%`` sign;
``marker:NAME`` the cycles in which a wave of the SIMD is inside that marker scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.model.intervals import Intervals, subtract, union
from tracekit.analysis.model.loops import Loops, loops
from tracekit.analysis.model.markers import scopes
from tracekit.analysis.model.simds import Simd
from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]

DEFAULT = "steady"
#: Fewer iterations than this have no middle.
STEADY_ITERATIONS = 3
_RANGE = re.compile(r"(-?[\d.]+)(%?):(-?[\d.]+)(%?)$")


@dataclass(frozen=True)
class Window:
    """``label`` as printed; ``intervals`` the cycles; ``note`` why it is not what was asked."""

    label: str
    intervals: Intervals
    note: str = ""

    @property
    def cycles(self) -> int:
        return self.intervals.cycles

    @property
    def start(self) -> int:
        return int(self.intervals.start[0]) if len(self.intervals) else 0

    @property
    def end(self) -> int:
        return int(self.intervals.end[-1]) if len(self.intervals) else 0


class UnknownWindow(TracekitError):
    """The window asked for does not exist."""

    exit_code = 2


def check(name: str) -> None:
    """Raise UnknownWindow when ``name`` is no window."""
    if name not in ("steady", "span") and not name.startswith("marker:") and not _RANGE.match(name):
        raise UnknownWindow(
            f"unknown window {name!r}: use steady, span, START:END in cycles, START%:END% or "
            "marker:NAME"
        )


class Windows:
    """The window ``name`` on each SIMD of a timeline; ``find`` gives its loops when asked.

    Raises UnknownWindow for a name that is none.
    """

    def __init__(
        self, timeline: Timeline, name: str, find: Callable[[], Loops] | None = None
    ) -> None:
        check(name)
        self.timeline, self.name, self._find = timeline, name, find

    @cached_property
    def loops(self) -> Loops:
        """The loops of the timeline."""
        return loops(self.timeline) if self._find is None else self._find()

    def of(self, simd: Simd) -> Window:
        """The window on one SIMD.

        Raises UnknownWindow for an empty range, or a marker that no wave carries.
        """
        first, last = simd.span
        if self.name == "steady":
            return _steady(self.timeline, simd, self.loops)
        if self.name == "span":
            return Window("span", union([first], [last]))
        if self.name.startswith("marker:"):
            return _marker(self.timeline, simd, self.name)
        found = _RANGE.match(self.name)
        assert found is not None
        length = last - first
        edges = [
            first + round(float(value) / 100 * length) if per_cent else round(float(value))
            for value, per_cent in ((found[1], found[2]), (found[3], found[4]))
        ]
        if edges[1] <= edges[0]:
            raise UnknownWindow(f"window {self.name!r} is empty: {edges[0]} to {edges[1]} cycles")
        note = ""
        if edges[0] < first or edges[1] > last:
            note = (
                f"window {self.name} reaches beyond what some SIMD ran: its cycles outside of "
                "window span count as idle"
            )
        return Window(self.name, union(edges[:1], edges[1:]), note)


def window_of(timeline: Timeline, simd: Simd, name: str) -> Window:
    """The window ``name`` on one SIMD; see ``Windows``, which is cheaper for several."""
    return Windows(timeline, name).of(simd)


def residence(timeline: Timeline, simd: Simd) -> tuple[Array, Array, Array]:
    """(key, begin, end) of each wave of the SIMD; key as in Simd.wave_key."""
    waves = timeline.waves
    own = (waves["se"] == simd.se) & (waves["simd"] == simd.simd)
    own &= waves["dispatch"] == simd.dispatch
    part = waves[own.to_numpy()]
    key = part["slot"].to_numpy().astype(np.int64) << 32 | part["wave"].to_numpy()
    return key, part["begin"].to_numpy(), part["end"].to_numpy()


def _steady(timeline: Timeline, simd: Simd, found: Loops) -> Window:
    first, last = simd.span
    span = union([first], [last])
    table = found.of_dominant(simd.dispatch)
    table = table[((table["se"] == simd.se) & (table["simd"] == simd.simd)).to_numpy()]
    key = table["slot"].to_numpy().astype(np.int64) << 32 | table["wave"].to_numpy()
    keys, start, counts = np.unique(key, return_index=True, return_counts=True)
    if not len(keys) or counts.max() < STEADY_ITERATIONS:
        most = int(counts.max()) if len(keys) else 0
        what = f"{most} iterations" if most else "no loop"
        return Window("span", span, f"window steady needs {STEADY_ITERATIONS} iterations of a "
                      f"loop; there is {what} on some SIMD: span is used there")  # fmt: skip
    begin, end = table["begin"].to_numpy(), table["end"].to_numpy()
    wave, born, died = residence(timeline, simd)
    enters = dict(zip(keys.tolist(), end[start].tolist(), strict=True))
    leaves = dict(zip(keys.tolist(), begin[start + counts - 1].tolist(), strict=True))
    none = np.iinfo(np.int64).max
    enter = np.array([enters.get(k, none) for k in wave.tolist()], np.int64)
    leave = np.array([leaves.get(k, none) for k in wave.tolist()], np.int64)
    runs = enter != none
    born_r, died_r = born[runs], died[runs]
    enter, leave = np.clip(enter[runs], born_r, died_r), leave[runs]
    leave = np.clip(np.maximum(leave, enter), born_r, died_r)
    outside = union(np.append(born_r, leave), np.append(enter, died_r))
    steady = subtract(union(born, died), outside)
    if not len(steady):
        return Window("span", span, "on some SIMD its waves are never all in the middle of their "
                      "loop: window span is used there instead of steady")  # fmt: skip
    return Window("steady", steady)


def _marker(timeline: Timeline, simd: Simd, name: str) -> Window:
    wanted = name.removeprefix("marker:")
    table = scopes(timeline)
    named = table[(table["name"] == wanted) | (table["id"].astype(str) == wanted)]
    if not len(named):
        known = ", ".join(sorted(set(table["name"]))) or "none"
        raise UnknownWindow(f"no marker scope {wanted!r} in this capture (there: {known})")
    keys = np.unique(simd.wave_key)
    own = (named["se"] == simd.se) & (named["simd"] == simd.simd) & (named["wave"] >= 0)
    part = named[own.to_numpy()]
    mine = np.isin(part["slot"].to_numpy() << 32 | part["wave"].to_numpy(), keys)
    part = part[mine]
    return Window(name, union(part["begin"].to_numpy(), part["end"].to_numpy()))
