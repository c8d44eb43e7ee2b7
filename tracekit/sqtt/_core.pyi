from typing import Any

import numpy as np
from numpy.typing import NDArray

def decode(data: NDArray[np.uint8], target_cu: int) -> dict[str, Any]: ...
def stitch(
    type: NDArray[np.uint8],
    flags: NDArray[np.uint8],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    start: NDArray[np.int32],
    anchor_wave: NDArray[np.int64],
    anchor_record: NDArray[np.int64],
    anchor_row: NDArray[np.int32],
    accept: NDArray[np.uint64],
    strict: NDArray[np.uint64],
    next: NDArray[np.int32],
    target: NDArray[np.int32],
    flow: NDArray[np.uint8],
    budget: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def take(values: NDArray[np.int32] | NDArray[np.int64], row: NDArray[np.int32]) -> NDArray[Any]: ...
def exact(
    type: NDArray[np.uint8],
    issue: NDArray[np.int64],
    typed: NDArray[np.int64],
    stall: NDArray[np.int64],
    epoch: NDArray[np.int32],
    flags: NDArray[np.uint8],
    row: NDArray[np.int32],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    simd: NDArray[np.int64],
    turn: NDArray[np.uint8],
    lag: NDArray[np.int16],
    barrier: NDArray[np.bool_],
    category_of: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def frame(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def release_memory() -> None: ...
def constants() -> dict[str, int | list[int]]: ...
