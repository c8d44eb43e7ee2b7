"""Pipe occupancy from AMD CDNA thread traces, without a GPU or ROCm.

>>> import tracekit
>>> print(tracekit.explain("traces/lockstep"))
>>> timeline = tracekit.open("traces/pingpong").timeline()
>>> timeline.instructions.head()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tracekit.version import VERSION as __version__

__all__ = [
    "Capture", "FormatError", "Timeline", "TracekitError", "__version__", "compare", "explain",
    "occupancy", "open", "waits",
]  # fmt: skip

if TYPE_CHECKING:
    from tracekit.answers.questions import compare, explain, occupancy, waits
    from tracekit.build import open_capture as open
    from tracekit.capture.capture import Capture
    from tracekit.errors import FormatError, TracekitError
    from tracekit.tables.timeline import Timeline

_HOME = {
    "Capture": ("tracekit.capture.capture", "Capture"),
    "FormatError": ("tracekit.errors", "FormatError"),
    "Timeline": ("tracekit.tables.timeline", "Timeline"),
    "TracekitError": ("tracekit.errors", "TracekitError"),
    "compare": ("tracekit.answers.questions", "compare"),
    "explain": ("tracekit.answers.questions", "explain"),
    "occupancy": ("tracekit.answers.questions", "occupancy"),
    "open": ("tracekit.build", "open_capture"),
    "waits": ("tracekit.answers.questions", "waits"),
}


def __getattr__(name: str) -> object:
    # numpy and pandas cost a third of a second: nothing is imported before it is used.
    if name not in _HOME:
        raise AttributeError(f"module 'tracekit' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
