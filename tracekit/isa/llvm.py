"""Where a shared LLVM library with an AMDGPU disassembler is, and what to install without one."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_PATTERNS = (
    "libLLVM.so*", "libLLVM-*.so*", "librocmllvm.so*", "libLLVM*.dylib",
    "lib/libLLVM*.so*", "lib/llvm/lib/libLLVM*.so*", "llvm/lib/libLLVM*.so*",
    "lib/libLLVM*.dylib",
)  # fmt: skip
#: Where packages put LLVM: Debian and Ubuntu (apt.llvm.org too), Fedora and Arch, Homebrew on
#: Linux, on Apple silicon and on Intel Macs.
_SYSTEM = (
    "/usr/lib/llvm-*/lib", "/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib64/llvm*/lib",
    "/usr/lib", "/home/linuxbrew/.linuxbrew/opt/llvm*/lib", "/opt/homebrew/opt/llvm*/lib",
    "/usr/local/opt/llvm*/lib",
)  # fmt: skip
#: The first LLVM release that knows gfx950 (AMD's own older ones do too).
LEAST_VERSION = 20
#: CPython versions that the wheel of rocm-llvm-python exists for (Linux x86-64).
_WHEELS = ((3, 11), (3, 14))
_NUMBER = re.compile(r"(\d+)")


def candidates(wanted: str | None) -> Iterator[tuple[Path, int]]:
    """Libraries to try, the best first, each with the least major version that will do.

    ``wanted``: a file, or a directory to search; None: ROCm's ($ROCM_PATH, else /opt/rocm),
    the one in the rocm-llvm-python wheel, the system's, newest first.
    """
    if wanted is not None:
        yield from ((file, 0) for file in files(Path(wanted)))
        return
    yield from ((file, 0) for file in files(Path(os.environ.get("ROCM_PATH") or "/opt/rocm")))
    found = importlib.util.find_spec("rocm")
    for folder in (found.submodule_search_locations or ()) if found else ():
        yield from ((file, 0) for file in files(Path(folder) / "llvm"))
    yield from ((file, LEAST_VERSION) for file in installed())


def files(path: Path) -> list[Path]:
    """``path`` itself, or the LLVM libraries in a directory."""
    if not path.is_dir():
        return [path]
    return [file for pattern in _PATTERNS for file in sorted(path.glob(pattern))]


def installed(root: Path = Path("/")) -> list[Path]:
    """LLVM libraries of the system's packages below ``root``, newest first, each once."""
    found: dict[Path, Path] = {}
    for pattern in _SYSTEM:
        for folder in sorted(root.glob(pattern.lstrip("/"))):
            for name in _PATTERNS[:4]:
                for file in sorted(folder.glob(name)):
                    found.setdefault(file.resolve(), file)
    return sorted(found.values(), key=_version, reverse=True)


def _version(path: Path) -> tuple[int, ...]:
    """Numbers of the name, of what it links to, or of its folder."""
    for text in (path.name, path.resolve().name, path.parent.parent.name):
        numbers = tuple(map(int, _NUMBER.findall(text)))
        if numbers:
            return numbers
    return ()


def what_to_install() -> str:
    """The command that brings a disassembler to this machine."""
    if sys.platform == "darwin":
        return "brew install llvm"
    machine = platform.machine()
    wheel = (
        sys.platform.startswith("linux")
        and machine in ("x86_64", "AMD64")
        and platform.python_implementation() == "CPython"
        and _WHEELS[0] <= sys.version_info[:2] <= _WHEELS[1]
    )
    if wheel:
        return "pip install 'rocm-llvm-python>=7.2,<8'"
    if sys.platform.startswith("linux"):
        return (
            f"install libLLVM {LEAST_VERSION} or later (Debian and Ubuntu: apt install "
            f"libllvm{LEAST_VERSION}, from apt.llvm.org where the release lacks it; Fedora: dnf "
            "install llvm-libs)"
        )
    return (
        f"set TRACEKIT_LLVM to an LLVM {LEAST_VERSION} library with AMDGPU, or write the listing "
        "on a Linux machine (tracekit listing CODE_OBJECT -o code.json)"
    )
