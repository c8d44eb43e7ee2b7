"""Execution pipes and what an instruction costs on them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Pipe(IntEnum):
    """The pipe that executes an instruction; NONE = inside the wave (s_waitcnt, s_nop, ...)."""

    NONE = 0
    MATRIX = 1
    VECTOR = 2
    LDS = 3
    VMEM = 4
    SCALAR = 5
    BRANCH = 6


@dataclass(frozen=True)
class Cost:
    """Cycles that one wave64 instruction holds its pipe; None when the table has no entry."""

    pipe: Pipe
    cycles: int | None
    klass: str
    source: str
    confidence: str


def cost(arch: str, text: str) -> Cost:
    """The cost of the instruction ``text`` on ``arch``."""
    return Cost(Pipe.NONE, None, "", "", "low")
