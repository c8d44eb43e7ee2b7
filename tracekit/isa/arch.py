"""Which architecture a capture is from, and how that is known."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tracekit.errors import FormatError, TracekitError
from tracekit.gfx9 import ARCHS
from tracekit.isa.classify import mnemonic

#: What a capture is taken for when nothing tells: UI directories say only "vega".
DEFAULT = "gfx942"

#: EF_AMDGPU_MACH: the low byte of e_flags (LLVM, BinaryFormat/ELF.h).
_MACH_MASK = 0xFF
MACHS: dict[int, str] = {
    0x2C: "gfx900", 0x2E: "gfx904", 0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909",
    0x32: "gfx90c", 0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030",
    0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3E: "gfx1034", 0x3D: "gfx1035",
    0x45: "gfx1036", 0x3F: "gfx90a", 0x40: "gfx940", 0x41: "gfx1100", 0x43: "gfx1150",
    0x44: "gfx1103", 0x46: "gfx1101", 0x47: "gfx1102", 0x48: "gfx1200", 0x4A: "gfx1151",
    0x4B: "gfx941", 0x4C: "gfx942", 0x4E: "gfx1201", 0x4F: "gfx950", 0x51: "gfx9-generic",
    0x5F: "gfx9-4-generic",
}  # fmt: skip

#: Opcodes that only one of ARCHS has, in LLVM's spelling: gfx90a still prints MFMA names
#: without the underscore before the types.
_ONLY: dict[str, re.Pattern[str]] = {
    "gfx90a": re.compile(
        r"v_mfma_\w+\dx\d+x\d+(f16|bf16|bf16_1k|f32|f64|i8)$|buffer_(wbinvl1|invl2)"
        r"|v_(mac|mad|madak|madmk)_f32(_e32|_e64)?$"
    ),
    "gfx942": re.compile(r"v_mfma_\w+_xf32$"),
    "gfx950": re.compile(
        r"v_mfma_scale_|v_mfma_\w+_f8f6f4$|v_mfma_f32_(16x16x32|32x32x16)_(bf16|f16)$"
        r"|v_mfma_i32_(16x16x64|32x32x32)_i8$|v_mfma_ld_scale_b32$"
        r"|v_smfmac_f32_(16x16x64|32x32x32)_b?f16$|v_smfmac_\w+_(16x16x128|32x32x64)_"
        r"|v_permlane(16|32)_swap_b32|v_bitop3_b|v_prng_b32|v_cvt_scalef32_|v_ashr_pk_"
        r"|v_cvt_pk_(bf16|f16)_f32$|v_cvt_sr_(bf16|f16)_f32$|v_(maximum|minimum)3_f32"
        r"|v_pk_(maximum|minimum)3_f16|ds_read_b(64|96)_tr_b|global_load_lds_dwordx[34]"
    ),
}


@dataclass(frozen=True)
class ArchChoice:
    """An architecture, where it is known from, and whether that was a guess."""

    name: str
    source: str
    assumed: bool = False

    def __str__(self) -> str:
        return f"{self.name} ({self.source})"


class UnknownArchError(TracekitError):
    """--arch names a chip that is not supported: wrong usage."""

    exit_code = 2


def mach_name(e_flags: int) -> str:
    """The processor that an AMDGPU ELF header names, as LLVM calls it."""
    mach = e_flags & _MACH_MASK
    return MACHS.get(mach, f"machine {mach:#04x}")


def from_elf_flags(e_flags: int) -> ArchChoice | None:
    """By ``e_flags`` of a code object; None for other chips and for generic targets."""
    name = mach_name(e_flags)
    return ArchChoice(name, "code object") if name in ARCHS else None


def from_target_version(version: int) -> ArchChoice | None:
    """By the kernel driver's number: 90500 (major 9, minor 5, stepping 0) is gfx950."""
    major, minor, stepping = version // 10000, version // 100 % 100, version % 100
    name = f"gfx{major}{minor:x}{stepping:x}"
    return ArchChoice(name, f"target version {version}") if name in ARCHS else None


def from_opcodes(texts: Iterable[str]) -> ArchChoice | None:
    """By an opcode that only one architecture has; None without one or with a contradiction."""
    found: dict[str, str] = {}
    for name in {mnemonic(text) for text in texts}:
        for arch, only in _ONLY.items():
            if only.match(name):
                found[arch] = min(name, found.get(arch, name))
    if len(found) != 1:
        return None
    ((arch, name),) = found.items()
    return ArchChoice(arch, f"opcode {name}")


class NamedFile(Protocol):
    """A file, on disk or in an archive."""

    @property
    def name(self) -> str: ...
    def read_bytes(self) -> bytes: ...


def from_agent_info(path: str | NamedFile, agent: int | None) -> ArchChoice | None:
    """By rocprofv3's ``*_agent_info.csv``: the row of ``agent``, else all GPUs if they agree.

    File names of a capture carry an agent handle that is usually no id in this table.  None
    when the table has no GPU or the GPUs differ; FormatError for a GPU of another family.
    """
    path = Path(path) if isinstance(path, str) else path
    try:
        text = path.read_bytes().decode("utf-8", "replace")
        rows_read = csv.DictReader(io.StringIO(text, newline=""))
        gpus = [row for row in rows_read if row.get("Agent_Type") == "GPU"]
    except (OSError, csv.Error) as error:
        raise FormatError(path, f"cannot be read: {error}") from None
    wanted = {str(agent)}
    own = [row for row in gpus if {row.get("Gpu_Id"), row.get("Node_Id")} & wanted]
    rows = own if len(own) == 1 else gpus
    names = {_agent_arch(row) for row in rows}
    if len(names) != 1:
        return None
    (name,) = names
    if name not in ARCHS:
        raise FormatError(path, f"the GPU is {name}; supported are {', '.join(ARCHS)}")
    which = f"agent {agent}" if rows is own else f"all {len(rows)} GPUs" if rows[1:] else "its GPU"
    return ArchChoice(name, f"{path.name}, {which}")


def _agent_arch(row: dict[str, str]) -> str:
    """Gfx_Target_Version of a row, else its Name."""
    version = row.get("Gfx_Target_Version") or ""
    choice = from_target_version(int(version)) if version.isdigit() else None
    return choice.name if choice else (row.get("Name") or f"target version {version or 'unknown'}")


def choose(
    *,
    elf: ArchChoice | None = None,
    agent: ArchChoice | None = None,
    meta: str | None = None,
    opcodes: ArchChoice | None = None,
    override: str | None = None,
) -> ArchChoice:
    """The best evidence: code object, agent table, meta.json, opcodes, --arch, assumption.

    ``meta`` is the "arch" of meta.json, ``override`` the value of --arch.  Raises
    TracekitError when the one names an unsupported architecture, UnknownArchError for the
    other.
    """
    for name, origin, kind in (
        (meta, "meta.json", TracekitError), (override, "--arch", UnknownArchError),
    ):  # fmt: skip
        if name is not None and name not in ARCHS:
            raise kind(f"{origin}: {name} is not supported; use {', '.join(ARCHS)}")
    by_meta = ArchChoice(meta, "meta.json") if meta else None
    for choice in (elf, agent, by_meta, opcodes):
        if choice is not None:
            if override and override != choice.name:
                return ArchChoice(choice.name, f"{choice.source}; --arch {override} ignored")
            return choice
    if override:
        return ArchChoice(override, "--arch")
    return ArchChoice(DEFAULT, "assumed: nothing in the capture tells; set --arch", assumed=True)
