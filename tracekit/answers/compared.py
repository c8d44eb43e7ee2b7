"""A comparison as an object."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracekit.analysis.compare import Comparison
from tracekit.answers import plots
from tracekit.present import compared, markup
from tracekit.present.tables import write_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Compared:
    """``result`` has all of it; ``print`` shows what ``tracekit compare`` does, a notebook shows
    it by itself, ``plot`` draws where the cycles went."""

    result: Comparison

    @property
    def rows(self) -> pd.DataFrame:
        """One row a SIMD and metric, and of all SIMDs with se and simd -1
        (``analysis.compare.COLUMNS``)."""
        return self.result.rows

    @property
    def bodies(self) -> pd.DataFrame:
        """Instructions of the loop body that were added, removed or moved."""
        return self.result.bodies

    @property
    def warnings(self) -> list[str]:
        """Why the two may not be versions of one kernel."""
        return self.result.warnings

    @property
    def headline(self) -> str:
        """Mean and median of an iteration, with the interval; "" without a loop."""
        return compared.headline(self.result)

    def plot(self) -> Any:
        """A waterfall from base to new; raises TracekitError without plotly (extra plot)."""
        return plots.waterfall(self.result)

    def __str__(self) -> str:
        out = io.StringIO()
        out.writelines(f"{line}\n" for line in self._lines())
        for shown in compared.tables(self.result, simds=False, diff=False):
            out.write("\n")
            write_table(out, shown)
        return out.getvalue()

    def __repr__(self) -> str:
        return f"<Compared {self.headline or 'without a loop'}>"

    def _repr_html_(self) -> str:
        tables = compared.tables(self.result, simds=False, diff=False)
        return markup.paragraphs(self._lines()) + "".join(map(markup.table, tables))

    def _lines(self) -> list[str]:
        warned = [f"warning: {text}" for text in self.warnings]
        return [*warned, *compared.sentences(self.result)]
