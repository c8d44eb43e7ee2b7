"""How the two waves of a SIMD share a block's time, a module a variant."""

from importlib import import_module

from zyfa.codegen.schedules.base import Schedule

_MODULES = (
    "pingpong",
    "gap",
    "early_gap",
    "serial",
)
SCHEDULES: dict[str, Schedule] = {
    name: import_module(f"{__name__}.{name}").SCHEDULE for name in _MODULES
}
"""By the name in `Options`, the default first."""

__all__ = ["SCHEDULES", "Schedule"]
