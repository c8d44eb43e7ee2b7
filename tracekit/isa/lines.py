"""Source lines of a code object: DWARF line tables, with the stack of inlined calls."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Bytes of .debug_info up to which inlined calls are read: about 15 s in pyelftools.
MOST_INFO = 16 << 20


class _Inlined(NamedTuple):
    """A range of addresses that a call was inlined to, and the place of the call."""

    depth: int
    begin: int
    end: int
    call: str


def sources(dwarf: Any, vaddrs: Sequence[int]) -> list[str]:
    """``file:line -> caller:line -> ...`` of each address, innermost first, "" unknown.

    ``dwarf``: elftools' DWARFInfo; ``vaddrs`` ascending.  What is damaged is left out:
    a listing is worth having without its sources.
    """
    rows: list[tuple[int, bool, int, str]] = []  # address, starts a line, order, place
    inlined: list[_Inlined] = []
    try:
        small = dwarf.debug_info_sec is not None and dwarf.debug_info_sec.size <= MOST_INFO
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            files = _Files(unit, program)
            rows += _line_rows(program, files, len(rows))
            if small:
                inlined += _inlined(dwarf, unit, files)
    except Exception:  # pyelftools raises many kinds on damaged sections
        pass
    return _places(sorted(rows), inlined, vaddrs)


class _Files:
    """Paths of a unit by file number."""

    def __init__(self, unit: Any, program: Any) -> None:
        folder = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        self.root = "" if folder is None else _text(folder.value)
        self.folders = [_text(folder) for folder in program.header["include_directory"]]
        self.entries = program.header["file_entry"]
        # DWARF 5 counts from 0, with the unit's own folder and file there.
        self.first = 0 if program.header["version"] >= 5 else 1

    def path(self, number: int) -> str:
        at = number - self.first
        if not 0 <= at < len(self.entries):
            return ""
        entry = self.entries[at]
        folder = entry["dir_index"] - self.first
        inside = self.folders[folder] if 0 <= folder < len(self.folders) else ""
        return posixpath.normpath(posixpath.join(self.root, inside, _text(entry["name"])))

    def place(self, number: int, line: int) -> str:
        """``path:line``; line 0 is code of no line."""
        path = self.path(number) if line > 0 else ""
        return f"{path}:{line}" if path else ""


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _line_rows(program: Any, files: _Files, order: int) -> Iterator[tuple[int, bool, int, str]]:
    for entry in program.get_entries():
        state = entry.state
        if state is not None:
            order += 1
            place = "" if state.end_sequence else files.place(state.file, state.line)
            yield state.address, not state.end_sequence, order, place


def _inlined(dwarf: Any, unit: Any, files: _Files) -> Iterator[_Inlined]:
    depth = 0
    for die in unit.iter_DIEs():
        if die.is_null():
            depth -= 1
            continue
        attributes = die.attributes
        if die.tag == "DW_TAG_inlined_subroutine" and "DW_AT_call_line" in attributes:
            file = attributes.get("DW_AT_call_file")
            call = files.place(
                0 if file is None else file.value, attributes["DW_AT_call_line"].value
            )
            for begin, end in _ranges(dwarf, unit, attributes):
                if call:
                    yield _Inlined(depth, begin, end, call)
        depth += die.has_children


def _ranges(dwarf: Any, unit: Any, attributes: Any) -> Iterator[tuple[int, int]]:
    from elftools.dwarf.descriptions import describe_form_class

    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        begin, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        absolute = describe_form_class(high.form) == "address"
        yield begin, high.value if absolute else begin + high.value
    elif "DW_AT_ranges" in attributes:
        top = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = 0 if top is None else top.value
        offset = attributes["DW_AT_ranges"].value
        for entry in dwarf.range_lists().get_range_list_at_offset(offset, cu=unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                shift = 0 if entry.is_absolute else base
                yield entry.begin_offset + shift, entry.end_offset + shift


def _places(
    rows: list[tuple[int, bool, int, str]], inlined: list[_Inlined], vaddrs: Sequence[int]
) -> list[str]:
    if not rows:
        return [""] * len(vaddrs)
    starts = [row[0] for row in rows]
    at = np.searchsorted(np.array(starts, np.uint64), np.array(vaddrs, np.uint64), "right") - 1
    found = [rows[i][3] if i >= 0 else "" for i in at.tolist()]
    # Innermost first: an inner call lies deeper in the tree than the one it is part of.
    for call in sorted(inlined, key=lambda call: -call.depth):
        for i in range(bisect_left(vaddrs, call.begin), bisect_left(vaddrs, call.end)):
            if found[i]:
                found[i] += f" -> {call.call}"
    return found
