"""Pipe occupancy from AMD CDNA thread traces, without a GPU or ROCm.

>>> import tracekit
>>> timeline = tracekit.open("traces/pingpong").timeline()
>>> timeline.instructions.head()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tracekit.version import VERSION as __version__

__all__ = ["Capture", "FormatError", "Timeline", "TracekitError", "__version__", "open"]

if TYPE_CHECKING:
    from tracekit.build import open_capture as open
    from tracekit.capture.capture import Capture
    from tracekit.errors import FormatError, TracekitError
    from tracekit.tables.timeline import Timeline

_HOME = {
    "Capture": ("tracekit.capture.capture", "Capture"),
    "FormatError": ("tracekit.errors", "FormatError"),
    "Timeline": ("tracekit.tables.timeline", "Timeline"),
    "TracekitError": ("tracekit.errors", "TracekitError"),
    "open": ("tracekit.build", "open_capture"),
}


def __getattr__(name: str) -> object:
    # numpy and pandas cost a third of a second: nothing is imported before it is used.
    if name not in _HOME:
        raise AttributeError(f"module 'tracekit' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)
