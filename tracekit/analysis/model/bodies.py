"""What changed in a loop body: instructions added, removed and moved."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tracekit.analysis.model.loops import Loops
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing

if TYPE_CHECKING:
    import pandas as pd

_REGISTER = re.compile(r"\b(?:([sva])\[(\d+):(\d+)\]|([sva])\d+\b)")
COLUMNS = ("change", "base_line", "base_vaddr", "new_line", "new_vaddr", "instruction")


def body(listing: Listing, found: Loops) -> list[int]:
    """Listing rows of the dominant loop of the first dispatch that has one."""
    if not found.dominant:
        return []
    head, tail = found.bodies[found.dominant[min(found.dominant)]]
    return list(range(head, tail + 1))


def differences(
    base: Listing, base_rows: list[int], new: Listing, new_rows: list[int]
) -> pd.DataFrame:
    """Rows (COLUMNS) of instructions that are not in both bodies at the same place.

    ``change``: added, removed, or moved: the same text is gone at one place and new at
    another.  Register numbers and branch distances do not count.  -1 where a body does not have it.
    """
    import pandas as pd

    old, young = _texts(base, base_rows), _texts(new, new_rows)
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
        at = new_rows[to] if to >= 0 else -1
        change = "moved" if to >= 0 else "removed"
        rows.append(_row(change, (base, base_rows[i]), (new, at)))
    left = {i for each in places.values() for i in each}
    rows += [_row("added", (base, -1), (new, new_rows[i])) for i in come if i in left]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def shared(base: Listing, base_rows: list[int], new: Listing, new_rows: list[int]) -> float:
    """Share of the instructions of two bodies that both have, wherever they stand.

    Twice the common ones / all; 1 for two empty bodies.
    """
    old, young = Counter(_texts(base, base_rows)), Counter(_texts(new, new_rows))
    total = old.total() + young.total()
    return 2 * (old & young).total() / total if total else 1.0


def _texts(listing: Listing, rows: list[int]) -> list[str]:
    """Texts without what another address or register allocation changes."""
    return [
        listing.text[row].split()[0]
        if listing.expect[row] == Expect.BRANCH
        else _REGISTER.sub(_kind, " ".join(listing.text[row].split()))
        for row in rows
    ]


def _kind(found: re.Match[str]) -> str:
    """A register as its file and how many of them: v[4:7] -> v*4."""
    width = int(found[3]) - int(found[2]) + 1 if found[2] else 1
    return f"{found[1] or found[4]}*{width}"


def _row(change: str, old: tuple[Listing, int], young: tuple[Listing, int]) -> dict[str, object]:
    """A row from the places (listing and its row, -1: none) of the instruction in both."""
    (base, i), (new, j) = old, young
    return {
        "change": change,
        "base_line": int(base.line[i]) if i >= 0 else -1,
        "base_vaddr": int(base.vaddr[i]) if i >= 0 else -1,
        "new_line": int(new.line[j]) if j >= 0 else -1,
        "new_vaddr": int(new.vaddr[j]) if j >= 0 else -1,
        "instruction": base.text[i] if i >= 0 else new.text[j],
    }
