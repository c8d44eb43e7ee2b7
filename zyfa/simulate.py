"""The attention kernel on the wave simulator: numpy arrays in, numpy arrays out. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zyfa import jobs, toolchain
from zyfa.codegen import Options, kernargs, kernel
from zyfa.shape import D128, Shape


@dataclass(frozen=True, slots=True)
class Simulated:
    """out: bf16 bits (B, S, H, 128) uint16; lse: (B, H, S) float32; result: the simulator's."""

    out: np.ndarray
    lse: np.ndarray
    result: Any


def padded(x: np.ndarray, shape: Shape = D128) -> np.ndarray:
    """(B, S up to whole tiles, H, D), zeros appended."""
    extra = jobs.padded(x.shape[1], shape) - x.shape[1]
    return np.ascontiguousarray(np.pad(x, ((0, 0), (0, extra), (0, 0), (0, 0))))


def attention(  # noqa: PLR0913 - the arguments of an attention call
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    scale: float,
    descales: Sequence[float] = (1.0, 1.0, 1.0),
    options: Options | None = None,
    grid: int | None = None,
    **simulator: Any,
) -> Simulated:
    """Run one variant on FP8 codes (uint8): q (B, S, H, 128), k and v (B, S, Hk, 128).

    grid: workgroups, a multiple of 8 (default: one a job, rounded up). Further keywords go to
    `zyfa.sim.run`. Raises the simulator's errors.
    """
    from zyfa import sim

    made = kernel(options)
    shape = made.options.shape
    length = q.shape[1]
    qp, kp, vp = (padded(x, shape) for x in (q, k, v))
    batch, rows, heads, _ = qp.shape
    problem = jobs.Problem(batch, rows, heads, k.shape[2], shape)
    grid = grid or jobs.grid_size(problem.job_count)
    out = np.full((batch, rows, heads, shape.d_v), 0xFFFF, np.uint16)
    lse = np.full((batch, heads, rows), np.nan, np.float32)
    one = [np.array([d], np.float32) for d in descales]
    pointers = {
        "q": qp, "k": kp, "v": vp, "out": out, "lse": lse, "jobs": jobs.table(problem),
        "q_descale": one[0], "k_descale": one[1], "v_descale": one[2],
    }  # fmt: skip
    result = sim.run(
        toolchain.build(made.text),
        made.symbol,
        list(kernargs.values(kernargs.Call(problem, scale, grid), pointers).values()),
        grid=grid,
        block=shape.threads,
        **simulator,
    )
    return Simulated(out[:, :length], lse[..., :length], result)
