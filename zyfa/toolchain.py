"""Assembly to code object: ROCm's clang when present, else the one in the ziglang wheel.

LLVM 22 or newer knows every gfx950 instruction that the kernels use. Code objects are cached under
`$ZYFA_CACHE` (default `~/.cache/zyfa`) by the hash of source and assembler.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from zyfa.errors import ToolchainError

TARGET = ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx950")
OLDEST_LLVM = 20
"""First LLVM release with gfx950's instructions."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Command prefixes of an assembler and a linker, and a name that goes into the cache key."""

    name: str
    clang: tuple[str, ...]
    linker: tuple[str, ...]

    def assemble(self, source: str) -> bytes:
        """Code object (ELF shared object) of one assembly text. Raises ToolchainError."""
        with tempfile.TemporaryDirectory(prefix="zyfa-") as folder:
            text, obj, out = (Path(folder, n) for n in ("kernel.s", "kernel.o", "kernel.co"))
            text.write_text(source)
            _run([*self.clang, *TARGET, "-c", str(text), "-o", str(obj)], self.name)
            _run([*self.linker, "-shared", str(obj), "-o", str(out)], self.name)
            return out.read_bytes()


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(f"{name}: {done.stderr.strip() or 'failed without a message'}")


def rocm(root: Path | None = None) -> Toolchain | None:
    """ROCm's LLVM under `root`, else $ROCM_PATH or /opt/rocm; None when absent or too old."""
    base = root or Path(os.environ.get("ROCM_PATH", "/opt/rocm"))
    folder = base / "llvm" / "bin"
    clang, linker = folder / "clang", folder / "ld.lld"
    if not (clang.exists() and linker.exists()):
        return None
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)", version.stdout)
    if not found or int(found[1]) < OLDEST_LLVM:
        return None
    return Toolchain(f"rocm-llvm-{found[1]}", (str(clang),), (str(linker),))


def wheel() -> Toolchain | None:
    """Clang and lld of the ziglang wheel; None when it is not installed."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    from importlib.metadata import version

    zig = (sys.executable, "-m", "ziglang")
    return Toolchain(f"ziglang-{version('ziglang')}", (*zig, "clang"), (*zig, "ld.lld"))


def find() -> Toolchain:
    """The toolchain in use. Raises ToolchainError saying how to get one."""
    chosen = rocm() or wheel()
    if chosen is None:
        raise ToolchainError(
            "no gfx950 assembler: install ROCm, or `pip install tracekit[samples]` for ziglang"
        )
    return chosen


def cache_folder() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "zyfa"
    return Path(os.environ.get("ZYFA_CACHE", default))


def build(source: str, toolchain: Toolchain | None = None) -> bytes:
    """Code object of `source`, from the cache when it was built before."""
    chosen = toolchain or find()
    key = hashlib.sha256(f"{chosen.name}\0{source}".encode()).hexdigest()
    path = cache_folder() / f"{key}.co"
    if path.exists():
        return path.read_bytes()
    code = chosen.assemble(source)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(code)
    shutil.move(partial, path)  # atomic: readers see all or nothing
    return code
