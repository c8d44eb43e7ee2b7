"""Windows: the cycles that a number is about.

``span`` is the first instruction's issue to the last one's issue + 4 on that SIMD;
``START:END`` cycles of that SE's time column, or per cent of the span with a ``%`` sign;
``marker:NAME`` the cycles in which a wave of the SIMD is inside that marker scope.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tracekit.analysis.intervals import Intervals, union
from tracekit.analysis.markers import scopes
from tracekit.analysis.simds import Simd
from tracekit.errors import TracekitError
from tracekit.timeline import Timeline

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
    if name != "span" and not name.startswith("marker:") and not _RANGE.match(name):
        raise UnknownWindow(
            f"unknown window {name!r}: use span, START:END in cycles, START%:END% or marker:NAME"
        )


def window_of(timeline: Timeline, simd: Simd, name: str) -> Window:
    """The window ``name`` on one SIMD.

    Raises UnknownWindow for a name that is none, an empty range, or a marker that no wave
    of the capture carries.
    """
    check(name)
    first, last = simd.span
    if name == "span":
        return Window("span", union([first], [last]))
    if name.startswith("marker:"):
        return _marker(timeline, simd, name)
    found = _RANGE.match(name)
    assert found is not None
    length = last - first
    edges = [
        first + round(float(value) / 100 * length) if per_cent else round(float(value))
        for value, per_cent in ((found[1], found[2]), (found[3], found[4]))
    ]
    if edges[1] <= edges[0]:
        raise UnknownWindow(f"window {name!r} is empty: {edges[0]} to {edges[1]} cycles")
    return Window(name, union(edges[:1], edges[1:]))


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
