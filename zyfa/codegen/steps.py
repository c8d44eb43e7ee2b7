"""Matrix instructions with their operand reads, before they are put in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zyfa.codegen.instruction import Line
from zyfa.codegen.registers import Reg


@dataclass(frozen=True, slots=True)
class Step:
    """One matrix instruction whose A operand comes from LDS: `reads` fill a register of the ring,
    `product` uses it."""

    reads: Callable[[Reg], list[Line]]
    product: Callable[[Reg], Line]


@dataclass(frozen=True, slots=True)
class Ready:
    """One matrix instruction whose operands are in registers."""

    product: Line


Steps = Sequence[Step | Ready]


def readers(steps: Steps) -> list[Step]:
    """The steps that take an operand from LDS, in order."""
    return [step for step in steps if isinstance(step, Step)]


def woven(first: Steps, second: Steps) -> list[Step | Ready]:
    """Both in order and in proportion, one of each in turn where they are equally many.

    Spreads the LDS traffic of V's transpose reads between the reads of K.
    """
    places = [((i + 0.5) / len(x), x[i]) for x in (first, second) for i in range(len(x))]
    return [step for _, step in sorted(places, key=lambda place: place[0])]
