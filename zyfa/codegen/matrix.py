"""The matrix phase: a stream of matrix instructions with their operand reads woven in.

Operands come from LDS through a ring of four: the reads of a step are issued right after the
matrix instruction that frees its registers, so each is under way for three others (a read-ahead of
two shows the LDS latency, one of four gains nothing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zyfa.codegen.instruction import Line, wait
from zyfa.codegen.machine import RING, Machine
from zyfa.codegen.registers import Reg

CATCH_UP = 2
"""Operands read after a matrix instruction until the ring is full; one after the first, so that the
next to be used does not queue behind others."""
LGKM_MOST = 15
"""Largest count that s_waitcnt lgkmcnt holds."""


@dataclass(frozen=True, slots=True)
class Step:
    """One matrix instruction; `reads` fills its ring operand, None if it needs none."""

    reads: Callable[[Reg], list[Line]] | None
    product: Callable[[Reg | None], Line]


def prefetch(k: Machine, steps: list[Step], count: int = RING) -> list[list[Line]]:
    """Reads of the first `count` operands, a list an operand; the caller waits for them."""
    readers = [step for step in steps if step.reads]
    return [step.reads(k.ring[i]) for i, step in enumerate(readers[:count])]


def stream(
    k: Machine, steps: list[Step], riders: list[list[Line]] | None = None, ready: int = RING
) -> list[Line]:
    """All steps in order; the first `ready` operands must have been read and waited for.

    The rest of the ring is caught up (CATCH_UP). `riders`: instruction groups put after
    successive matrix instructions (direct loads, scalars).
    """
    readers = [step for step in steps if step.reads]
    pending = list(riders or [])
    lines: list[Line] = []
    under_way: dict[int, int] = {}
    index, following = 0, ready
    for step in steps:
        slot = None
        if step.reads:
            slot = k.ring[index % RING]
            if under_way.pop(index, 0):
                lines.append(wait(lgkmcnt=min(LGKM_MOST, sum(under_way.values()))))
            index += 1
        lines.append(step.product(slot))
        if step.reads:
            most = CATCH_UP if index > 1 else 1
            last = min(following + most, index + RING, len(readers))
            for ahead in range(following, last):
                reads = readers[ahead].reads(k.ring[ahead % RING])
                under_way[ahead] = len(reads)
                lines += reads
            following = max(following, last)
        if pending:
            lines += pending.pop(0)
    for rider in pending:
        lines += rider
    return lines


def interleave(first: list[Step], second: list[Step]) -> list[Step]:
    """One step of each in turn: spreads the LDS traffic of V's transpose reads."""
    out: list[Step] = []
    for i in range(max(len(first), len(second))):
        out += first[i : i + 1] + second[i : i + 1]
    return out
