"""The Timeline: what a capture holds, as documented pandas tables (``schema.COLUMNS``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import Inst
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing
from tracekit.isa.listing_costs import Costs
from tracekit.tables.described import described
from tracekit.tables.states import exact_states

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Timeline:
    """Tables of one capture (``tables.schema.COLUMNS`` documents each column with its unit).

    A value: nothing in it changes; ``select`` and ``with_costs`` give others.
    ``instructions`` is sorted by se, simd, slot, wave and program order; ``executed`` are its
    rows as they were decoded, with numbers for categories.  ``timing`` is "exact" or "amd"; a
    decoded directory has AMD's rows alone.
    """

    capture: str
    timing: str
    arch: ArchChoice
    listing: Listing
    #: What the rows of ``listing`` cost on ``arch``.
    costs: Costs
    waves: pd.DataFrame
    executed: pd.DataFrame
    occupancy: pd.DataFrame
    markers: pd.DataFrame
    counters: pd.DataFrame
    clock: pd.DataFrame
    dispatches: pd.DataFrame
    streams: pd.DataFrame
    #: States that came with the rows (AMD's timing); None: they follow from the rows.
    own_states: pd.DataFrame | None = None
    counter_names: tuple[str, ...] = ()
    marker_names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    #: What decoding has to say; ``notes`` adds what is assumed.
    decode_notes: tuple[str, ...] = ()
    simulated: bool = False
    synthetic: bool = False
    decoded: bool = False
    #: Wave files that a decoded directory names, and how many of them are not there or
    #: cannot be read; its rows that cannot be true; its other files that are lacking.
    listed_waves: int = 0
    missing_waves: int = 0
    damaged_waves: int = 0
    implausible_rows: int = 0
    lacking_files: tuple[str, ...] = ()
    #: Streams that should be here and could not be read, by name.
    streams_left_out: tuple[str, ...] = ()
    #: Columns by which ``select`` left rows out.
    selected_by: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return (
            f"<Timeline {self.capture}: {len(self.executed):,} instructions of "
            f"{len(self.waves):,} waves, {self.shown_timing} timing, {self.arch.name}>"
        )

    @property
    def shown_timing(self) -> str:
        """The timing that the rows really have: decoded directories hold AMD's alone."""
        return "amd" if self.decoded else self.timing

    @property
    def notes(self) -> list[str]:
        """What to know before using the tables, one sentence each."""
        assumed = self._assumption
        return [*self.decode_notes, *([assumed] if assumed else [])]

    @cached_property
    def instructions(self) -> pd.DataFrame:
        """``executed`` with the columns of ``schema.DESCRIBED``, made when first asked for: the
        issue, and by the listing the opcode, its pipe and how long it holds that."""
        return described(self.executed, self.listing, self.costs)

    @cached_property
    def states(self) -> pd.DataFrame:
        """Wave states, made when first asked for."""
        if self.own_states is not None:
            return self.own_states
        return exact_states(self.executed, self.waves)

    @cached_property
    def _assumption(self) -> str:
        """That cycles of MFMAs are assumed, and of how many; "" where none are."""
        cycles = self.costs.assumed_mfma
        if cycles is None:
            return ""
        table = self.executed
        row = table["row"].to_numpy()
        rowless = int(((row < 0) & (table["type"] == Inst.VALU_MAI).to_numpy()).sum())
        number = rowless + int(self.costs.guessed[row[row >= 0]].sum())
        if not number:
            return ""
        return (
            f"matrix cycles are assumed: {cycles} for each of {number} MFMAs of "
            "unknown opcode (--assume-mfma-cycles)"
        )

    def with_costs(
        self, arch: ArchChoice | None = None, assumed_mfma_cycles: int | None = None
    ) -> Timeline:
        """The same tables with the costs of ``arch`` (None: as it is); nothing is decoded.

        ``assumed_mfma_cycles``: every MFMA of unknown cost holds the matrix pipe that long,
        and a note says so.  Unknown are those without a listing row (told by their token
        type) and opcodes that no cost table has; what is known stays.  Raises ValueError for
        an architecture without tables.
        """
        chosen = arch or self.arch
        costs = Costs.of(self.listing.text, chosen.name, assumed_mfma_cycles)
        return replace(self, arch=chosen, costs=costs)

    def select(self, **wanted: int | None) -> Timeline:
        """The part with the given se, cu, simd, slot, wave or dispatch (None: any)."""

        def part(table: pd.DataFrame) -> pd.DataFrame:
            mask: NDArray[np.bool_] = np.ones(len(table), bool)
            for name, value in wanted.items():
                if value is not None and name in table.columns:
                    mask &= (table[name] == value).to_numpy()
            return table if mask.all() else table[mask].reset_index(drop=True)

        asked = {name for name, value in wanted.items() if value is not None}
        if not asked:
            return self
        return replace(
            self,
            selected_by=self.selected_by | asked,
            waves=part(self.waves),
            executed=part(self.executed),
            occupancy=part(self.occupancy),
            markers=part(self.markers),
            counters=part(self.counters),
            clock=part(self.clock),
            dispatches=part(self.dispatches),
            streams=part(self.streams),
            own_states=None if self.own_states is None else part(self.own_states),
        )
