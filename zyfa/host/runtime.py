"""The four HIP runtime calls that a launch needs, through ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from pathlib import Path

from zyfa.errors import ZyfaError

PARAM_BUFFER_POINTER = 1
PARAM_BUFFER_SIZE = 2
PARAM_END = 3
"""HIP_LAUNCH_PARAM_* of hip_runtime_api.h: the kernarg segment is passed as one buffer."""


class RuntimeFailure(ZyfaError):
    """A HIP call returned an error."""


class Library:
    """libamdhip64 or a stand-in with the same functions."""

    def __init__(self, path: str | Path) -> None:
        try:
            self.lib = ctypes.CDLL(str(path))
        except OSError as error:
            raise RuntimeFailure(f"cannot load the HIP runtime: {error}") from error
        self.lib.hipGetErrorString.restype = ctypes.c_char_p
        self.functions: dict[tuple[bytes, str, int], ctypes.c_void_p] = {}

    def _check(self, call: str, *args: object) -> None:
        status = getattr(self.lib, call)(*args)
        if status:
            text = self.lib.hipGetErrorString(status) or b"unknown error"
            raise RuntimeFailure(f"{call} failed: {text.decode()} ({status})")

    def function(self, code: bytes, symbol: str, device: int) -> ctypes.c_void_p:
        """Handle of a kernel; its module is loaded once per device and code object."""
        key = (code, symbol, device)
        if key not in self.functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self._check("hipModuleLoadData", ctypes.byref(module), code)
            name = symbol.encode()
            self._check("hipModuleGetFunction", ctypes.byref(function), module, name)
            self.functions[key] = function
        return self.functions[key]

    def launch(
        self, function: ctypes.c_void_p, grid: int, block: int, kernarg: bytes, stream: int
    ) -> None:
        """Enqueue `grid` workgroups of `block` work-items on `stream`; returns at once."""
        buffer = ctypes.create_string_buffer(kernarg, len(kernarg))
        size = ctypes.c_size_t(len(kernarg))
        extra = (ctypes.c_void_p * 5)(
            PARAM_BUFFER_POINTER,
            ctypes.addressof(buffer),
            PARAM_BUFFER_SIZE,
            ctypes.addressof(size),
            PARAM_END,
        )
        u32 = ctypes.c_uint
        shape = [u32(x) for x in (grid, 1, 1, block, 1, 1, 0)]
        self._check("hipModuleLaunchKernel", function, *shape, ctypes.c_void_p(stream), None, extra)


@functools.cache
def default() -> Library:
    """The HIP runtime that torch has loaded, else the system's. Raises RuntimeFailure."""
    loaded = _loaded_by_process()
    root = Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "lib" / "libamdhip64.so"
    return Library(loaded or (root if root.exists() else "libamdhip64.so"))


def _loaded_by_process() -> str | None:
    """Path of a libamdhip64 already mapped: two copies would not share modules and streams."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return None
    return next((line.split()[-1] for line in lines if "libamdhip64.so" in line), None)
