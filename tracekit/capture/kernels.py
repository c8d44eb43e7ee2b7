"""Kernel names, load addresses and architectures from what rocprofv3 writes beside a trace.

Three sources, each optional: ``*_kernel_trace.csv``, the results JSON of
``--output-format json`` and the rocpd database (SQLite) of ``--output-format rocpd``.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tracekit.capture.archive import Place
from tracekit.capture.files import read_bytes, read_csv, read_json
from tracekit.errors import FormatError

SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass
class RunFacts:
    """What a file of a profiler run says about its kernels; empty where nothing was found.

    ``addresses``: all that are told of a code object, the likeliest load base first.
    ``proven``: its name says that it is of the capture's process.
    """

    path: Place
    kernels: dict[int, str] = field(default_factory=dict)  # dispatch id -> name
    workgroups: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # by dispatch id
    addresses: dict[int, tuple[int, ...]] = field(default_factory=dict)  # code object id -> bytes
    target_versions: set[int] = field(default_factory=set)  # of the GPUs, as 90500
    proven: bool = False

    @property
    def load_bases(self) -> dict[int, int]:
        """Code object id -> address where it was loaded."""
        return {number: told[0] for number, told in self.addresses.items()}

    def take_object(self, row: dict[str, Any], number: Any) -> None:
        """Addresses of a code object, by the columns that differ between versions."""
        told = (row.get("load_delta"), row.get("load_base"))
        bases = tuple(base for base in told if type(base) is int and base > 0)
        if type(number) is int and bases:
            self.addresses[number] = bases

    def take_workgroup(self, dispatch: int, sizes: tuple[Any, Any, Any]) -> None:
        """Work-items of a workgroup in each dimension, where all three are known."""
        x, y, z = sizes
        if type(x) is type(y) is type(z) is int and min(x, y, z) > 0:
            self.workgroups[dispatch] = (x, y, z)


def from_kernel_trace(path: Place) -> RunFacts:
    """``*_kernel_trace.csv``: a row per dispatch with Dispatch_Id and Kernel_Name."""
    facts = RunFacts(path)
    for row in read_csv(path):
        number, name = row.get("Dispatch_Id", ""), row.get("Kernel_Name", "")
        if _is_number(number) and name:
            facts.kernels[int(number)] = name
            sizes = [row.get(f"Workgroup_Size_{axis}", "") for axis in "XYZ"]
            x, y, z = (int(size) if _is_number(size) else None for size in sizes)
            facts.take_workgroup(int(number), (x, y, z))
    return facts


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def from_results_json(path: Place) -> RunFacts | None:
    """A results JSON; None when the file is another JSON."""
    content = read_json(path)
    tools = content.get("rocprofiler-sdk-tool") if isinstance(content, dict) else None
    if not isinstance(tools, list):
        return None
    facts = RunFacts(path)
    for tool in tools:
        if isinstance(tool, dict):
            _tool(tool, facts)
    return facts


def _tool(tool: dict[str, Any], facts: RunFacts) -> None:
    for row in _rows(tool.get("code_objects")):
        facts.take_object(row, row.get("code_object_id"))
    for row in _rows(tool.get("agents")):
        version = row.get("gfx_target_version")
        if isinstance(version, int) and version > 0:
            facts.target_versions.add(version)
    symbols = {
        number: row.get("formatted_kernel_name") or row.get("kernel_name")
        for row in _rows(tool.get("kernel_symbols"))
        if isinstance(number := row.get("kernel_id"), int)
    }
    records = tool.get("buffer_records")
    for row in _rows(records.get("kernel_dispatch") if isinstance(records, dict) else None):
        info = row.get("dispatch_info")
        if isinstance(info, dict) and isinstance(info.get("dispatch_id"), int):
            kernel = info.get("kernel_id")
            name = symbols.get(kernel) if isinstance(kernel, int) else None
            if isinstance(name, str):
                facts.kernels[info["dispatch_id"]] = name
            size = info.get("workgroup_size")
            if isinstance(size, dict):
                sizes = (size.get("x"), size.get("y"), size.get("z"))
                facts.take_workgroup(info["dispatch_id"], sizes)


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def from_rocpd(path: Place) -> RunFacts:
    """A rocpd database; FormatError when SQLite cannot read it.

    Tables are found by prefix, since their names end in the run's GUID, and columns by
    name, since they grew with the schema versions.
    """
    facts = RunFacts(path)
    content = bytearray(read_bytes(path))
    if content[:16] != SQLITE_MAGIC:
        raise FormatError(path, "not a SQLite database", offset=0)
    # Journal mode WAL in the header would ask for a second file beside this one.
    content[18:20] = b"\x01\x01"
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(bytes(content))
            names = {
                row.get("id"): row.get("display_name") or row.get("kernel_name")
                for row in _table(database, "rocpd_info_kernel_symbol")
            }
            for row in _table(database, "rocpd_kernel_dispatch"):
                name, number = names.get(row.get("kernel_id")), row.get("dispatch_id")
                if isinstance(name, str) and isinstance(number, int):
                    facts.kernels[number] = name
                    x, y, z = (row.get(f"workgroup_size_{axis}") for axis in "xyz")
                    facts.take_workgroup(number, (x, y, z))
            for row in _table(database, "rocpd_info_code_object"):
                facts.take_object(row, row.get("id"))
    except (sqlite3.Error, TypeError, UnicodeError) as error:
        raise FormatError(path, f"not a readable rocpd database: {error}") from None
    return facts


def _table(database: sqlite3.Connection, prefix: str) -> list[dict[str, Any]]:
    """Rows of all tables whose name begins with ``prefix``."""
    found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    rows: list[dict[str, Any]] = []
    for (name,) in found:
        if str(name).startswith(prefix):
            quoted = str(name).replace('"', '""')
            cursor = database.execute(f'SELECT * FROM "{quoted}"')
            columns = [column[0] for column in cursor.description]
            rows += [dict(zip(columns, row, strict=True)) for row in cursor]
    return rows
