"""Whether what lies beside a stream belongs to it: what the decoded stream contradicts.

A file belongs if it lies nearest and nothing contradicts it.  The streams tell which code
objects were loaded where, at which addresses waves began, and how large workgroups were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tracekit.capture.kernels import RunFacts
from tracekit.isa.classify import mnemonic
from tracekit.isa.elf import CodeObject
from tracekit.isa.listing import Listing

#: With preloaded kernel arguments a wave begins so many bytes behind the kernel's symbol
#: (LLVM, AMDGPUUsage, "Preloaded Kernel Arguments").
PRELOAD = 0x100
#: Share of opcodes that may differ between a listing and the code that ran: two versions of a
#: disassembler do not know the same opcodes.
OTHER_OPCODES = 0.01
#: Instructions compared at most, evenly from all.
LOOKED_AT = 1 << 14
#: Encodings, and the parts of the names of MFMAs that LLVM has for some chips only.
_SPELLING = re.compile(r"_(?:e32|e64|dpp|sdwa|1k|\d+b)(?=_|$)")


@dataclass(frozen=True)
class Seen:
    """What streams say of the code that ran.

    ``loaded``: id -> (address, bytes) by load records; ``entries``: id -> ELF addresses at
    which traced waves began; ``run``: ids that waves ran; ``workgroups``: dispatch id ->
    work-items in each dimension.
    """

    loaded: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    entries: Mapping[int, frozenset[int]] = field(default_factory=dict)
    run: frozenset[int] = frozenset()
    workgroups: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)


def against_run(facts: RunFacts, seen: Seen) -> str | None:
    """Why a file of a profiler run is of another run than the streams; None if it may be theirs."""
    for number in sorted(seen.run & set(seen.loaded)):
        address = seen.loaded[number][0]
        told = facts.addresses.get(number)
        if told is not None and address not in told:
            return (
                f"code object {number} is at {told[0]:#x} there and at {address:#x} in the stream"
            )
        if told is None and facts.addresses:
            return f"it does not have code object {number}, which waves run"
    for dispatch, size in sorted(seen.workgroups.items()):
        named = facts.workgroups.get(dispatch, size)
        if named != size:
            return (
                f"workgroups of dispatch {dispatch} are {_by(named)} there and {_by(size)} in "
                "the stream"
            )
    return None


def _by(size: Iterable[int]) -> str:
    return " x ".join(map(str, size))


def against_listing(listing: Listing, seen: Seen) -> str | None:
    """Why a listing is of other code than the streams; None if it may be theirs."""
    if not len(listing) or int(listing.vaddr.max()) < 0:  # rocprofv2's have no addresses
        return None
    listed = set(listing.code_object.tolist())
    if seen.run and not listed & seen.run:
        return f"it has code object {_ids(listed)}, waves run {_ids(seen.run)}"
    for number in sorted(listed & set(seen.loaded)):
        last = int(listing.vaddr[listing.code_object == number].max())
        size = seen.loaded[number][1]
        if last >= size:
            return (
                f"its code object {number} reaches to {last:#x}, the one loaded has {size:#x} bytes"
            )
    for number in sorted(listed & set(seen.entries)):
        entries = seen.entries[number]
        if all(listing.row_of(number, entry) < 0 for entry in entries):
            return (
                f"no instruction of its code object {number} is at {min(entries):#x}, where "
                "waves begin"
            )
    return None


def against_code(listing: Listing, code: Listing) -> str | None:
    """Why a listing is of other code than ``code``, which was disassembled; None if of the same."""
    at = code.rows_of(listing.code_object, listing.vaddr)
    known = (at >= 0).nonzero()[0]
    told = known[:: len(known) // LOOKED_AT + 1].tolist()
    other = sum(_opcode(listing.text[row]) != _opcode(code.text[at[row]]) for row in told)
    number = _ids(set(code.code_object.tolist()))
    if told and other > OTHER_OPCODES * len(told):
        return f"{other} of {len(told)} instructions are others in code object {number}"
    return None


def _opcode(text: str) -> str:
    """The mnemonic without what disassemblers spell differently."""
    return _SPELLING.sub("", mnemonic(text)).replace("_", "")


def against_object(found: CodeObject, number: int, seen: Seen) -> str | None:
    """Why an ELF file is not the code object ``number`` that ran; None if it may be it."""
    entries = seen.entries.get(number, frozenset())
    begins = set(found.kernels.values())
    if not entries or not begins:
        return None
    if not entries & (begins | {begin + PRELOAD for begin in begins}):
        return f"no kernel of it is at {min(entries):#x}, where waves begin"
    return None


def _ids(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)[:4]))
