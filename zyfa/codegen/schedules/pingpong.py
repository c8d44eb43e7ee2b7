"""Two barriers a block: one wave's softmax phase beside the other's matrix phase."""

from zyfa.codegen.schedules.base import Schedule

SCHEDULE = Schedule(read_places=(10, 13), stagger=1)
