"""What lies beside a stream: decoded directories, listings, code objects, metadata."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tracekit.capture.archive import Place
from tracekit.capture.files import entries, is_elf, matching, read_json
from tracekit.capture.kernels import RunFacts, from_kernel_trace, from_results_json, from_rocpd
from tracekit.capture.names import code_object_id, decoded_ids
from tracekit.errors import FormatError

#: Files that make a folder a decoded directory beside a code.json.
_DECODED_FILES = ("occupancy.json", "se*_sm*_sl*_wv*.json")


def is_decoded_directory(path: Place) -> bool:
    """A ``ui_output_*`` directory, by its content: it names or holds wave files."""
    if not path.is_dir():
        return False
    if (path / "filenames.json").is_file():
        return True
    listed = (path / "code.json").is_file()
    return listed and any(matching(path, pattern) for pattern in _DECODED_FILES)


@dataclass
class Surroundings:
    """Files found in the folders searched, in order of nearness."""

    decoded: list[Place] = field(default_factory=list)
    listings: list[Place] = field(default_factory=list)
    code_objects: dict[int, Place] = field(default_factory=dict)
    agent_infos: list[Place] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    run: RunFacts = field(default_factory=RunFacts)
    notes: list[str] = field(default_factory=list)

    def decoded_for(self, wanted: Iterable[tuple[int, int]]) -> list[Place]:
        """Decoded directories of (agent, dispatch) pairs; the only one when no name tells."""
        pairs = set(wanted)
        named = [d for d in self.decoded if decoded_ids(d) in pairs]
        if named or len(self.decoded) != 1:
            return named
        return self.decoded if decoded_ids(self.decoded[0]) is None or not pairs else []


def look_around(folders: Iterable[Place]) -> Surroundings:
    """Search ``folders`` (nearest first) without descending."""
    found = Surroundings()
    seen: set[Place] = set()
    for folder in folders:
        folder = folder.resolve()
        if folder in seen or not folder.is_dir():
            continue
        seen.add(folder)
        for entry in entries(folder):
            number = code_object_id(entry)
            if is_decoded_directory(entry):
                found.decoded.append(entry)
            elif entry.name == "code.json":
                found.listings.append(entry)
            elif number is not None and is_elf(entry):
                found.code_objects.setdefault(number, entry)
            elif entry.name.endswith("agent_info.csv"):
                found.agent_infos.append(entry)
            elif entry.name.endswith(("kernel_trace.csv", "results.json", ".db")):
                _run_facts(found, entry)
        meta = folder / "meta.json"
        if meta.is_file() and not found.meta:
            content = read_json(meta)
            if not isinstance(content, dict):
                raise FormatError(meta, "expected a JSON object")
            found.meta = content
    return found


def _run_facts(found: Surroundings, entry: Place) -> None:
    """Names and addresses of the run: a convenience, so a damaged file is only a note."""
    try:
        if entry.name.endswith(".csv"):
            found.run.add(from_kernel_trace(entry))
        elif entry.name.endswith(".db"):
            found.run.add(from_rocpd(entry))
        elif facts := from_results_json(entry):
            found.run.add(facts)
    except FormatError as error:
        found.notes.append(f"{error}; kernel names from it are missing")
