"""The matrix phase: a stream of matrix instructions with their operand reads woven in.

Operands come from LDS through a ring of four: the reads of a step are issued right after the
matrix instruction that frees its registers, so each is under way for three others (the read-ahead
that timing_rules 3.3 found robust).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zyfa.codegen.instruction import Line, wait
from zyfa.codegen.machine import RING, Machine
from zyfa.codegen.registers import Reg


@dataclass(frozen=True, slots=True)
class Step:
    """One matrix instruction; `reads` fills its ring operand, None if it needs none."""

    reads: Callable[[Reg], list[Line]] | None
    product: Callable[[Reg | None], Line]


def prefetch(k: Machine, steps: list[Step]) -> list[list[Line]]:
    """Reads of the first ring-full of steps, a list an operand; the caller waits for them."""
    readers = [step for step in steps if step.reads]
    return [step.reads(k.ring[i]) for i, step in enumerate(readers[:RING])]


def stream(k: Machine, steps: list[Step], riders: list[list[Line]] | None = None) -> list[Line]:
    """All steps in order; the first ring-full must have been read and waited for.

    `riders`: instruction groups put after successive matrix instructions (direct loads, scalars).
    """
    readers = [step for step in steps if step.reads]
    counts = [len(step.reads(k.ring[0])) for step in readers]
    pending = list(riders or [])
    lines: list[Line] = []
    index = 0
    for step in steps:
        slot = None
        if step.reads:
            slot = k.ring[index % RING]
            if index >= RING:
                lines.append(wait(lgkmcnt=sum(counts[index + 1 : index + RING])))
        lines.append(step.product(slot))
        if step.reads:
            ahead = index + RING
            if ahead < len(readers):
                lines += readers[ahead].reads(k.ring[ahead % RING])
            index += 1
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
