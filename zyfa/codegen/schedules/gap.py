"""Six barriers a block: a gap for packed multiply-adds between PV with its row sums and QK."""

from __future__ import annotations

from zyfa.codegen.schedules.base import Schedule
from zyfa.codegen.steps import Ready, Step, Steps


def apart(values: Steps, sums: Steps, products: Steps) -> list[Step | Ready]:
    """PV, row sums, QK."""
    return [*values, *sums, *products]


SCHEDULE = Schedule(
    read_places=(0, 4, 8, 12),
    stagger=3,
    gap=lambda values, sums: values + sums,
    order=apart,
)
