"""Which decoder runs: the native core when it was built, else its plain-Python twin."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.sqtt import reference
from tracekit.sqtt.raw import LAG_BINS, RawStream


def native_core() -> ModuleType | None:
    """The C++ core; None when it was not built or TRACEKIT_DECODER=python forbids it."""
    if os.environ.get("TRACEKIT_DECODER") == "python":
        return None
    try:
        from tracekit.sqtt import _core
    except ImportError:
        return None
    return _core


def kind() -> str:
    """``native`` or ``pure Python``, for ``tracekit --version``."""
    return "native" if native_core() is not None else "pure Python"


def decode(
    data: bytes | memoryview, target_cu: int, implementation: str | None = None
) -> RawStream:
    """Raw facts of a stream (header included).

    ``implementation`` is "native" or "python"; by default native where it exists.
    Raises ImportError for "native" without a built core.  Never raises for the bytes:
    a cut token ends the stream and is told by ``truncated_at``.
    """
    core = None if implementation == "python" else native_core()
    if core is None:
        if implementation == "native":
            raise ImportError("the native decoder was not built")
        return reference.decode(bytes(data), target_cu)
    facts = core.decode(np.frombuffer(data, np.uint8), target_cu)
    facts["anchors"] = facts["anchors"].reshape(-1, 3)
    facts["replays"] = facts["replays"].reshape(-1, 2)
    facts["lag_counts"] = facts["lag_counts"].reshape(32, 4, LAG_BINS)
    return RawStream(**facts)


def release_memory() -> None:
    """Give memory that decoding freed back to the system, where the core can."""
    core = native_core()
    if core is not None:
        core.release_memory()


def take(values: NDArray[Any], row: NDArray[np.int32]) -> NDArray[Any]:
    """``values[row]`` for int16, int32 or int64 values; row -1 picks the last."""
    core = native_core()
    return values.take(row) if core is None else core.take(values, row)
