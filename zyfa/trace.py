"""One causal head on the simulator, written as the thread trace that a CU would leave. No torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from zyfa import simulate
from zyfa.arithmetic import fp8_e4m3_encode
from zyfa.codegen import Options
from zyfa.codegen.rowsums import ROWSUMS
from zyfa.shape import D128

HEAD_DIM = D128.d_qk
SCALE = HEAD_DIM**-0.5
INPUTS = ("sink", "gaussian")
PRODUCT_CYCLES = 64
"""Matrix cycles of a 32 x 32 x 64 product, FP8."""


def codes(name: str, length: int, seed: int = 0) -> list[np.ndarray]:
    """q, k, v as E4M3 codes (1, length, 1, 128). ValueError for an unknown name.

    sink: key 0 outweighs the others, so rows keep their first reference; gaussian: new maxima keep
    coming, and with them the rescale path.
    """
    if name not in INPUTS:
        raise ValueError(f"unknown input {name!r}: choose from {', '.join(INPUTS)}")
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((3, 1, length, 1, HEAD_DIM)).astype(np.float32)
    if name == "sink":
        direction = rng.standard_normal(HEAD_DIM).astype(np.float32)
        direction /= np.linalg.norm(direction)
        q += 8 * direction
        k[:, 0] = 9 / 8 * HEAD_DIM**0.5 * direction
    return [fp8_e4m3_encode(x) for x in (q, k, v)]


def record(  # noqa: PLR0913 - what to run, and where to
    options: Options,
    length: int,
    folder: str | Path,
    data: str = "sink",
    parameters: Any = None,
    seed: int = 0,
) -> simulate.Simulated:
    """Run the job with the longest tile (the first and the last of the head) on one CU.

    Writes the capture into `folder`. Times are *simulated*; memory latency and bandwidth are those
    of `parameters` (`zyfa.sim.timing.parameters.Parameters`).
    """
    q, k, v = codes(data, length, seed)
    return simulate.attention(
        q,
        k,
        v,
        SCALE,
        options=options,
        grid=8 * -(-length // 4096),
        workgroups=[0],
        capture=folder,
        parameters=parameters,
    )


def shares(folder: str | Path, options: Options) -> tuple[list[float], list[float]] | None:
    """(busy, useful) of each SIMD's matrix pipe in the steady window of a capture, 0 to 1.

    Useful leaves out the row sum, which the article does not count. None where a wave runs too few
    blocks for a steady window.
    """
    import tracekit
    from tracekit.analysis.occupancy import occupancy

    rows = occupancy(tracekit.open(folder).timeline(), "steady").rows
    if set(rows.window) != {"steady"}:
        return None
    busy = [float(x) for x in rows.matrix_occupancy]
    shape = options.shape
    products = shape.key_tiles * shape.qk_steps + shape.value_tiles * shape.pv_steps
    useful = PRODUCT_CYCLES * products
    part = useful / (useful + ROWSUMS[options.rowsum].cycles)
    return busy, [part * x for x in busy]
