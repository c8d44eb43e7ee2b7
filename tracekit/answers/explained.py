"""A page of ``explain`` as an object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.explain.changes import Change
from tracekit.analysis.explain.page import Advice, Page
from tracekit.answers import plots
from tracekit.present.explained.html import fragment
from tracekit.present.explained.sheet import Sheet, sheet
from tracekit.present.explained.text import text
from tracekit.present.sentences import origin

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Explained:
    """``pages``: one a kernel, most matrix cycles first (none where no wave was traced);
    ``changes`` of the first since the base that was named.

    ``print`` shows the page, a notebook shows it by itself, ``plot`` draws its causes.
    """

    analysis: Analysis
    pages: tuple[Page, ...]
    changes: tuple[Change, ...] = ()

    @property
    def causes(self) -> pd.DataFrame:
        """Causes of the first kernel's idle cycles, most first: key, cycles, share (of the
        idle), of_window, per_iteration, removable_share."""
        import pandas as pd

        names = ["key", "cycles", "share", "of_window", "per_iteration", "removable_share"]
        rows = [asdict(cause) for cause in self.pages[0].causes] if self.pages else []
        return pd.DataFrame(rows, columns=names)

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What to try, with the numbers that say so."""
        return self.pages[0].advice if self.pages else ()

    @property
    def sheet(self) -> Sheet | None:
        """The page in words; None without a page."""
        if not self.pages:
            return None
        quality, timeline = self.analysis.quality, self.analysis.timeline
        verdict = "" if quality.verdict == "good" else quality.line()
        name = f"{timeline.capture}{origin(timeline)}, {timeline.shown_timing} timing, "
        return sheet(f"{name}{timeline.arch.name}", verdict, self.pages, self.changes)

    def plot(self) -> Any:
        """The window as a bar a cause; raises TracekitError without plotly (extra plot)."""
        return plots.causes(self.pages[0] if self.pages else None)

    def __str__(self) -> str:
        return "no wave was traced: nothing to explain\n" if not self.sheet else text(self.sheet)

    def __repr__(self) -> str:
        said = self.sheet.headline if self.sheet else "no wave was traced"
        return f"<Explained {self.analysis.timeline.capture}: {said}>"

    def _repr_html_(self) -> str:
        return fragment([self.sheet] if self.sheet else [])
