"""What tells the chip of a capture, and which of it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tracekit.capture.archive import Place
from tracekit.capture.files import head
from tracekit.errors import FormatError
from tracekit.gfx9 import ARCHS
from tracekit.isa import arch
from tracekit.isa.arch import ArchChoice
from tracekit.isa.listing import Listing

_ELF_HEADER = 64
#: e_flags of a 64-bit ELF header.
_E_FLAGS = slice(48, 52)


@dataclass(frozen=True)
class Told:
    """What one file says; ``proven``: it is known to be of the capture."""

    choice: ArchChoice
    path: object
    proven: bool = False


@dataclass(frozen=True)
class ChipEvidence:
    """Files that name a chip, the likeliest first, and the value of --arch."""

    files: tuple[Told, ...] = ()
    override: str | None = None

    def choose(
        self, listing: Listing, objects: Iterable[Place], *, proven: bool = False
    ) -> tuple[ArchChoice, tuple[str, ...]]:
        """The chip by code objects, the listing's target, files, opcodes; and what is not used.

        ``proven``: waves of the capture run these code objects.  What opcodes of the listing
        contradict is not believed unless it is proven to be of the capture.  Raises
        UnknownArchError when --arch names an unsupported architecture.
        """
        opcodes = arch.from_opcodes(listing.text)
        told = [Told(choice, path, proven) for path, choice in of_objects(objects)]
        if listing.arch:
            told.append(Told(ArchChoice(listing.arch, "target in the listing"), "listing", True))
        told += self.files
        believed = [t for t in told if t.proven or opcodes is None or t.choice.name == opcodes.name]
        best = believed[0].choice if believed else opcodes
        notes = [
            f"{each.path}: says {each.choice.name}, but the capture is of {best.name} "
            f"({best.source}): not used"
            for each in told
            if best is not None and each.choice.name != best.name
        ]
        choice = arch.choose(elf=best, override=self.override)
        return choice, tuple(dict.fromkeys(notes))


def agent_files(paths: Sequence[Place], agent: int, proven: Sequence[Place]) -> Iterator[Told]:
    """What agent tables say of the chip of ``agent``.

    Raises nothing: a table that cannot be read, or of another family, is no evidence.
    """
    for path in paths:
        try:
            choice = arch.from_agent_info(path, agent)
        except FormatError:
            continue
        if choice is not None:
            yield Told(choice, path, path in proven)


def of_objects(files: Iterable[Place]) -> Iterator[tuple[Place, ArchChoice]]:
    """Architecture by the ELF header of each code object that tells it."""
    for path in files:
        start = head(path, _ELF_HEADER)
        if start[:5] == b"\x7fELF\x02" and len(start) == _ELF_HEADER:
            choice = arch.from_elf_flags(int.from_bytes(start[_E_FLAGS], "little"))
            if choice is not None and choice.name in ARCHS:
                yield path, choice
