"""Both waves of a SIMD in the same phase."""

from zyfa.codegen.schedules.base import Schedule

SCHEDULE = Schedule(read_places=(10, 13), stagger=0)
