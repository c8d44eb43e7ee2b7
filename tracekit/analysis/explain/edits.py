"""Changes to a recorded run whose effect a replay tells, and what a replay answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]


def _none() -> Array:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Edit:
    """Listing rows whose executions change; everything else stays as recorded.

    ``removed``: take no time and no pipe (what they load still arrives, a latency later);
    ``freed``: vector instructions that run, but are never refused and hold no port; ``counts``:
    row of an s_waitcnt -> counter -> value; ``earlier``: row of a memory instruction -> how
    many of its executions earlier it issues, with waits that go on waiting for the same data.
    """

    removed: Array = field(default_factory=_none)
    freed: Array = field(default_factory=_none)
    counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    earlier: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A replay: mean ``cycles`` of a unit, and the share of its time that each resource of the
    CU is busy ("matrix pipe", "vector port", "LDS", "vector memory"; the mean over SIMDs)."""

    cycles: float
    busy: Mapping[str, float]


@dataclass(frozen=True)
class Replayed:
    """Replays of a part of a capture, all of them simulated.

    ``unit``: "iteration" of one wave, or "wave" (first to last MFMA) where none has a loop;
    ``units``: how many; ``recorded_cycles``: their mean in the capture, ``unchanged`` and
    ``changed`` (one per edit) in the replays; ``error``: median over the units of how far the
    unchanged replay is off, a share; ``waves`` and ``instructions`` of ``se``, ``cu``, of
    ``all_instructions`` of the kernel; ``parameters``: names the model's values.
    """

    unit: str
    units: int
    recorded_cycles: float
    error: float
    unchanged: Outcome
    changed: tuple[Outcome, ...]
    se: int
    cu: int
    waves: int
    instructions: int
    all_instructions: int
    parameters: str


class NoReplay(TracekitError):
    """Why a capture cannot be replayed, in a sentence."""


class Replayer(Protocol):
    """What stands behind the entry point ``tracekit.replay``."""

    def __call__(
        self,
        timeline: Timeline,
        dispatches: Sequence[int],
        header: int,
        edits: Sequence[Edit],
        progress: Callable[[int, int], None] | None = None,
    ) -> Replayed:
        """Replay the kernel's ``dispatches`` unchanged and with each edit.

        ``header``: listing row of the loop's first instruction, -1 without a loop; ``progress``
        is told how many of how many replays are done.  Raises NoReplay.
        """
