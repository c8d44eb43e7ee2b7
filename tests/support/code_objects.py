"""Assembles gfx9 assembly to a code object with the ziglang wheel (clang and ld.lld)."""

import importlib.util
import subprocess
import sys
from pathlib import Path


def available() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def assemble(text: str, folder: Path, cpu: str = "gfx950", name: str = "kernel") -> Path:
    """``folder/name.co``, a linked code object of ``text``.

    ``text`` is a whole source file, or only instructions: then they become the function
    "kernel".  Raises AssertionError with the assembler's message.
    """
    source, relocatable, shared = (folder / f"{name}.{end}" for end in ("s", "o", "co"))
    source.write_text(text if ".text" in text else function("kernel", text))
    _run("clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-c", source, "-o", relocatable)
    _run("ld.lld", "-shared", relocatable, "-o", shared)
    return shared


def function(name: str, body: str) -> str:
    """Source of one function with a size."""
    return (
        f".text\n.globl {name}\n.p2align 8\n.type {name},@function\n"
        f"{name}:\n{body}\n.L{name}_end:\n.size {name}, .L{name}_end-{name}\n"
    )


def _run(tool: str, *arguments: object) -> None:
    command = [sys.executable, "-m", "ziglang", tool, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
