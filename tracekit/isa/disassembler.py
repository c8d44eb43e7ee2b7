"""AMDGPU disassembly by the LLVM-C interface of a shared library, through ctypes.

The library is, in this order: the ``library`` argument or $TRACEKIT_LLVM (a file, or a
directory to search), ROCm's ($ROCM_PATH, else /opt/rocm), the one in the rocm-llvm-python
wheel, one of the system's packages (``llvm``).  The wheel's Python modules are not imported.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracekit.errors import TracekitError
from tracekit.isa.llvm import candidates, what_to_install

_TRIPLE = b"amdgcn-amd-amdhsa"
_MAX_TEXT = 1024
_LONGEST = 16  # bytes of an instruction


class DisassemblerError(TracekitError):
    """No usable LLVM library, or it does not know the processor."""


class Disassembler:
    """Disassembles for one processor; ``library`` tells the file and ``version`` the LLVM."""

    def __init__(self, processor: str, library: str | Path | None = None) -> None:
        self._llvm, self.library = _load(str(library) if library else None)
        self._context = self._llvm.LLVMCreateDisasmCPUFeatures(
            _TRIPLE, processor.encode(), b"", None, 0, None, None
        )
        if not self._context:
            raise DisassemblerError(f"{self.library}: cannot disassemble for {processor}")

    @property
    def version(self) -> str:
        """LLVM's version, "" before LLVM 16."""
        return _version(self._llvm)

    def decode(self, code: bytes, vaddr: int = 0) -> Iterator[tuple[int, int, str]]:
        """(offset, size, text) of each instruction; what is none gives ".long 0x..." rows.

        The text is LLVM's, with single blanks.  A rest of less than four bytes is dropped.
        """
        end = len(code) & ~3
        # LLVM crashes on a literal behind the end: let it read zeros there.
        buffer = ctypes.create_string_buffer(code[:end], end + _LONGEST)
        base = ctypes.addressof(buffer)
        text = ctypes.create_string_buffer(_MAX_TEXT)
        words = np.frombuffer(code[:end], "<u4")
        fatal = _unprintable(words)
        disassemble, context = self._llvm.LLVMDisasmInstruction, self._context
        at = 0
        while at < end:
            size = 0
            if not fatal[at >> 2]:
                rest = end + _LONGEST - at
                size = disassemble(context, base + at, rest, vaddr + at, text, _MAX_TEXT)
            if 0 < size <= end - at:
                yield at, size, " ".join(text.value.decode("ascii", "replace").split())
            else:
                size = 4
                yield at, size, f".long 0x{int(words[at >> 2]):08x}"
            at += size

    def __del__(self) -> None:
        context = getattr(self, "_context", None)
        if context:
            self._llvm.LLVMDisasmDispose(context)


def _unprintable(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Words at which LLVM's decoder or printer would crash (bool per word).

    LLVM 22 does not survive field values that no assembler emits, but that data between
    instructions has: SDWA selectors 7 and "unused" 3; 255 (a literal) as operand of VOP3,
    as soffset of MUBUF and MTBUF, as scalar destination; A or B of an f8f6f4 MFMA that is
    no register.  Found by fuzzing: with these excluded, no crash in 50 million words.
    """
    second = np.zeros_like(words)
    second[:-1] = words[1:]
    top = words >> 24
    sdwa = (top < 0x80) & ((words & 0x1FF) == 0xF9)
    compare = (words >> 25) == 0x3E  # VOPC has no destination selectors
    wrong = ((second >> 16) & 7 == 7) | ((second >> 24) & 7 == 7)
    wrong |= ~compare & (((second >> 8) & 7 == 7) | ((second >> 11) & 3 == 3))
    vop3 = (top >= 0xD0) & (top <= 0xD3)
    literal = (second & 0x1FF == 255) | (second >> 9 & 0x1FF == 255) | (second >> 18 & 0x1FF == 255)
    scalar = (words & 0xFF == 0xFF) & ((top == 0xD0) | (words >> 16 == 0xD289))
    buffer = ((top >= 0xE0) & (top <= 0xE3)) | ((top >= 0xE8) & (top <= 0xEB))
    fatal: NDArray[np.bool_] = sdwa & wrong
    fatal |= vop3 & (literal | scalar)
    fatal |= buffer & (second >> 24 == 255)
    f8f6f4 = (words >> 16 == 0xD3AD) | (words >> 16 == 0xD3AE)
    fatal |= f8f6f4 & (((second & 0x1FF) < 256) | ((second >> 9 & 0x1FF) < 256))
    fatal[:-2] |= (words[:-2] >> 16 == 0xD3AC) & fatal[2:]  # v_mfma_scale: both in one
    return fatal


def available(library: str | Path | None = None) -> str | None:
    """ "LLVM 22.0.0 (path)" of the library that would be used; None without one."""
    try:
        llvm, path = _load(str(library) if library else None)
    except DisassemblerError:
        return None
    return f"LLVM {_version(llvm)} ({path})"


@lru_cache(maxsize=4)
def _load(library: str | None) -> tuple[ctypes.CDLL, str]:
    """The first library that loads and has an AMDGPU disassembler, and its path."""
    wanted = library or os.environ.get("TRACEKIT_LLVM")
    reason = ""
    for path, least in candidates(wanted):
        try:
            llvm = _initialised(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            reason = f": {error}"
            continue
        if least and int(_version(llvm).partition(".")[0] or 0) < least:
            reason = f": {path} is older than LLVM {least}"
            continue
        return llvm, str(path)
    if wanted:
        raise DisassemblerError(f"{wanted}: no LLVM library with an AMDGPU disassembler{reason}")
    raise DisassemblerError(
        f"disassembling a code object needs LLVM{reason}: {what_to_install()}, or set "
        "TRACEKIT_LLVM to a libLLVM.so with AMDGPU"
    )


def _initialised(llvm: ctypes.CDLL) -> ctypes.CDLL:
    for part in ("TargetInfo", "Target", "TargetMC", "Disassembler"):
        initialise = getattr(llvm, f"LLVMInitializeAMDGPU{part}")
        initialise.restype = None
        initialise()
    llvm.LLVMCreateDisasmCPUFeatures.restype = ctypes.c_void_p
    llvm.LLVMCreateDisasmCPUFeatures.argtypes = [
        *[ctypes.c_char_p] * 3,
        ctypes.c_void_p,
        ctypes.c_int,
        *[ctypes.c_void_p] * 2,
    ]
    llvm.LLVMDisasmInstruction.restype = ctypes.c_size_t
    llvm.LLVMDisasmInstruction.argtypes = [
        *[ctypes.c_void_p] * 2,
        *[ctypes.c_uint64] * 2,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    llvm.LLVMDisasmDispose.restype = None
    llvm.LLVMDisasmDispose.argtypes = [ctypes.c_void_p]
    return llvm


def _version(llvm: ctypes.CDLL) -> str:
    try:
        get = llvm.LLVMGetVersion
    except AttributeError:
        return ""
    numbers = [ctypes.c_uint() for _ in range(3)]
    get(*map(ctypes.byref, numbers))
    return ".".join(str(number.value) for number in numbers)
