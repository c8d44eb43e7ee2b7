"""Source text beside the code: the copies that a recorder keeps, or files below the roots.

Code objects name any path they like, so a path is read only where the user pointed:
below a directory given at start or the target of a ``--source-root``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dashboard.service import Service
from tracekit.capture.files import read_json
from tracekit.capture.surroundings import is_decoded_directory
from tracekit.errors import FormatError

#: Lines shown before and after the one asked for.
AROUND = 5
#: Bytes of a source file that are read at most.
LARGEST = 1 << 22
#: Nested folders in a snapshots.json at most.
_DEEPEST = 64


def excerpts(service: Service, key: str, row: int) -> list[dict[str, Any]]:
    """The inline stack of listing ``row``, innermost first.

    Each frame: ``frame`` ("file:line"), ``first`` (number of the first line), ``lines``, and
    ``note``, which says why there are no lines.
    """
    listing = service.timeline(key).listing
    if not 0 <= row < len(listing) or not listing.source[row]:
        return []
    copies = service.cached(key, ("snapshots",), lambda _: snapshots(service, key))
    allowed = [*service.library.roots, *map(Path, (_targets(service)).values())]
    return [_excerpt(frame, copies, allowed) for frame in listing.source[row].split(" -> ")]


def snapshots(service: Service, key: str) -> dict[str, Path]:
    """Path of a source on the build machine -> its copy in the capture (snapshots.json)."""
    folder = service.library.get(key).path
    folder = folder if folder.is_dir() else folder.parent
    found: dict[str, Path] = {}
    for place in _decoded(service, folder):
        try:
            told = read_json(place / "snapshots.json")
        except FormatError:
            continue
        for path, name in _flat(told, "", 0):
            copy = place / name
            if Path(name).name == name and copy.is_file() and not copy.is_symlink():
                found.setdefault(path, copy)
    return found


def _decoded(service: Service, folder: Path) -> Iterator[Path]:
    """The capture's own decoded directories: itself, below it, beside it below a root."""
    if is_decoded_directory(folder):
        yield folder
        return
    for each in [folder, folder.parent]:
        if any(each.resolve().is_relative_to(root.resolve()) for root in service.library.roots):
            yield from (place for place in sorted(each.iterdir()) if is_decoded_directory(place))


def _flat(told: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(told, str):
        yield path, told
    elif isinstance(told, Mapping) and depth < _DEEPEST:
        for name, below in told.items():
            yield from _flat(below, f"{path.rstrip('/')}/{name}" if path else str(name), depth + 1)


def _targets(service: Service) -> Mapping[str, str]:
    return service.options.get("source_root") or {}


def _excerpt(frame: str, copies: Mapping[str, Path], allowed: list[Path]) -> dict[str, Any]:
    name, _, number = frame.rpartition(":")
    empty = {"frame": frame, "first": 0, "lines": []}
    if not name or not number.isdigit():
        return empty | {"note": ""}
    path = copies.get(name)
    if path is None:
        path = Path(name).resolve()
        if not any(path.is_relative_to(root.resolve()) for root in allowed):
            return empty | {"note": "not below a directory given: --source-root OLD=NEW"}
    try:
        if path.stat().st_size > LARGEST:
            return empty | {"note": f"larger than {LARGEST:,} bytes"}
        lines = path.read_text(errors="replace").splitlines()
    except OSError as error:
        return empty | {"note": f"not read: {error.strerror}"}
    at = int(number)
    if not 1 <= at <= len(lines):
        return empty | {"note": f"has {len(lines):,} lines: not the file that was built"}
    first = max(1, at - AROUND)
    return {"frame": frame, "first": first, "lines": lines[first - 1 : at + AROUND], "note": ""}
