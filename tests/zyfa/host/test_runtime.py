import ctypes

import pytest

from zyfa.host import runtime
from zyfa.host.runtime import Library, RuntimeFailure

CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint),
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip


@pytest.fixture
def library(standin):
    return Library(standin)


def test_launch_passes_shape_stream_and_kernarg(library):
    seen = {}

    def launched(image, symbol, shape, stream, kernarg, size):
        seen.update(symbol=symbol, shape=shape[:7], stream=stream)
        seen["kernarg"] = ctypes.string_at(kernarg, size)
        return 0

    callback = CALLBACK(launched)
    library.lib.standin_on_launch(callback)
    function = library.function(b"\x7fELF...", "zyfa_kernel", 0)
    library.launch(function, 24, 512, b"arguments", 0xABC0)
    assert seen == {
        "symbol": b"zyfa_kernel", "shape": [24, 1, 1, 512, 1, 1, 0], "stream": 0xABC0,
        "kernarg": b"arguments",
    }  # fmt: skip


def test_a_module_is_loaded_once_per_device(library):
    before = library.lib.standin_modules()
    code = b"\x7fELF once"
    first = library.function(code, "zyfa_kernel", 0)
    assert library.function(code, "zyfa_kernel", 0) is first
    assert library.function(code, "zyfa_kernel", 1) is not first
    assert library.lib.standin_modules() == before + 2


def test_failures_carry_the_runtimes_own_words(library):
    with pytest.raises(RuntimeFailure, match="hipModuleLoadData failed: invalid argument"):
        library.function(b"no elf", "zyfa_kernel", 0)
    with pytest.raises(RuntimeFailure, match=r"symbol not found \(500\)"):
        library.function(b"\x7fELF", "other_kernel", 0)
    callback = CALLBACK(lambda *_: 1)
    library.lib.standin_on_launch(callback)
    with pytest.raises(RuntimeFailure, match="hipModuleLaunchKernel"):
        library.launch(library.function(b"\x7fELF", "zyfa_k", 0), 8, 512, b"", 0)


def test_a_missing_library_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(RuntimeFailure, match="cannot load the HIP runtime"):
        Library(tmp_path / "libamdhip64.so")
    monkeypatch.setattr(runtime, "_loaded_by_process", lambda: None)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    runtime.default.cache_clear()
    with pytest.raises(RuntimeFailure, match=r"libamdhip64\.so"):
        runtime.default()
