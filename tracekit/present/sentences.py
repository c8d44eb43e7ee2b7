"""What is said about results: where they come from, which window they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.tables.timeline import Timeline


def origin(timeline: Timeline) -> str:
    """ " (simulated)" or " (synthetic)" where it applies, for titles."""
    if timeline.synthetic:
        return " (synthetic)"
    return " (simulated)" if timeline.simulated else ""


def title(timeline: Timeline, what: str) -> str:
    """Heading of a table: capture, what it shows, timing, architecture."""
    name = f"{timeline.capture}{origin(timeline)}"
    return f"{name}: {what}, {timeline.shown_timing} timing, {timeline.arch}"


def window_label(rows: pd.DataFrame) -> str:
    """The windows of ``rows``, for a title."""
    if "window" not in rows.columns or not len(rows):
        return "no window"
    return "window " + ", ".join(dict.fromkeys(rows["window"]))
