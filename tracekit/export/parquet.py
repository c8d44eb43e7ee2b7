"""Parquet: one file a table of the Timeline, in a directory (needs pyarrow)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tracekit.analysis.analysis import Analysis
from tracekit.errors import TracekitError
from tracekit.tables.schema import COLUMNS, columns
from tracekit.version import VERSION


def write(analysis: Analysis, path: Path) -> None:
    """Write ``path``/<table>.parquet, zstd, for every table that has rows.

    The file metadata key "tracekit" is a JSON object: version, capture, architecture,
    timing, time unit, simulated, and the meaning of each column.  Raises TracekitError
    without pyarrow.
    """
    try:
        from pyarrow import Table
        from pyarrow.parquet import write_table
    except ImportError:
        raise TracekitError("parquet needs pyarrow: pip install tracekit[parquet]") from None
    timeline = analysis.timeline
    path.mkdir(parents=True, exist_ok=True)
    for name in COLUMNS:
        frame = getattr(timeline, name)
        if not len(frame):
            continue
        about = json.dumps(
            {
                "tracekit": VERSION,
                "table": name,
                "capture": timeline.capture,
                "arch": timeline.arch.name,
                "arch_source": timeline.arch.source,
                "timing": timeline.timing,
                "time_unit": "cycles of the shader clock, per SE",
                "simulated": timeline.simulated,
                "synthetic": timeline.synthetic,
                "columns": {column: meaning for column, (_, meaning) in columns(name).items()},
            }
        )
        table: Any = Table.from_pandas(frame, preserve_index=False)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"tracekit": about})
        write_table(table, path / f"{name}.parquet", compression="zstd")
