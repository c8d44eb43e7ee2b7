"""Changes that a user asks about, from their words to listing rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tracekit.analysis.attribution.names import CAUSES
from tracekit.analysis.explain.edits import Edit
from tracekit.analysis.explain.evidence import Evidence
from tracekit.analysis.model.mix import opcode_of
from tracekit.errors import TracekitError
from tracekit.isa.listing import Pipe

#: What can be asked, for help and errors.
FORMS = (
    '"0xLOAD one iteration earlier", "loads of 0xWAIT, 0xWAIT two iterations earlier", '
    '"vmcnt(1) at 0xWAIT", "no s_nop", "no s_nop at 0xADDRESS", "no vmcnt_wait", '
    '"no vector_work at 0xMFMA->0xMFMA"'
)
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
#: Other names of causes.
CALLED = {"vmcnt": "vmcnt_wait", "lgkmcnt": "lgkmcnt_wait"}
_AT = r"0x[0-9a-f]+"
_EARLIER = re.compile(rf"(loads of )?({_AT}(?:, ?{_AT})*) (\w+) iterations? earlier")
_COUNT = re.compile(rf"(vmcnt|lgkmcnt)\((\d+)\) at ({_AT})")
_WITHOUT = re.compile(rf"(?:no|without|remove) (\w+)(?: at ({_AT})(?: *(?:->|→) *({_AT}))?)?")


class WhatIfError(TracekitError):
    """What is asked does not fit the kernel; says what would."""

    exit_code = 2


Zeroed = Callable[[Evidence, str, "tuple[int, int] | None"], "Edit | None"]


@dataclass(frozen=True)
class Asked:
    """``text`` as it was asked, the ``edit``, and what to know of it."""

    text: str
    edit: Edit
    note: str = ""


def asked(evidence: Evidence, text: str, zeroed: Zeroed) -> Asked:
    """One change; ``zeroed`` takes a cause out.

    Raises WhatIfError with what can be asked, or with what stands at the address.
    """
    words = " ".join(text.split())
    for form, parse in ((_EARLIER, _earlier), (_COUNT, _count)):
        if found := form.fullmatch(words):
            return parse(evidence, text, *found.groups())
    if found := _WITHOUT.fullmatch(words):
        return _without(evidence, text, zeroed, found)
    raise WhatIfError(f"--what-if {text!r}: expected one of {FORMS}")


def loads_of(evidence: Evidence, wait: int) -> list[int]:
    """Listing rows of the loads that the executions of an s_waitcnt wait for."""
    rows = evidence.analysis.charges.facts.rows
    found: set[int] = set()
    for queue in evidence.analysis.charges.facts.queues:
        for i in np.flatnonzero((rows.row[queue.wait] == wait) & queue.needs).tolist():
            found |= set(rows.row[queue.operations[queue.first[i] : queue.last[i]]].tolist())
    text = evidence.timeline.listing.text
    return sorted(row for row in found if row >= 0 and _loads(text[row]))


def _loads(text: str) -> bool:
    """Loads that no barrier guards, as it does those from the LDS."""
    return "_load" in text


def _earlier(evidence: Evidence, text: str, waits: str, at: str, number: str) -> Asked:
    count = NUMBERS.get(number) or (int(number) if number.isdecimal() else 0)
    if not count:
        raise WhatIfError(f"--what-if {text!r}: {number!r} is no number of iterations")
    rows = [_row(evidence, text, each) for each in at.replace(" ", "").split(",")]
    loads = set(rows)
    if waits:
        loads = set()
        for row in rows:
            _expect(evidence, text, row, "s_waitcnt")
            loads |= set(loads_of(evidence, row))
        if not loads:
            raise WhatIfError(f"--what-if {text!r}: no wait for a load of vector memory")
        note = f"moves {_told(evidence, sorted(loads))}"
    else:
        for row in rows:
            if not _loads(evidence.timeline.listing.text[row]):
                raise WhatIfError(
                    f"--what-if {text!r}: {_is(evidence, row)}, no load of vector memory"
                )
        beside = sorted(set().union(*(_beside(evidence, row) for row in rows)) - loads)
        note = f"their waits also wait for {_told(evidence, beside)}, which stay" if beside else ""
    return Asked(text, Edit(earlier=dict.fromkeys(sorted(loads), count)), note)


def _beside(evidence: Evidence, load: int) -> set[int]:
    """Loads that the waits of ``load`` wait for."""
    rows, listing = evidence.analysis.charges.facts.rows, evidence.timeline.listing
    waits = {row for row in np.unique(rows.row).tolist() if row >= 0
             and listing.text[row].startswith("s_waitcnt")}  # fmt: skip
    found: set[int] = set()
    for wait in waits:
        loads = loads_of(evidence, wait)
        found |= set(loads) if load in loads else set()
    return found


def _count(evidence: Evidence, text: str, counter: str, value: str, at: str) -> Asked:
    row = _row(evidence, text, at)
    _expect(evidence, text, row, "s_waitcnt")
    note = f"was {evidence.timeline.listing.text[row]}; whether the data is there is not checked"
    return Asked(text, Edit(counts={row: {counter: int(value)}}), note)


def _without(evidence: Evidence, text: str, zeroed: Zeroed, found: re.Match[str]) -> Asked:
    name, at, end = found.groups()
    name = CALLED.get(name, name)
    if name in CAUSES:
        if at is not None and end is None:
            raise WhatIfError(f"--what-if {text!r}: a cause is at a pair, 0xMFMA->0xMFMA")
        pair = None if at is None else (_row(evidence, text, at), _row(evidence, text, end))
        edit = zeroed(evidence, name, pair)
        if edit is None:
            raise WhatIfError(f"--what-if {text!r}: nothing there that a replay can take out")
        return Asked(text, edit)
    rows = _executed(evidence)
    if at is not None and end is None:
        row = _row(evidence, text, at)
        _expect(evidence, text, row, name)
        rows = [row]
    texts = evidence.timeline.listing.text
    chosen = [row for row in rows if opcode_of(texts[row]) == name or at is not None]
    if not chosen or end is not None:
        raise WhatIfError(f"--what-if {text!r}: expected one of {FORMS}, with an opcode that ran; "
                          f"causes: {', '.join(CAUSES)}")  # fmt: skip
    if any(evidence.timeline.costs.pipe[row] == Pipe.MATRIX for row in chosen):
        raise WhatIfError(f"--what-if {text!r}: an MFMA is the work itself and stays")
    return Asked(text, Edit(removed=np.array(chosen, np.int64)))


def _executed(evidence: Evidence) -> list[int]:
    """Listing rows that ran."""
    rows = np.unique(evidence.timeline.executed["row"].to_numpy())
    found: list[int] = rows[rows >= 0].tolist()
    return found


def _row(evidence: Evidence, text: str, at: str) -> int:
    """The executed row at an address."""
    listing = evidence.timeline.listing
    found = [row for row in _executed(evidence) if listing.vaddr[row] == int(at, 16)]
    if not found:
        raise WhatIfError(f"--what-if {text!r}: no instruction at {at} was executed")
    if len(found) > 1:
        raise WhatIfError(f"--what-if {text!r}: {at} stands in {len(found)} code objects; "
                            "--kernel picks one")  # fmt: skip
    return int(found[0])


def _expect(evidence: Evidence, text: str, row: int, opcode: str) -> None:
    if not evidence.timeline.listing.text[row].startswith(opcode):
        raise WhatIfError(f"--what-if {text!r}: {_is(evidence, row)}, no {opcode}")


def _is(evidence: Evidence, row: int) -> str:
    listing = evidence.timeline.listing
    return f"{int(listing.vaddr[row]):#x} is {listing.text[row]}"


def _told(evidence: Evidence, rows: list[int]) -> str:
    listing = evidence.timeline.listing
    return ", ".join(f"{int(listing.vaddr[row]):#x}" for row in rows)
