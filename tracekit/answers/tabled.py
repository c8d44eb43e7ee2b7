"""Answers that are a table: occupancy and waits."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.occupancy import Occupancy
from tracekit.analysis.waits.table import Waits
from tracekit.answers import plots
from tracekit.present import markup, views
from tracekit.present.folding import folded
from tracekit.present.sentences import title, window_label
from tracekit.present.tables import Shown, write_table

if TYPE_CHECKING:
    import pandas as pd


class Answer(ABC):
    """``rows`` as ``--csv`` of the command writes them (docs/metrics.md has the columns);
    ``print`` shows the command's table, a notebook shows it by itself."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    @property
    @abstractmethod
    def rows(self) -> pd.DataFrame:
        """The table."""

    @property
    @abstractmethod
    def notes(self) -> Sequence[str]:
        """What to know before using it."""

    @abstractmethod
    def _shown(self) -> Shown: ...

    @abstractmethod
    def plot(self) -> Any:
        """A plotly figure; raises TracekitError without plotly (extra plot)."""

    def __str__(self) -> str:
        out = io.StringIO()
        write_table(out, self._shown())
        out.writelines(f"note: {note}\n" for note in self.notes)
        return out.getvalue()

    def __repr__(self) -> str:
        name, timeline = type(self).__name__, self.analysis.timeline
        return f"<{name} {timeline.capture}: {len(self.rows)} rows, window {self.analysis.window}>"

    def _repr_html_(self) -> str:
        return markup.table(self._shown()) + markup.paragraphs(f"note: {n}" for n in self.notes)


class OccupancyAnswer(Answer):
    """Rows per SIMD and dispatch; ``totals`` of everything together."""

    @property
    def result(self) -> Occupancy:
        """All that the analysis found."""
        return self.analysis.occupancy

    @property
    def rows(self) -> pd.DataFrame:
        return self.result.rows

    @property
    def totals(self) -> pd.DataFrame:
        """Each SE, and all SEs, together."""
        return self.result.totals

    @property
    def notes(self) -> Sequence[str]:
        return [*self.analysis.timeline.notes, *self.result.notes]

    def plot(self) -> Any:
        """Bars of matrix, vector and both for each SIMD."""
        return plots.occupancy(views.shares(self.rows))

    def _shown(self) -> Shown:
        what = f"pipe occupancy, {window_label(self.rows)}"
        rows, columns = folded(views.shares(self.rows), views.OCCUPANCY, views.SIMDS)
        return Shown(rows, title(self.analysis.timeline, what), columns)


class WaitsAnswer(Answer):
    """Rows per s_waitcnt and what it waits for, longest total first."""

    def __init__(self, analysis: Analysis, per_simd: bool = False) -> None:
        super().__init__(analysis)
        self.per_simd = per_simd

    @cached_property
    def result(self) -> Waits:
        """All that the analysis found."""
        return self.analysis.waits_of(per_simd=self.per_simd)

    @property
    def rows(self) -> pd.DataFrame:
        return self.result.rows

    @cached_property
    def loads(self) -> pd.DataFrame:
        """The same by memory instruction."""
        return self.analysis.loads_of(per_simd=self.per_simd)

    @property
    def notes(self) -> Sequence[str]:
        return self.analysis.timeline.notes

    def plot(self) -> Any:
        """Bars of the cycles waited at each place, and of those that its lead hid."""
        return plots.waits(self.rows)

    def _shown(self) -> Shown:
        heading = title(self.analysis.timeline, f"waits, window {self.analysis.window}")
        return Shown(self.rows, heading, views.WAITS)
