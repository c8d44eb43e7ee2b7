"""What each row of a listing costs on one architecture: a value beside the listing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.pipes import Pipe, cost


@dataclass(frozen=True, eq=False)
class Costs:
    """Pipe and cycles of *n* rows.

    ``assumed_mfma``: cycles that hold for every MFMA whose opcode is not known (no cost table
    has it, or no listing row is there), None: they stay unknown.
    """

    arch: str
    pipe: NDArray[np.uint8]  # costs.Pipe
    cycles: NDArray[np.int16]  # -1 unknown
    klass: NDArray[np.str_]  # kind of instruction on that pipe, "" without
    guessed: NDArray[np.bool_]  # rows whose cycles are ``assumed_mfma``
    assumed_mfma: int | None = None

    @classmethod
    def of(cls, texts: Sequence[str], arch: str, assumed_mfma: int | None = None) -> Costs:
        """Costs of the lines ``texts`` on ``arch`` (one of ARCHS; ValueError otherwise)."""
        found = [cost(arch, text) for text in texts]
        pipe = np.array([c.pipe for c in found], np.uint8)
        cycles = np.array([-1 if c.cycles is None else c.cycles for c in found], np.int16)
        guessed = np.zeros(len(found), bool)
        if assumed_mfma is not None:
            guessed = (pipe == Pipe.MATRIX) & (cycles < 0)
            cycles[guessed] = assumed_mfma
        klass = np.array([c.klass for c in found], "<U16")
        for column in (pipe, cycles, klass, guessed):
            column.flags.writeable = False
        return cls(arch, pipe, cycles, klass, guessed, assumed_mfma)
