"""What lies beside a stream: decoded directories, listings, code objects, metadata.

Folders are searched from near to far.  What names another process than the capture's is
not taken; of the rest the nearest comes first, and in one folder what names the capture's
own process.  Whether the content fits, ``belonging`` tells once the streams are decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracekit.capture.archive import Place
from tracekit.capture.files import entries, is_elf, matching, read_json
from tracekit.capture.kernels import RunFacts, from_kernel_trace, from_results_json, from_rocpd
from tracekit.capture.names import code_object_id, decoded_ids, process_of, same_process
from tracekit.errors import FormatError

#: Files that make a folder a decoded directory beside a code.json.
_DECODED_FILES = ("occupancy.json", "se*_sm*_sl*_wv*.json")
#: Directories of other dispatches that are named one by one.
_NAMED = 3


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
    """Files found in the folders searched, in order of nearness.

    ``listings``: code.json files that stand alone, and decoded directories, each with its
    distance in folders.
    """

    decoded: list[tuple[int, Place]] = field(default_factory=list)
    listings: list[tuple[int, Place]] = field(default_factory=list)
    code_objects: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    agent_infos: list[Place] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    meta_path: Place | None = None
    runs: list[RunFacts] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def decoded_for(self, wanted: Iterable[tuple[int, int]]) -> list[tuple[int, Place]]:
        """Decoded directories that (agent, dispatch) pairs do not contradict.

        A pair with agent -1 is of a stream whose name tells nothing.
        """
        pairs = set(wanted)
        unknown = any(agent < 0 for agent, _ in pairs)
        return [
            (distance, folder)
            for distance, folder in self.decoded
            if unknown or (ids := decoded_ids(folder)) is None or ids in pairs
        ]

    def decoded_against(self, wanted: Iterable[tuple[int, int]]) -> list[str]:
        """A note on each decoded directory with a listing that the pairs contradict."""
        kept = {folder for _, folder in self.decoded_for(wanted)}
        other = [
            folder
            for _, folder in self.decoded
            if folder not in kept and (folder / "code.json").is_file()
        ]
        notes = [
            f"{folder}: by its name of another agent or dispatch than the streams: not used"
            for folder in other[:_NAMED]
        ]
        more = len(other) - len(notes)
        return [*notes, f"{more} more such directories: not used"] if more else notes


@dataclass
class _Finding:
    """Files by what they are, with the distance of their folder."""

    found: Surroundings
    objects: list[tuple[int, Place]] = field(default_factory=list)
    agents: list[tuple[int, Place]] = field(default_factory=list)
    runs: list[tuple[int, Place]] = field(default_factory=list)

    def take(self, distance: int, entry: Place) -> None:
        if is_decoded_directory(entry):
            self.found.decoded.append((distance, entry))
        elif entry.name == "code.json":
            self._take_file(self.found.listings, distance, entry)
        elif code_object_id(entry) is not None:
            self._take_file(self.objects, distance, entry)
        elif entry.name.endswith("agent_info.csv"):
            self._take_file(self.agents, distance, entry)
        elif entry.name.endswith(("kernel_trace.csv", "results.json", ".db")):
            self._take_file(self.runs, distance, entry)

    def _take_file(self, to: list[tuple[int, Place]], distance: int, entry: Place) -> None:
        if entry.is_file():
            to.append((distance, entry))
        elif not entry.is_dir():
            self.found.notes.append(f"{entry}: a link that leads nowhere, left out")


def inside(place: Place, within: Sequence[Path]) -> bool:
    """Whether ``place`` lies in one of the folders ``within``, links followed; members of an
    archive do where that was opened."""
    if not within or not isinstance(place, Path):
        return True
    real = place.resolve()
    return any(real.is_relative_to(folder) for folder in within)


def look_around(
    folders: Sequence[Iterable[Place]], process: str = "", within: Sequence[Path] = ()
) -> Surroundings:
    """Search ``folders`` without descending: those of each distance, the nearest first.

    ``process``: the prefix that rocprofv3 gave the capture's files, "" unknown.  ``within``:
    resolved folders; what lies outside of all of them, or is a link to there, is passed over.
    """
    finding = _Finding(found := Surroundings())
    seen: set[Place] = set()
    for distance, level in enumerate(folders):
        for folder in level:
            real = folder.resolve()
            if real in seen or not folder.is_dir():
                continue
            seen.add(real)
            for entry in entries(folder):
                if inside(entry, within):
                    finding.take(distance, entry)
            if inside(folder / "meta.json", within):
                _meta(found, folder / "meta.json")
    for entry in _own(finding.objects, process, found.notes, code_object_id):
        number = code_object_id(entry)
        if number is not None and is_elf(entry):
            found.code_objects[number] = (*found.code_objects.get(number, ()), entry)
        else:
            found.notes.append(f"{entry}: not an ELF code object, not used")
    found.agent_infos = _own(finding.agents, process, found.notes)
    for entry in _own(finding.runs, process, found.notes, _kind_of_run):
        _run_facts(found, entry, process)
    return found


def _own(
    files: list[tuple[int, Place]],
    process: str,
    notes: list[str],
    kind: Callable[[Place], object] = lambda _: None,
) -> list[Place]:
    """Files that name no other process, the likeliest first.

    One that is not used is told of where no other of its kind is.
    """
    own: list[tuple[int, bool, Place]] = []
    foreign: list[Place] = []
    for distance, file in files:
        same = same_process(process, process_of(file))
        if same is False:
            foreign.append(file)
        else:
            own.append((distance, not same, file))
    kinds = {kind(file) for _, _, file in own}
    notes += [
        f"{file}: of process {process_of(file)}, not of {process}: not used"
        for file in foreign
        if kind(file) not in kinds
    ]
    return [file for _, _, file in sorted(own, key=lambda each: each[:2])]


def _kind_of_run(path: Place) -> object:
    return path.name.rsplit("_", 1)[-1]


def _meta(found: Surroundings, path: Place) -> None:
    """The nearest meta.json; a damaged one is a note."""
    if found.meta_path is not None or not path.is_file():
        return
    try:
        content = read_json(path)
        if not isinstance(content, dict):
            raise FormatError(path, "expected a JSON object")
    except FormatError as error:
        found.notes.append(f"{error}; what it says is missing")
        return
    found.meta, found.meta_path = content, path


def _run_facts(found: Surroundings, entry: Place, process: str) -> None:
    """Names and addresses of the run: a convenience, so a damaged file is only a note."""
    try:
        if entry.name.endswith(".csv"):
            facts: RunFacts | None = from_kernel_trace(entry)
        elif entry.name.endswith(".db"):
            facts = from_rocpd(entry)
        else:
            facts = from_results_json(entry)
    except FormatError as error:
        found.notes.append(f"{error}; kernel names from it are missing")
        return
    if facts is not None:
        facts.proven = bool(same_process(process, process_of(entry)))
        found.runs.append(facts)
