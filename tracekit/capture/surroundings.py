"""What lies beside a stream: decoded directories, listings, code objects, metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracekit.capture.names import code_object_id, decoded_ids
from tracekit.errors import FormatError


def is_decoded_directory(path: Path) -> bool:
    """A ``ui_output_*`` directory: it names its wave files or holds a listing of its own."""
    return path.is_dir() and ((path / "filenames.json").is_file())


def read_json(path: Path) -> Any:
    """Parsed JSON; FormatError naming the place when it is none."""
    try:
        return json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise FormatError(path, f"not JSON: {error.msg}", offset=error.pos) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise FormatError(path, f"not JSON: {error}") from None
    except OSError as error:
        raise FormatError(path, error.strerror or "cannot be read") from None


@dataclass
class Surroundings:
    """Files found in the folders searched, in order of nearness."""

    decoded: list[Path] = field(default_factory=list)
    listings: list[Path] = field(default_factory=list)
    code_objects: dict[int, Path] = field(default_factory=dict)
    agent_infos: list[Path] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def decoded_for(self, wanted: Iterable[tuple[int, int]]) -> list[Path]:
        """Decoded directories of (agent, dispatch) pairs; the only one when no name tells."""
        pairs = set(wanted)
        named = [d for d in self.decoded if decoded_ids(d) in pairs]
        if named or len(self.decoded) != 1:
            return named
        return self.decoded if decoded_ids(self.decoded[0]) is None or not pairs else []


def look_around(folders: Iterable[Path]) -> Surroundings:
    """Search ``folders`` (nearest first) without descending."""
    found = Surroundings()
    seen: set[Path] = set()
    for folder in folders:
        folder = folder.resolve()
        if folder in seen or not folder.is_dir():
            continue
        seen.add(folder)
        for entry in sorted(folder.iterdir()):
            number = code_object_id(entry)
            if is_decoded_directory(entry):
                found.decoded.append(entry)
            elif entry.name == "code.json":
                found.listings.append(entry)
            elif number is not None:
                found.code_objects.setdefault(number, entry)
            elif entry.name.endswith("agent_info.csv"):
                found.agent_infos.append(entry)
        meta = folder / "meta.json"
        if meta.is_file() and not found.meta:
            content = read_json(meta)
            if not isinstance(content, dict):
                raise FormatError(meta, "expected a JSON object")
            found.meta = content
    return found
