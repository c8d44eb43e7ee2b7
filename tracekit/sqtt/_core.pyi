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
def frame(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def release_memory() -> None: ...
def token_bytes() -> list[int]: ...
