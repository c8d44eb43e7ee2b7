"""What the cost tables return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

#: high = vendor text or source, or measured on a trace; medium = one secondary source;
#: low = inference.
Confidence = Literal["high", "medium", "low"]


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
    """What one wave64 instruction costs.

    ``cycles``: clocks of the shader that it holds its pipe (MATRIX: execution; the others:
    the issue port), None when the tables do not say.  ``klass``: the kind of instruction on
    that pipe, for example "transcendental".
    """

    pipe: Pipe
    cycles: int | None
    klass: str
    source: str
    confidence: Confidence
