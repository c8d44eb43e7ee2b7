"""Results as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracekit.present.cells import is_missing

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.analysis import Analysis


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries; missing values are None."""
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return [
        {
            str(k): None if is_missing(v) else plain(v) if hasattr(v, "item") else v
            for k, v in row.items()
        }
        for row in rows
    ]


def plain(value: Any) -> Any:
    """numpy scalars as Python numbers, anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def envelope(schema: str, **content: Any) -> dict[str, Any]:
    """What every JSON result begins with, then ``content``."""
    from tracekit.version import VERSION

    return {"schema": schema, "tracekit": VERSION, **content}


def results(schema: str, captures: Sequence[object]) -> dict[str, Any]:
    """The JSON result of a command: one entry a capture, whatever their number."""
    return envelope(schema, captures=list(captures))


def header(analysis: Analysis) -> dict[str, Any]:
    """What the entry of every capture begins with."""
    from tracekit.analysis.model.kernels import kernel_names

    timeline = analysis.timeline
    return {
        "capture": timeline.capture,
        "kernel": "; ".join(kernel_names(timeline)) or None,
        "timing": timeline.shown_timing,
        "arch": timeline.arch.name,
        "arch_source": timeline.arch.source,
        "simulated": timeline.simulated,
        "synthetic": timeline.synthetic,
        "quality": analysis.quality.summary(),
    }
