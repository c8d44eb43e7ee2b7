"""What is known of one kernel in a window: the tables that its page and its advice rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.attribution.names import CAUSES
from tracekit.analysis.attribution.removable import Chains, chains
from tracekit.analysis.attribution.tables import instructions, places, totals
from tracekit.analysis.attribution.view import View
from tracekit.analysis.causes import SimdCauses
from tracekit.analysis.comparison.runs import ALL, Metric, Run, measure
from tracekit.analysis.explain.keys import Keys
from tracekit.analysis.explain.page import Ref
from tracekit.analysis.model.kernels import kernel_names
from tracekit.analysis.residency import limits, tail
from tracekit.tables.timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd


#: What tells instructions apart in the tables: code.json of rocprofv2 has no addresses.
PLACE = ["code_object", "vaddr", "line"]


@dataclass(frozen=True)
class Evidence:
    """One kernel: the SIMDs of an analysis that ran one of its ``dispatches``."""

    analysis: Analysis
    kernel: str
    dispatches: tuple[int, ...]
    keys: Keys

    @property
    def timeline(self) -> Timeline:
        return self.analysis.timeline

    @cached_property
    def simds(self) -> list[SimdCauses]:
        """The SIMDs of the kernel in the window."""
        own = set(self.dispatches)
        return [one for one in self.analysis.causes.simds if one.simd.dispatch in own]

    @property
    def views(self) -> list[View]:
        return [one.view for one in self.simds]

    @cached_property
    def window_cycles(self) -> int:
        return sum(one.window.cycles for one in self.simds)

    @cached_property
    def idle(self) -> int:
        """Matrix-idle cycles of all SIMDs."""
        return sum(view.idle for view in self.views)

    @property
    def matrix_cycles(self) -> int:
        """Matrix-busy cycles of all SIMDs."""
        return self.window_cycles - self.idle

    @cached_property
    def cycles(self) -> dict[str, int]:
        """Idle cycles by cause."""
        sums = sum((one.totals() for one in self.simds), np.zeros(len(CAUSES), np.int64))
        return dict(zip(CAUSES, sums.tolist(), strict=True))

    def share(self, *causes: str) -> float:
        """Share of the idle cycles that ``causes`` have."""
        return sum(self.cycles[name] for name in causes) / max(self.idle, 1)

    @property
    def mfmas(self) -> bool:
        """Whether any of its SIMDs ran an MFMA."""
        return any(view.charges.mfmas for view in self.views)

    @cached_property
    def totals(self) -> pd.DataFrame:
        return totals(self.analysis.charges, self.views)

    @cached_property
    def instructions(self) -> pd.DataFrame:
        return instructions(self.timeline, self.analysis.charges, self.views)

    @cached_property
    def places(self) -> pd.DataFrame:
        return places(self.timeline, self.analysis.charges, self.views)

    @cached_property
    def chains(self) -> Chains:
        return chains(self.analysis.charges, self.views)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """Waits of the window, with the idle ``cycles`` charged to each; of one wait and counter
        the producer that was waited for longest."""
        table = self._own(self.analysis.waits_of().rows)
        key = ["dispatch", *PLACE]
        table = table.drop_duplicates([*key, "counter"])
        charged = self.instructions[self.instructions["cause"].isin(["vmcnt_wait", "lgkmcnt_wait"])]
        counter = charged["cause"].astype(str).str.removesuffix("_wait")
        sums = charged.groupby([*key, counter])["cycles"].sum().to_dict()
        named = table[[*key, "counter"]].itertuples(index=False, name=None)
        merged = table.assign(cycles=[int(sums.get(name, 0)) for name in named])
        merged["share"] = merged["cycles"] / max(self.idle, 1)
        return merged.sort_values(["cycles", "vaddr"], ascending=[False, True])

    @cached_property
    def budget(self) -> pd.DataFrame:
        return self._own(self.analysis.budget.simds)

    @cached_property
    def memory(self) -> pd.DataFrame:
        """Bytes per CU."""
        return self._own(self.analysis.cus)

    @cached_property
    def overlap(self) -> pd.DataFrame:
        return self._own(self.analysis.overlap.simds)

    @cached_property
    def shapes(self) -> pd.DataFrame:
        return self._own(self.analysis.shapes.rows)

    @cached_property
    def limits(self) -> pd.DataFrame:
        return self._own(limits(self.timeline))

    @cached_property
    def tail(self) -> pd.DataFrame:
        return self._own(tail(self.timeline))

    @cached_property
    def resident(self) -> dict[int, float]:
        """Share of the windows with 0, 1, 2, ... resident waves."""
        sums = self._own(self.analysis.residents).groupby("waves")["cycles"].sum()
        whole = max(int(sums.sum()), 1)
        return {int(n): int(c) / whole for n, c in sums.items() if c}  # type: ignore[call-overload]

    @cached_property
    def run(self) -> Run:
        """What a comparison needs of the kernel."""
        found = measure(self.analysis, dispatches=self.dispatches)
        return replace(found, origin=replace(found.origin, kernel=self.kernel))

    @cached_property
    def iteration(self) -> float | None:
        """Mean cycles of an iteration of one wave, as ``compare`` has it; None without a loop."""
        found = self.run.metrics.get(Metric(*ALL, "cycles"))
        return None if found is None else found.value

    def ref(self, code_object: int, vaddr: int, line: int = -1, *, text: str = "") -> Ref:
        """The instruction at an address, or where there are none at a line of code.json; one
        of which only the ``text`` is known has no key."""
        listing, row = self.timeline.listing, self.row(code_object, vaddr, line)
        if row < 0:
            return Ref("", -1, -1, -1, text, "")
        return Ref(self.keys.of(row), int(code_object), int(vaddr), int(listing.line[row]),
                   listing.text[row], listing.source[row])  # fmt: skip

    def row(self, code_object: int, vaddr: int, line: int) -> int:
        """The listing row that a table names, -1 for none."""
        if vaddr >= 0:
            return self.timeline.listing.row_of(int(code_object), int(vaddr))
        return self.timeline.listing.row_of_line(int(line)) if line >= 0 else -1

    def _own(self, table: pd.DataFrame) -> pd.DataFrame:
        return table[table["dispatch"].isin(self.dispatches)].reset_index(drop=True)


def kernels(analysis: Analysis) -> list[Evidence]:
    """The kernels of an analysis; dispatches without a name of their own are one."""
    timeline = analysis.timeline
    keys = Keys(timeline.listing)
    known = timeline.dispatches.drop_duplicates("dispatch")
    names = dict(zip(known["dispatch"], known["kernel"], strict=True))
    unnamed = "; ".join(kernel_names(timeline)) or "unnamed kernel"
    groups: dict[str, list[int]] = {}
    for dispatch in _dispatches(analysis):
        groups.setdefault(names.get(dispatch) or unnamed, []).append(dispatch)
    return [Evidence(analysis, name, tuple(own), keys) for name, own in groups.items()]


def _dispatches(analysis: Analysis) -> Sequence[int]:
    found: list[int] = sorted({one.simd.dispatch for one in analysis.causes.simds})
    return found
