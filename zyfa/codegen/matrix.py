"""The matrix phase: a stream of matrix instructions with their operand reads woven in.

Operands come from LDS through a ring of four: the reads of a step are issued right after the
matrix instruction that frees its registers, so each is under way for three others (a read-ahead of
two shows the LDS latency, one of four gains nothing).
"""

from __future__ import annotations

from collections.abc import Sequence

from zyfa.codegen.instruction import Line, wait
from zyfa.codegen.machine import RING, Machine
from zyfa.codegen.steps import Ready, Steps, readers

CATCH_UP = 2
"""Operands read after a matrix instruction until the ring is full; one after the first, so that the
next to be used does not queue behind others."""
LGKM_MOST = 15
"""Largest count that s_waitcnt lgkmcnt holds."""


def prefetch(k: Machine, steps: Steps, count: int = RING) -> list[list[Line]]:
    """Reads of the first `count` operands, a list an operand; the caller waits for them."""
    return [step.reads(k.ring[i]) for i, step in enumerate(readers(steps)[:count])]


def stream(
    k: Machine, steps: Steps, riders: Sequence[list[Line]] = (), ready: int = RING
) -> list[Line]:
    """All steps in order; the first `ready` operands must have been read and waited for.

    The rest of the ring is caught up (CATCH_UP). `riders`: instruction groups put after
    successive matrix instructions (direct loads, scalars).
    """
    to_read = readers(steps)
    pending = list(riders)
    lines: list[Line] = []
    under_way: dict[int, int] = {}
    index, following = 0, ready
    for step in steps:
        if isinstance(step, Ready):
            lines.append(step.product)
        else:
            if under_way.pop(index, 0):
                lines.append(wait(lgkmcnt=min(LGKM_MOST, sum(under_way.values()))))
            lines.append(step.product(k.ring[index % RING]))
            index += 1
            most = CATCH_UP if index > 1 else 1
            last = min(following + most, index + RING, len(to_read))
            for ahead in range(following, last):
                reads = to_read[ahead].reads(k.ring[ahead % RING])
                under_way[ahead] = len(reads)
                lines += reads
            following = max(following, last)
        if pending:
            lines += pending.pop(0)
    for rider in pending:
        lines += rider
    return lines
