"""What a schedule says of a block: order of the matrix phase, gap, barriers, places of reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zyfa.codegen.steps import Ready, Step, Steps, woven

Order = Callable[[Steps, Steps, Steps], list[Step | Ready]]
"""(PV, row sums, QK) to the matrix phase."""


def spread(values: Steps, sums: Steps, products: Steps) -> list[Step | Ready]:
    """PV and QK woven, the first row sum after three eighths of them, the second after five."""
    mixed = woven(values, products)
    count = len(mixed)
    for i, step in enumerate(sums):
        mixed.insert(count * (3 + 2 * i) // 8 + i, step)
    return mixed


@dataclass(frozen=True, slots=True)
class Schedule:
    """One variant; a module of this package each, its instance called SCHEDULE.

    read_places: before which group of four elements each of the first operands of M is read. A
        read among conversions costs the softmax about 11 vector ticks, so a phase that the vector
        port bounds reads few; M catches up. With fewer than two M itself waits (simulated,
        lean_ashr: 97.8 %).
    stagger: barriers between the two wave groups, half of those in a block; 0: in step.
    gap: (PV, row sums) to the matrix instructions of M before a pause of the matrix pipe, in which
        the other wave multiplies and adds; None: no gap.
    order: of the matrix phase.
    """

    read_places: tuple[int, ...]
    stagger: int
    gap: Callable[[int, int], int] | None = None
    order: Order = spread

    def matrix(self, values: Steps, sums: Steps, products: Steps) -> list[Step | Ready]:
        """The matrix phase; without QK (the last block) the row sums come last."""
        if not products:
            return [*values, *sums]
        return self.order(values, sums, products)
