"""Everything that can be asked of a timeline in a window, each answer computed once.

Commands, exports, the dashboard and Python users ask here::

    analysis = Analysis(tracekit.open(path).timeline(), "steady")
    analysis.occupancy.rows, analysis.causes, analysis.in_window("span").budget
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from tracekit.analysis.attribution.engine import Charges, Facts, charges
from tracekit.analysis.bubbles import MINIMUM, Bubbles, bubbles_of
from tracekit.analysis.budget import Budget, budget_of
from tracekit.analysis.causes import Causes, causes_in
from tracekit.analysis.checks.findings import Quality
from tracekit.analysis.checks.quality import quality
from tracekit.analysis.clock import Clock, clock
from tracekit.analysis.hotspots import Hotspots, hotspots
from tracekit.analysis.maps import by_offset, by_time
from tracekit.analysis.memory import Memory, judged, memory_of
from tracekit.analysis.model.intervals import Intervals
from tracekit.analysis.model.loops import Loops, loops
from tracekit.analysis.model.once import once
from tracekit.analysis.model.simds import each_simd
from tracekit.analysis.model.window import DEFAULT, Windows
from tracekit.analysis.occupancy import Occupancy, occupancy_in
from tracekit.analysis.opcodes import opcodes_of
from tracekit.analysis.overlap import Overlap, overlap_in
from tracekit.analysis.residency import residents
from tracekit.analysis.shapes import Shapes, shapes_in
from tracekit.analysis.waits.table import Waits, loads, waits
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


#: Filters that leave SIMDs whole.
_OF_SIMDS = {"se", "cu", "simd", "dispatch"}


class _Whole:
    """Answers that no window changes."""

    def __init__(
        self,
        timeline: Timeline,
        judged: Quality | None,
        charge: Callable[[], Charges] | None = None,
    ) -> None:
        self.timeline, self._judged, self.lock = timeline, judged, RLock()
        self._charge = charge or (lambda: charges(timeline))

    @once
    def quality(self) -> Quality:
        return self._judged or quality(self.timeline)

    @once
    def charges(self) -> Charges:
        return self._charge()

    @once
    def loops(self) -> Loops:
        return loops(self.timeline)

    @once
    def hotspots(self) -> Hotspots:
        return hotspots(self.timeline)

    @once
    def clock(self) -> Clock:
        return clock(self.timeline)


class Analysis:
    """Answers about ``timeline`` in ``window`` (see ``analysis.model.window``).

    Raises UnknownWindow for a name that is none.  ``judged`` is the verdict on the capture
    that the timeline is a part of; by default the timeline itself is judged.  May be asked
    from several threads.
    """

    def __init__(
        self, timeline: Timeline, window: str = DEFAULT, *, judged: Quality | None = None
    ) -> None:
        self.windows = Windows(timeline, window, lambda: self.loops)
        self._whole = _Whole(timeline, judged)
        self.lock = self._whole.lock
        #: What this is some SIMDs of: its CUs have more.
        self._beside: Analysis | None = None

    @property
    def timeline(self) -> Timeline:
        return self._whole.timeline

    @property
    def window(self) -> str:
        return self.windows.name

    def in_window(self, window: str) -> Analysis:
        """The same timeline in another window; what no window changes is shared."""
        other = Analysis(self.timeline, window)
        other._whole, other.lock, other._beside = self._whole, self.lock, self._beside
        return other

    def select(self, **wanted: int | None) -> Analysis:
        """The part with the given se, cu, simd, ... under the verdict on the whole.

        Causes of whole SIMDs are those of the whole: a barrier is followed to waves that the
        part does not have.
        """
        part = self.timeline.select(**wanted)
        if part is self.timeline:
            return self
        asked = {name: value for name, value in wanted.items() if value is not None}
        made = Analysis(part, self.window, judged=self.quality)
        if set(asked) <= _OF_SIMDS:
            made._whole = _Whole(part, self.quality, lambda: self._whole.charges.select(**asked))
            made.lock, made._beside = made._whole.lock, self
        return made

    @property
    def charges(self) -> Charges:
        """The cause of every idle cycle of the whole trace."""
        return self._whole.charges

    def noted(self, note: str) -> Analysis:
        """The same with one more note of its timeline; "" for none."""
        if not note:
            return self
        notes = (*self.timeline.decode_notes, note)
        made = Analysis(replace(self.timeline, decode_notes=notes), self.window)
        made._whole = _Whole(made.timeline, self.quality, lambda: self._whole.charges)
        made.lock, made._beside = made._whole.lock, self._beside
        return made

    @property
    def quality(self) -> Quality:
        return self._whole.quality

    @property
    def loops(self) -> Loops:
        return self._whole.loops

    @property
    def hotspots(self) -> Hotspots:
        return self._whole.hotspots

    @property
    def clock(self) -> Clock:
        return self._whole.clock

    @once
    def occupancy(self) -> Occupancy:
        return occupancy_in(self.windows)

    @once
    def causes(self) -> Causes:
        return causes_in(self.windows, self._whole.charges)

    @once
    def bubbles(self) -> Bubbles:
        return self.bubbles_from(MINIMUM)

    @once
    def budget(self) -> Budget:
        return self.budget_at({})

    @once
    def memory(self) -> Memory:
        return memory_of(self.timeline, self.causes, self.clock)

    @property
    def cus(self) -> pd.DataFrame:
        """Bytes of whole CUs (memory.CU_COLUMNS), also where some of their SIMDs were selected."""
        if self._beside is None:
            return self.memory.cus
        own = self._beside.in_window(self.window).cus
        here = self.memory.cus[["se", "cu", "dispatch"]]
        return own.merge(here, on=["se", "cu", "dispatch"])

    @once
    def overlap(self) -> Overlap:
        return overlap_in(self.windows)

    @once
    def shapes(self) -> Shapes:
        return shapes_in(self.windows)

    @once
    def by_offset(self) -> pd.DataFrame:
        return by_offset(self.causes)

    @once
    def by_time(self) -> pd.DataFrame:
        return by_time(self.causes)

    def waits_of(self, *, per_simd: bool = False) -> Waits:
        """Which memory operation each s_waitcnt waits for, in the window."""
        facts = self.charges.facts
        within = self._within(facts)
        return waits(facts.rows, self.timeline.listing, facts.queues, within, per_simd)

    def loads_of(self, *, per_simd: bool = False) -> pd.DataFrame:
        """The same by memory instruction."""
        facts = self.charges.facts
        within = self._within(facts)
        return loads(facts.rows, self.timeline.listing, facts.queues, within, per_simd)

    @once
    def residents(self) -> pd.DataFrame:
        """Share of each SIMD's window with 0, 1, 2, ... resident waves."""
        chosen = [(simd, self.windows.of(simd)) for simd in each_simd(self.timeline)]
        return residents(self.timeline, chosen)

    def _within(self, facts: Facts) -> dict[int, Intervals]:
        """The window of each SIMD of the timeline, by the number that the facts give it."""
        return {
            facts.rows.number(simd): self.windows.of(simd).intervals
            for simd in each_simd(self.timeline)
        }

    def bubbles_from(self, minimum: int) -> Bubbles:
        """Bubbles of at least ``minimum`` cycles."""
        return bubbles_of(self.timeline, self.causes, minimum)

    def budget_at(self, rates: Mapping[str, int]) -> Budget:
        """The budget with the cycles ``rates`` of opcodes in place of the tables'."""
        found = budget_of(self.timeline, self.causes, rates)
        return replace(found, simds=judged(found.simds, self.cus))

    def opcodes(self, rates: Mapping[str, int] | None = None) -> pd.DataFrame:
        """What each opcode costs an iteration; ``rates`` as in ``budget_at``."""
        return opcodes_of(self.timeline, self.loops, rates)
