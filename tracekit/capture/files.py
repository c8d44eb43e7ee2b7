"""Reading small files of a capture, on disk or in an archive, with errors that name them."""

from __future__ import annotations

import csv
import io
import json
from fnmatch import fnmatch
from typing import Any

from tracekit.capture.archive import MemberPath, Place
from tracekit.errors import FormatError

#: Fields of rocprofv3's CSV files hold demangled C++ names of many kilobytes.
_FIELD_LIMIT = 1 << 24


def read_bytes(path: Place) -> bytes:
    """Content of a file; FormatError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None


def read_json(path: Place) -> Any:
    """Parsed JSON; FormatError naming the place when it is none."""
    try:
        return json.loads(read_bytes(path))
    except json.JSONDecodeError as error:
        raise FormatError(path, f"not JSON: {error.msg}", offset=error.pos) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise FormatError(path, f"not JSON: {error}") from None


def read_csv(path: Place) -> list[dict[str, str]]:
    """Rows of a CSV file by its header row; FormatError when it is none."""
    text = read_bytes(path).decode("utf-8-sig", "replace")
    csv.field_size_limit(_FIELD_LIMIT)
    try:
        rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    except csv.Error as error:
        raise FormatError(path, f"not CSV: {error}") from None
    return [{str(k): v for k, v in row.items() if isinstance(v, str)} for row in rows]


def head(path: Place, size: int) -> bytes:
    """The first ``size`` bytes of a file."""
    if isinstance(path, MemberPath):
        return path.read_bytes()[:size]
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None


def size_of(path: Place) -> int:
    """Bytes of a file."""
    if isinstance(path, MemberPath):
        return len(path.read_bytes())
    try:
        return path.stat().st_size
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None


def is_elf(path: Place) -> bool:
    return path.is_file() and head(path, 4) == b"\x7fELF"


def entries(folder: Place) -> list[Place]:
    """What a folder holds, by name; FormatError when it cannot be listed."""
    try:
        found: list[Place] = list(folder.iterdir())
    except OSError as error:
        raise FormatError(folder, error.strerror or "cannot be read") from None
    return sorted(found, key=lambda entry: entry.name)


def matching(folder: Place, pattern: str) -> list[Place]:
    """Entries of a folder whose name matches ``pattern``, by name."""
    return [entry for entry in entries(folder) if fnmatch(entry.name, pattern)]
