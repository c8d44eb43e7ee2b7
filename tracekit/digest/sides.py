"""One side of a comparison as JSON: the run, and the iterations of its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracekit.analysis.attribution.names import CAUSES
from tracekit.analysis.comparison import saved
from tracekit.analysis.comparison.runs import Run
from tracekit.analysis.explain.changes import Side
from tracekit.analysis.turns import SHARES, Turns


@dataclass(frozen=True)
class KernelTurns:
    """A kernel before (see ``explain.changes.Side``)."""

    kernel: str
    matrix_cycles: int
    turns: Turns | None


@dataclass(frozen=True)
class Sides:
    """A capture as ``run`` of compare, and its ``kernels``, most matrix cycles first, as base of
    explain."""

    run: Run
    kernels: tuple[KernelTurns, ...]

    @classmethod
    def of(cls, run: Run, kernels: Sequence[Side]) -> Sides:
        return cls(run, tuple(KernelTurns(e.kernel, e.matrix_cycles, e.turns) for e in kernels))

    def json(self) -> dict[str, Any]:
        """For a digest."""
        return {
            "run": saved.entry(self.run),
            "kernels": [
                {"kernel": each.kernel, "matrix_cycles": each.matrix_cycles,
                 "turns": None if each.turns is None else _columns(each.turns)}
                for each in self.kernels
            ],
        }  # fmt: skip

    @classmethod
    def told(cls, found: Mapping[str, Any]) -> Sides:
        """What ``json`` gave; raises as ``saved.run_of`` for anything else."""
        kernels = [
            KernelTurns(
                str(each["kernel"]), int(each["matrix_cycles"]),
                None if each["turns"] is None else _turns(each["turns"]),
            )
            for each in found["kernels"]
        ]  # fmt: skip
        return cls(saved.run_of(found["run"]), tuple(kernels))


def _columns(turns: Turns) -> dict[str, Any]:
    return {
        "cycles": turns.cycles.tolist(), "values": turns.values.T.tolist(),
        "cluster": turns.cluster.tolist(), "lengths": turns.lengths.tolist(),
        "owner": turns.owner.tolist(),
    }  # fmt: skip


def _turns(found: Mapping[str, Any]) -> Turns:
    cycles, cluster, lengths, owner = (
        np.array(found[name], np.int64) for name in ("cycles", "cluster", "lengths", "owner")
    )
    values = np.array(found["values"], np.int64).T
    if values.shape != (len(cycles), len(SHARES) + len(CAUSES)) or len(cluster) != len(cycles):
        raise ValueError("not as many values as iterations")
    if len(owner) != len(lengths):
        raise ValueError("not as many lengths as waves")
    return Turns(cycles, values, cluster, lengths, owner)
