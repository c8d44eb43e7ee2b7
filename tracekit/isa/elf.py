"""Listings and metadata from AMDGPU code objects (ELF)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tracekit.errors import FormatError
from tracekit.gfx9 import ARCHS
from tracekit.isa import cache
from tracekit.isa.arch import ArchChoice, from_elf_flags, mach_name
from tracekit.isa.disassembler import Disassembler
from tracekit.isa.lines import sources
from tracekit.isa.listing import Listing, Symbol
from tracekit.isa.msgpack import unpack

_MAGIC = b"\x7fELF"
#: ELF targets for several chips, which LLVM disassembles too.
_GENERIC = ("gfx9-4-generic",)
_SHF_EXECINSTR = 4
_PF_X = 1
_NT_AMDGPU_METADATA = 32
#: kernel_code_entry_byte_offset of a kernel descriptor (LLVM, AMDHSAKernelDescriptor.h).
_ENTRY_OFFSET = 16
_DESCRIPTOR_BYTES = 64


class _Region(NamedTuple):
    vaddr: int
    data: bytes


class Readable(Protocol):
    """A file, on disk or in an archive."""

    def read_bytes(self) -> bytes: ...


class CodeObject:
    """A code object: what its headers and sections say; ``listing`` disassembles it.

    Raises FormatError for a file that is no readable AMDGPU ELF or for another chip.
    """

    def __init__(self, path: str | Readable) -> None:
        self.path: Readable = Path(path) if isinstance(path, str) else path
        try:
            data = self.path.read_bytes()
            self._bytes = data
        except OSError as error:
            raise FormatError(path, error.strerror or "cannot be read") from None
        if data[:4] != _MAGIC:
            raise FormatError(path, "not an ELF code object", offset=0)
        try:
            self._parse(data)
        except FormatError:
            raise
        except Exception as error:  # pyelftools raises many kinds on damaged files
            raise FormatError(path, f"damaged ELF: {type(error).__name__}: {error}") from None
        self.arch: ArchChoice | None = from_elf_flags(self.e_flags)

    def _parse(self, data: bytes) -> None:
        from elftools.elf.elffile import ELFFile

        elf = ELFFile(io.BytesIO(data))
        self._elf = elf
        if elf["e_machine"] != "EM_AMDGPU":
            raise FormatError(self.path, f"ELF for {elf['e_machine']}, not an AMDGPU code object")
        self.e_flags: int = elf["e_flags"]
        self.processor = mach_name(self.e_flags)
        if self.processor not in ARCHS + _GENERIC:
            supported = ", ".join(ARCHS)
            raise FormatError(
                self.path, f"code object for {self.processor}; supported are {supported}"
            )
        table = self._sections(elf)
        symbols = [] if table is None else list(table.iter_symbols())
        #: Kernel name -> address of its first instruction, from the kernel descriptors.
        self.kernels: dict[str, int] = self._kernels(symbols)
        #: (address, size, name) of functions and kernels, by address; size 0 unknown.
        self.functions: list[tuple[int, int, str]] = sorted(
            (symbol["st_value"], symbol["st_size"], symbol.name)
            for symbol in symbols
            if self._is_function(symbol)
        )

    def _sections(self, elf: Any) -> Any:
        """Keep code, data and notes; the symbol table, None without one."""
        self._code: list[_Region] = []
        self._data: list[_Region] = []
        self._funcmap: bytes | None = None
        self._notes: list[dict[str, Any]] = []
        tables: dict[str, Any] = {}
        for section in elf.iter_sections():
            kind, flags = section["sh_type"], section["sh_flags"]
            if section.name == ".sqtt_funcmap":
                self._funcmap = section.data()
            if kind in ("SHT_SYMTAB", "SHT_DYNSYM"):
                tables[kind] = section
            elif kind == "SHT_NOTE":
                self._notes.extend(section.iter_notes())
            elif kind == "SHT_PROGBITS":
                region = _Region(section["sh_addr"], section.data())
                (self._code if flags & _SHF_EXECINSTR else self._data).append(region)
        if not self._code:  # section headers stripped
            self._code = [
                _Region(segment["p_vaddr"], segment.data())
                for segment in elf.iter_segments("PT_LOAD")
                if segment["p_flags"] & _PF_X
            ]
        return tables.get("SHT_SYMTAB") or tables.get("SHT_DYNSYM")

    def _kernels(self, symbols: list[Any]) -> dict[str, int]:
        found: dict[str, int] = {}
        for symbol in symbols:
            if symbol.name.endswith(".kd") and symbol["st_info"]["type"] == "STT_OBJECT":
                entry = self._entry(symbol["st_value"])
                if entry is not None:
                    found[symbol.name[: -len(".kd")]] = entry
        return found

    def _is_function(self, symbol: Any) -> bool:
        """Functions, and global labels of hand-written assembly, inside the code."""
        info, where = symbol["st_info"], symbol["st_value"]
        wanted = info["type"] == "STT_FUNC" or (
            info["type"] == "STT_NOTYPE"
            and (info["bind"] == "STB_GLOBAL" or symbol.name in self.kernels)
        )
        inside = any(r.vaddr <= where < r.vaddr + len(r.data) for r in self._code)
        return bool(symbol.name) and wanted and inside and symbol["st_shndx"] != "SHN_UNDEF"

    def _entry(self, descriptor: int) -> int | None:
        """Entry address by the descriptor at an address; None when it lies outside the file."""
        for region in self._data:
            at = descriptor - region.vaddr
            if 0 <= at <= len(region.data) - _DESCRIPTOR_BYTES:
                (offset,) = struct.unpack_from("<q", region.data, at + _ENTRY_OFFSET)
                return int(descriptor + offset)
        return None

    def listing(
        self,
        code_object: int = 1,
        *,
        vaddrs: Iterable[int] | None = None,
        library: str | Path | None = None,
    ) -> Listing:
        """Disassemble the whole code, or only the functions that contain one of ``vaddrs``.

        Words that are no instruction become rows ".long 0x...".  Each function starts a
        new row, whatever precedes it.  Of large code objects the listing is kept (``cache``).
        """
        disassembler = Disassembler(self.processor, library)
        if vaddrs is not None or sum(len(r.data) for r in self._code) < cache.SMALLEST:
            return self._disassembled(code_object, vaddrs, disassembler)
        name = cache.key(self._bytes, f"{disassembler.version} {disassembler.library}")
        found = cache.load(name, code_object)
        if found is None:
            found = self._disassembled(code_object, None, disassembler)
            cache.store(name, found)
        return found

    def _disassembled(
        self, code_object: int, vaddrs: Iterable[int] | None, disassembler: Disassembler
    ) -> Listing:
        wanted = None if vaddrs is None else list(vaddrs)
        vaddr: list[int] = []
        size: list[int] = []
        text: list[str] = []
        starts = {start for start, _, _ in self.functions}
        for region in self._code:
            end = region.vaddr + len(region.data)
            cuts = sorted({region.vaddr, end} | {s for s in starts if region.vaddr < s < end})
            for first, last in pairwise(cuts):
                if wanted is not None and not any(first <= v < last for v in wanted):
                    continue
                code = region.data[first - region.vaddr : last - region.vaddr]
                for offset, length, line in disassembler.decode(code, first):
                    vaddr.append(first + offset)
                    size.append(length)
                    text.append(line)
        return Listing.build(
            code_object,
            vaddr,
            text,
            size=size,
            source=self._sources(vaddr),
            symbols=[Symbol(code_object, start, name) for start, _, name in self.functions],
            arch=self.arch.name if self.arch else None,
        )

    def _sources(self, vaddrs: list[int]) -> list[str]:
        """Source line and inlined calls of each address; "" without line tables."""
        order = sorted(range(len(vaddrs)), key=vaddrs.__getitem__)
        found = [""] * len(vaddrs)
        if not self._elf.has_dwarf_info():
            return found
        try:
            dwarf = self._elf.get_dwarf_info()
        except Exception:  # pyelftools raises many kinds on damaged sections
            return found
        for at, source in zip(order, sources(dwarf, [vaddrs[i] for i in order]), strict=True):
            found[at] = source
        return found

    def funcmap(self) -> str | None:
        """Raw text of the section .sqtt_funcmap (names of trace markers); None without it."""
        return None if self._funcmap is None else self._funcmap.decode("utf-8", "replace")

    def metadata(self) -> dict[str, Any]:
        """The AMDGPU metadata note as it stands: "amdhsa.kernels" with .name, .symbol,
        .kernarg_segment_size, .args (each .offset, .size, .value_kind, ...); {} without one.
        """
        for note in self._notes:
            if note["n_name"] == "AMDGPU" and note["n_type"] in (
                _NT_AMDGPU_METADATA,
                "NT_AMDGPU_METADATA",
            ):
                raw = note["n_descdata"]
                try:
                    content = unpack(raw if isinstance(raw, bytes) else raw.encode("latin-1"))
                except ValueError as error:
                    raise FormatError(self.path, f"metadata note: {error}") from None
                return content if isinstance(content, dict) else {}
        return {}


def read(path: str | Readable, code_object_id: int = 1) -> Listing:
    """The listing of a code object file, as code object ``code_object_id``.

    ``.arch`` of the result is the architecture by the ELF header (None for a generic
    target).  Raises FormatError for what is no supported code object, DisassemblerError
    without LLVM.
    """
    return CodeObject(path).listing(code_object_id)
