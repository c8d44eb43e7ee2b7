"""As gap, but early, so that most of the other wave's conversions come beside the matrix work."""

from zyfa.codegen.schedules.base import Schedule

BEFORE = 2
"""Matrix instructions before the gap (simulated, exact: 75, 76, 76, 74 % busy after 1 to 4)."""
SCHEDULE = Schedule(read_places=(13,), stagger=3, gap=lambda values, sums: BEFORE)
