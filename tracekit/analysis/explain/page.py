"""What a page says, as values: the JSON result is these, and renderings read nothing else.

Cycles are of the shader clock; shares are fractions.  ``LABELS`` tells observed numbers (in
the trace, or a sum of it) from inferred ones (by a table, a rule or an upper bound) and from
simulated ones (by a replay on a model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Ref:
    """An instruction, "" for none: ``key`` is stable across builds; ``vaddr`` and ``line`` (of
    code.json) are -1 where unknown."""

    key: str
    code_object: int
    vaddr: int
    line: int
    instruction: str
    source: str

    @property
    def place(self) -> str:
        """Its address, else its line; "" where neither is known."""
        if self.vaddr >= 0:
            return f"{self.vaddr:#x}"
        return f"line {self.line}" if self.line >= 0 else ""


@dataclass(frozen=True)
class Scope:
    """What was looked at: the denominators of all shares."""

    capture_hash: str
    dispatches: tuple[int, ...]
    ses: tuple[int, ...]
    cus: tuple[int, ...]
    simds: tuple[int, ...]
    waves: int
    window: str
    window_cycles: int
    idle_cycles: int
    simd_cycles_low: int
    simd_cycles_high: int
    iteration_cycles: float | None


@dataclass(frozen=True)
class Headline:
    """Matrix occupancy (of the window, over SIMDs from low to high), its bound by number of
    waves, what limits and the verdict of most SIMDs; None where no MFMA ran."""

    matrix_share: float
    matrix_low: float
    matrix_high: float
    best_1: float | None
    best_2: float | None
    best: float | None
    limit: str
    verdict: str


@dataclass(frozen=True)
class Charged:
    """Idle cycles of a cause that one instruction is charged with; ``share`` of the idle."""

    at: Ref
    cycles: int
    share: float


@dataclass(frozen=True)
class Place:
    """Bubbles between one pair of MFMAs; cycles of the cause in them, ``share`` of the idle."""

    key: str
    previous: Ref
    next: Ref
    bubbles: int
    cycles: int
    share: float


@dataclass(frozen=True)
class Chain:
    """load -> wait -> consumer -> MFMA; cycles and share as in Charged, the rest as in waits."""

    wait: Ref
    load: Ref
    consumer: Ref
    mfma: Ref
    counter: str
    value: int
    count: int
    waited_median: float
    lead_median: float
    latency_median: float | None
    hidden: float | None
    cycles: int
    share: float


@dataclass(frozen=True)
class Gain:
    """What a replay with a change saves: ``gain_share`` of a unit of ``Replay``, in its cycles;
    ``gain_low_cycles``: less the replay's own error, 0 at least.  Negative: it took longer.
    ``after_cycles`` of a unit then; ``next_resource`` is the busiest then,
    ``next_resource_share`` of the time."""

    gain_cycles: float
    gain_low_cycles: float
    gain_share: float
    after_cycles: float
    next_resource: str
    next_resource_share: float


@dataclass(frozen=True)
class WhatIf:
    """A change that was asked for; ``note`` says what to know of it."""

    text: str
    gain: Gain
    note: str


@dataclass(frozen=True)
class Replay:
    """What gains rest on: replays of part of the capture (see ``edits.Replayed``).
    ``unit_cycles``: the mean of all iterations of the page, or of the replayed waves without a
    loop, which gains are of; ``error_cycles``: ``error`` of them."""

    unit: str
    unit_cycles: float
    units: int
    recorded_cycles: float
    unchanged_cycles: float
    error: float
    error_cycles: float
    se: int
    cu: int
    replayed_waves: int
    replayed_instructions: int
    all_instructions: int
    parameters: str


@dataclass(frozen=True)
class Gains:
    """Gains of causes by key and of advice by rule, what was asked for, and the replay behind
    them; None with a ``note`` that says why."""

    replay: Replay | None
    note: str
    causes: Mapping[str, Gain] = field(default_factory=dict)
    advice: Mapping[str, Gain] = field(default_factory=dict)
    what_if: tuple[WhatIf, ...] = ()


@dataclass(frozen=True)
class Cause:
    """A cause: ``share`` of the idle cycles (``low`` to ``high`` over SIMDs), ``of_window``,
    ``per_iteration`` (its cycles while one wave runs one iteration), ``removable`` cycles and
    share at most; ``gain``: with the cause at zero, None where no replay tells;
    ``left_out``: chains, instructions and places that are not listed."""

    key: str
    cycles: int
    share: float
    low: float
    high: float
    of_window: float
    per_iteration: float | None
    removable_cycles: int
    removable_share: float
    gain: Gain | None
    chains: tuple[Chain, ...]
    instructions: tuple[Charged, ...]
    places: tuple[Place, ...]
    left_out: int


@dataclass(frozen=True)
class Gap:
    """Bubbles between one pair of MFMAs, all causes: ``gap_mean`` cycles each on average."""

    key: str
    previous: Ref
    next: Ref
    bubbles: int
    cycles: int
    share: float
    gap_mean: float


@dataclass(frozen=True)
class Resident:
    """Share of the window with so many resident waves."""

    waves: int
    share: float


@dataclass(frozen=True)
class Tail:
    """How the launch drained over the CUs of an SE (see ``residency.tail``)."""

    se: int
    cus: int
    tail_cycles: int
    tail_share: float
    empty_share: float


@dataclass(frozen=True)
class Bytes:
    """Upper bounds per cycle of a CU (see ``memory``), the most of all CUs."""

    memory_bytes_per_cycle: float
    memory_share: float
    lds_bytes_per_cycle: float
    lds_share: float
    lds_busy_share: float
    flop_per_byte: float | None
    memory_bytes_iteration: float | None
    lds_bytes_iteration: float | None
    chip_terabytes_per_second: float | None


@dataclass(frozen=True)
class Advice:
    """What to try: the ``rule`` that fired, its text, the ``numbers`` that fired it, where, and
    the ``gain`` where a replay has the change."""

    rule: str
    text: str
    numbers: dict[str, float | int | None]
    places: tuple[Ref, ...]
    gain: Gain | None = None


@dataclass(frozen=True)
class Doing:
    """Wave cycles of SIMDs without an MFMA, by class; ``share`` of all of them."""

    key: str
    cycles: int
    share: float


@dataclass(frozen=True)
class Page:
    """One kernel.  ``both_removable_cycles``: the two largest causes removed together, at most;
    ``gaps``: the pairs of MFMAs with most idle cycles between them, of ``gap_count`` pairs;
    ``conclude``: whether the verdict of check carries conclusions about its matrix pipe."""

    kernel: str
    conclude: bool
    matrix_cycles: int
    scope: Scope
    headline: Headline
    causes: tuple[Cause, ...]
    both_removable_cycles: int | None
    both_removable_share: float | None
    gaps: tuple[Gap, ...]
    gap_count: int
    resident: tuple[Resident, ...]
    tail: tuple[Tail, ...]
    limiter: str | None
    bytes: Bytes | None
    wave_time: tuple[Doing, ...]
    advice: tuple[Advice, ...]
    replay: Replay | None
    gain_note: str
    what_if: tuple[WhatIf, ...]

    def json(self) -> dict[str, Any]:
        """For the JSON result, with ``truncated`` and what every number is."""
        return {
            **asdict(self),
            "truncated": any(cause.left_out for cause in self.causes),
            "labels": LABELS,
        }


_INFERRED = (
    "best_1", "best_2", "best", "removable_cycles", "removable_share", "both_removable_cycles",
    "both_removable_share", "memory_bytes_per_cycle", "memory_share", "lds_bytes_per_cycle",
    "lds_share", "lds_busy_share", "flop_per_byte", "memory_bytes_iteration",
    "lds_bytes_iteration", "chip_terabytes_per_second", "matrix_share", "matrix_low",
    "matrix_high", "matrix_cycles", "idle_cycles", "cycles", "share", "low", "high", "of_window",
    "gap_mean", "per_iteration", "hidden", "latency_median",
)  # fmt: skip
_SIMULATED = (*(each.name for each in fields(Gain)), "unchanged_cycles", "error", "error_cycles")


_WITH_NUMBERS = (
    Ref, Scope, Headline, Charged, Place, Chain, Gain, Cause, Gap, Resident, Tail, Bytes, Doing,
    Replay, Page,
)  # fmt: skip


def _labels() -> dict[str, str]:
    """Key of a number -> "observed", "inferred" or "simulated" (an advice's ``numbers`` repeat
    others)."""
    numbers = {
        field.name
        for each in _WITH_NUMBERS
        for field in fields(each)
        if str(field.type).split(" ")[0] in ("int", "float")
    }
    observed = dict.fromkeys(sorted(numbers - set(_INFERRED)), "observed")
    simulated = dict.fromkeys(sorted(numbers & set(_SIMULATED)), "simulated")
    return observed | dict.fromkeys(_INFERRED, "inferred") | simulated


LABELS = _labels()
