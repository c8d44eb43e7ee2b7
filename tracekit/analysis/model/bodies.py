"""What changed in a loop body: instructions added, removed and moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tracekit.analysis.model.loops import Loops
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing

if TYPE_CHECKING:
    import pandas as pd

_REGISTER = re.compile(r"\b(?:([sva])\[(\d+):(\d+)\]|([sva])\d+\b)")
COLUMNS = ("change", "base_line", "base_vaddr", "new_line", "new_vaddr", "instruction")


@dataclass(frozen=True)
class Body:
    """The instructions of a loop: ``texts`` as listed, ``kinds`` without what another address
    or register allocation changes, ``lines`` of the listing and addresses (-1: unknown)."""

    texts: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    vaddrs: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(cls, listing: Listing, rows: Sequence[int]) -> Body:
        """The body that listing ``rows`` are."""
        return cls(
            tuple(listing.text[row] for row in rows),
            tuple(_kind_of(listing, row) for row in rows),
            tuple(int(listing.line[row]) for row in rows),
            tuple(int(listing.vaddr[row]) for row in rows),
        )


def body(listing: Listing, found: Loops) -> Body:
    """The dominant loop of the first dispatch that has one."""
    if not found.dominant:
        return Body()
    head, tail = found.bodies[found.dominant[min(found.dominant)]]
    return Body.of(listing, range(head, tail + 1))


def differences(base: Body, new: Body) -> pd.DataFrame:
    """Rows (COLUMNS) of instructions that are not in both bodies at the same place.

    ``change``: added, removed, or moved: the same text is gone at one place and new at
    another.  Register numbers and branch distances do not count.  -1 where a body does not have it.
    """
    import pandas as pd

    old, young = base.kinds, new.kinds
    gone: list[int] = []
    come: list[int] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, young, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += range(a, b)
            come += range(c, d)
    both = Counter(old[i] for i in gone) & Counter(young[i] for i in come)
    places: dict[str, list[int]] = {}
    for i in come:
        places.setdefault(young[i], []).append(i)
    rows: list[dict[str, object]] = []
    for i in gone:
        to = -1
        if both[old[i]]:
            both[old[i]] -= 1
            to = places[old[i]].pop(0)
        change = "moved" if to >= 0 else "removed"
        rows.append(_row(change, (base, i), (new, to)))
    left = {i for each in places.values() for i in each}
    rows += [_row("added", (base, -1), (new, i)) for i in come if i in left]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def shared(base: Body, new: Body) -> float:
    """Share of the instructions of two bodies that both have, wherever they stand.

    Twice the common ones / all; 1 for two empty bodies.
    """
    old, young = Counter(base.kinds), Counter(new.kinds)
    total = old.total() + young.total()
    return 2 * (old & young).total() / total if total else 1.0


def _kind_of(listing: Listing, row: int) -> str:
    text = listing.text[row].split()
    if listing.expect[row] == Expect.BRANCH:
        return text[0]
    return _REGISTER.sub(_kind, " ".join(text))


def _kind(found: re.Match[str]) -> str:
    """A register as its file and how many of them: v[4:7] -> v*4."""
    width = int(found[3]) - int(found[2]) + 1 if found[2] else 1
    return f"{found[1] or found[4]}*{width}"


def _row(change: str, old: tuple[Body, int], young: tuple[Body, int]) -> dict[str, object]:
    """A row from the places of the instruction in both bodies (-1: none)."""
    (base, i), (new, j) = old, young
    return {
        "change": change,
        "base_line": base.lines[i] if i >= 0 else -1,
        "base_vaddr": base.vaddrs[i] if i >= 0 else -1,
        "new_line": new.lines[j] if j >= 0 else -1,
        "new_vaddr": new.vaddrs[j] if j >= 0 else -1,
        "instruction": base.texts[i] if i >= 0 else new.texts[j],
    }
