"""The attention kernel on the wave simulator: numpy arrays in, numpy arrays out. No torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zyfa import jobs, toolchain
from zyfa.codegen import Options, emit, kernargs
from zyfa.codegen.text import THREADS


@dataclass(frozen=True, slots=True)
class Simulated:
    """out: bf16 bits (B, S, H, 128) uint16; lse: (B, H, S) float32; result: the simulator's."""

    out: np.ndarray
    lse: np.ndarray
    result: Any


def padded(x: np.ndarray) -> np.ndarray:
    """(B, S up to a multiple of 256, H, 128), zeros appended."""
    extra = -x.shape[1] % jobs.TILE
    return np.ascontiguousarray(np.pad(x, ((0, 0), (0, extra), (0, 0), (0, 0))))


def attention(
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

    options = options or Options()
    length = q.shape[1]
    qp, kp, vp = (padded(x) for x in (q, k, v))
    batch, rows, heads, _ = qp.shape
    table = jobs.table(jobs.Shape(batch, rows, heads, k.shape[2]))
    grid = grid or jobs.grid_size(len(table))
    out = np.full(qp.shape, 0xFFFF, np.uint16)
    lse = np.full((batch, heads, rows), np.nan, np.float32)
    one = [np.array([d], np.float32) for d in descales]
    values = {
        "q": qp, "k": kp, "v": vp, "out": out, "lse": lse, "jobs": table,
        "q_descale": one[0], "k_descale": one[1], "v_descale": one[2],
        "scale_log2e": np.float32(scale * math.log2(math.e)), "job_count": len(table),
        "q_stride": heads * jobs.HEAD_DIM, "kv_stride": k.shape[2] * jobs.HEAD_DIM,
        "out_stride": 2 * heads * jobs.HEAD_DIM, "grid": grid,
    }  # fmt: skip
    result = sim.run(
        toolchain.build(emit(options)),
        options.symbol,
        [values[a.name] for a in kernargs.ARGUMENTS],
        grid=grid,
        block=THREADS,
        **simulator,
    )
    return Simulated(out[:, :length], lse[..., :length], result)
