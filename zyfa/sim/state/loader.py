"""Code objects: the ELF, the kernel descriptor and the metadata of a kernel.

Layouts: LLVM "User Guide for AMDGPU Backend", code object V4 and later.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tracekit.isa.arch import mach_name
from tracekit.isa.msgpack import unpack
from zyfa.sim.errors import SimError

NT_AMDGPU_METADATA = 32
WAVE = 64


@dataclass(frozen=True)
class Argument:
    """One kernel argument of the metadata: byte offset, byte size, kind, address space."""

    offset: int
    size: int
    kind: str
    space: str = ""


@dataclass(frozen=True)
class Kernel:
    """A kernel of a code object.

    `entry`: ELF address of the first instruction. `accum_offset`: first AGPR within the unified
    file, in VGPRs. `denorm_f32`: FP_DENORM of f32 (3 = denormals on). `user_sgprs` is the count of
    SGPRs loaded before the workgroup ids.
    """

    name: str
    entry: int
    lds: int
    scratch: int
    kernarg_size: int
    vgprs: int
    accum_offset: int
    denorm_f32: int
    fp16_overflow: bool
    ieee: bool
    dx10_clamp: bool
    user_sgprs: int
    properties: int
    preload: int
    workgroup_ids: tuple[bool, bool, bool]
    workitem_ids: int
    arguments: tuple[Argument, ...] = ()
    workgroup_size: int = 1024


@dataclass
class CodeObject:
    """A loaded ELF: `segments` are (address, bytes) of the allocated sections."""

    data: bytes
    segments: list[tuple[int, bytes]]
    text_address: int
    text: bytes
    arch: str = "gfx950"
    kernels: dict[str, Kernel] = field(default_factory=dict)

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel `name`, or the only one."""
        if name is None and len(self.kernels) == 1:
            return next(iter(self.kernels.values()))
        if name not in self.kernels:
            raise SimError(f"no kernel {name!r}; the code object has {', '.join(self.kernels)}")
        return self.kernels[name]


class CodeObjectError(SimError):
    """Not a linked AMDGPU code object; exit code 1."""

    exit_code = 1


def load(source: bytes | str | Path, archs: tuple[str, ...] = ("gfx950",)) -> CodeObject:
    """Read a linked AMDGPU code object for one of `archs`.

    Raises CodeObjectError when it is none, is another chip's, or has no kernel descriptor.
    """
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        elf = ELFFile(io.BytesIO(data))
        segments = [
            (section["sh_addr"], section.data())
            for section in elf.iter_sections()
            if section["sh_flags"] & 2 and section["sh_size"]
        ]
        text = elf.get_section_by_name(".text")
        symbols = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
        note = elf.get_section_by_name(".note")
    except ELFError as error:
        raise CodeObjectError(
            f"{_named(source)} is not an ELF code object: {str(error).lower()}"
        ) from error
    if text is None or not isinstance(symbols, SymbolTableSection):
        raise CodeObjectError("the code object has no .text or no symbols")
    if elf.header["e_type"] == "ET_REL":
        raise CodeObjectError("the code object is not linked; link it with ld.lld -shared")
    processor = mach_name(elf["e_flags"])
    if processor not in archs:
        raise CodeObjectError(
            f"the code object is for {processor or 'another chip'}, not {' or '.join(archs)}"
        )
    code = CodeObject(data, segments, text["sh_addr"], text.data(), processor)
    metadata = _metadata(note.data() if note else b"")
    for symbol in symbols.iter_symbols():
        if symbol.name.endswith(".kd"):
            name = symbol.name[:-3]
            raw = _at(segments, symbol["st_value"], 64)
            code.kernels[name] = _kernel(name, symbol["st_value"], raw, metadata.get(name, {}))
    if not code.kernels:
        raise CodeObjectError("the code object has no kernel descriptor (symbol *.kd)")
    return code


def _named(source: bytes | str | Path) -> str:
    return "this" if isinstance(source, bytes) else str(source)


def source_lines(data: bytes) -> list[tuple[int, str]]:
    """(ELF address, "file:line") rows of the DWARF line tables, sorted; empty without them."""
    elf = ELFFile(io.BytesIO(data))
    if not elf.has_dwarf_info():
        return []
    dwarf = elf.get_dwarf_info()
    rows: list[tuple[int, str]] = []
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        files = program.header["file_entry"]
        first = 0 if program.header["version"] >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is not None and not state.end_sequence:
                name = files[state.file - first].name.decode(errors="replace")
                rows.append((state.address, f"{name}:{state.line}"))
    return sorted(rows)


def _at(segments: list[tuple[int, bytes]], address: int, size: int) -> bytes:
    for base, data in segments:
        if base <= address and address + size <= base + len(data):
            return data[address - base : address - base + size]
    raise SimError(f"kernel descriptor at 0x{address:x} lies in no section")


def _metadata(note: bytes) -> dict[str, dict[str, Any]]:
    at = 0
    while at + 12 <= len(note):
        name_size, size, kind = struct.unpack_from("<3I", note, at)
        at += 12 + (name_size + 3 & ~3)
        if kind == NT_AMDGPU_METADATA:
            table = unpack(note[at : at + size])
            return {item[".name"]: item for item in table.get("amdhsa.kernels", [])}
        at += size + 3 & ~3
    return {}


def _kernel(name: str, address: int, raw: bytes, metadata: dict[str, Any]) -> Kernel:
    lds, scratch, kernarg, _, entry = struct.unpack_from("<IIIIq", raw, 0)
    rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", raw, 44)
    arguments = tuple(
        Argument(
            item[".offset"], item[".size"], item[".value_kind"], item.get(".address_space", "")
        )
        for item in metadata.get(".args", [])
    )
    return Kernel(
        name=name,
        entry=address + entry,
        lds=lds,
        scratch=scratch,
        kernarg_size=max([kernarg, *(item.offset + item.size for item in arguments)]),
        vgprs=((rsrc1 & 63) + 1) * 8,
        accum_offset=((rsrc3 & 63) + 1) * 4,
        denorm_f32=rsrc1 >> 16 & 3,
        fp16_overflow=bool(rsrc1 >> 26 & 1),
        dx10_clamp=bool(rsrc1 >> 21 & 1),
        ieee=bool(rsrc1 >> 23 & 1),
        user_sgprs=rsrc2 >> 1 & 31,
        properties=properties,
        preload=preload,
        workgroup_ids=(bool(rsrc2 >> 7 & 1), bool(rsrc2 >> 8 & 1), bool(rsrc2 >> 9 & 1)),
        workitem_ids=rsrc2 >> 11 & 3,
        arguments=arguments,
        workgroup_size=metadata.get(".max_flat_workgroup_size", 1024),
    )
