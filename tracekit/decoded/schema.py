"""Decoded directories to pieces of tables: what AMD's tools made of a stream, as JSON.

One module a schema, chosen by content: ``named`` (10-column, version 3.0.0, and 3.1 by its
``occupancy_fields``), ``packed`` (8-column, occupancy packed in 64-bit words) and
``rocprofv2``.
"""

from __future__ import annotations

from typing import Any

from tracekit.capture.archive import Place
from tracekit.capture.files import read_json
from tracekit.decoded.named import NamedColumns
from tracekit.decoded.packed import PackedOccupancy
from tracekit.decoded.reader import Read, Reader
from tracekit.decoded.rocprofv2 import Rocprofv2
from tracekit.errors import FormatError
from tracekit.tables.listing_tables import ListingTables

__all__ = ["Read", "read_decoded", "schema"]


def read_decoded(folder: Place, tables: ListingTables, timing: str, se: int | None = None) -> Read:
    """All of a decoded directory; ``se`` restricts it to one shader engine.

    Damaged files are told of in the notes and the losses.  Raises FormatError when no wave
    file can be read, TracekitError when neither waves nor occupancy nor counts are there.
    """
    reader = schema(folder, legacy=tables.listing.alt_index is not None)
    return reader(folder, tables, timing, se).run()


def schema(folder: Place, *, legacy: bool) -> type[Reader]:
    """The reader of a directory; ``legacy`` when its code.json is rocprofv2's."""
    if legacy:
        return Rocprofv2
    path = folder / "occupancy.json"
    try:
        content: Any = read_json(path) if path.is_file() else {}
    except FormatError:
        content = {}  # its reader tells of the damage
    if not isinstance(content, dict):
        content = {}
    engines = [rows for se, rows in content.items() if str(se).isdigit() and rows]
    packed = any(isinstance(rows, list) and isinstance(rows[0], int) for rows in engines)
    return PackedOccupancy if packed else NamedColumns
