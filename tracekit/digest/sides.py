"""One side of a comparison as JSON: the run, and the runs of its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracekit.analysis.comparison import saved
from tracekit.analysis.comparison.runs import Run
from tracekit.analysis.explain.changes import Side


@dataclass(frozen=True)
class KernelRun:
    """A kernel before (see ``explain.changes.Side``)."""

    kernel: str
    matrix_cycles: int
    run: Run


@dataclass(frozen=True)
class Sides:
    """A capture as ``run`` of compare, and its ``kernels``, most matrix cycles first, as base of
    explain."""

    run: Run
    kernels: tuple[KernelRun, ...]

    @classmethod
    def of(cls, run: Run, kernels: Sequence[Side]) -> Sides:
        return cls(run, tuple(KernelRun(e.kernel, e.matrix_cycles, e.run) for e in kernels))

    def json(self) -> dict[str, Any]:
        """For a digest."""
        return {
            "run": saved.entry(self.run),
            "kernels": [
                {"kernel": each.kernel, "matrix_cycles": each.matrix_cycles,
                 "run": saved.entry(each.run)}
                for each in self.kernels
            ],
        }  # fmt: skip

    @classmethod
    def told(cls, found: Mapping[str, Any]) -> Sides:
        """What ``json`` gave; raises as ``saved.run_of`` for anything else."""
        kernels = [
            KernelRun(str(each["kernel"]), int(each["matrix_cycles"]), saved.run_of(each["run"]))
            for each in found["kernels"]
        ]
        return cls(saved.run_of(found["run"]), tuple(kernels))
