"""What can go wrong in a simulated kernel. Each error names the instruction that met it."""

from __future__ import annotations

from tracekit.errors import TracekitError


class SimError(TracekitError):
    """A simulated kernel or its launch is wrong; `exit_code` 3."""

    exit_code = 3


class UnknownInstruction(SimError):
    """The simulator does not execute this instruction."""


class HazardError(SimError):
    """A consumer issued before its producer's wait states had passed.

    Attributes: producer, consumer (text with PC), registers, needed, found (issue slots).
    """

    def __init__(self, producer: str, consumer: str, registers: str, needed: int, found: int):
        self.producer, self.consumer, self.registers = producer, consumer, registers
        self.needed, self.found = needed, found
        super().__init__(
            f"{consumer}\n  needs {needed} slots after\n{producer}\n"
            f"  which last wrote or reads {registers}; found {found}"
        )


class PoisonError(SimError):
    """A register was used before the s_waitcnt of the memory instruction that loads it."""


class RaceError(SimError):
    """Two waves touch the same LDS bytes, one writes, and no barrier orders them."""


class BoundsError(SimError):
    """An access outside every buffer, outside the LDS allocation, or misaligned."""
