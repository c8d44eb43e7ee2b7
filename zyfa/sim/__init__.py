"""A wave simulator of gfx950: numbers, cycles, hazards and captures from real code objects."""

from __future__ import annotations

from zyfa.sim.errors import (
    BoundsError,
    HazardError,
    PoisonError,
    RaceError,
    SimError,
    UnknownInstruction,
)
from zyfa.sim.runs.simulation import SimResult, run

__all__ = [
    "BoundsError",
    "HazardError",
    "PoisonError",
    "RaceError",
    "SimError",
    "SimResult",
    "UnknownInstruction",
    "run",
]
