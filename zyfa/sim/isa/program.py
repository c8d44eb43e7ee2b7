"""The instructions of a code object, decoded for execution."""

from __future__ import annotations

import bisect

import numpy as np

from tracekit.isa.disassembler import Disassembler
from zyfa.sim.errors import SimError
from zyfa.sim.isa import (  # noqa: F401 (they register what they execute)
    branch,
    compare,
    convert,
    crosslane,
    hwreg,
    lds,
    matrix,
    packed,
    salu,
    smem,
    valu,
    valu_float,
    vmem,
)
from zyfa.sim.isa.instruction import Instruction
from zyfa.sim.state.loader import CodeObject, Kernel, source_lines
from zyfa.sim.state.memory import Memory

LOAD_BIAS = 0x7E00_0000_0000
"""Address at which the ELF's address 0 is mapped."""


class Program:
    """Instructions in address order; decoded on first execution.

    `bias`: load address minus ELF address, as s_getpc sees it.
    """

    def __init__(self, code: CodeObject, kernel: Kernel):
        self.code, self.kernel, self.bias = code, kernel, LOAD_BIAS
        self.lines: list[tuple[int, str]] | None = None
        rows = disassemble(code)
        self.addresses = [row[0] for row in rows]
        self.instructions = [
            Instruction(n, address, size, text, kernel, self)
            for n, (address, size, text) in enumerate(rows)
        ]
        indexed = ""
        for inst in self.instructions:
            if inst.syntax.stem == "s_set_gpr_idx_on":
                indexed = f" {inst.operands[1].text}"
            elif inst.syntax.stem == "s_set_gpr_idx_off":
                indexed = ""
            elif inst.syntax.mnemonic.startswith("v_"):
                inst.indexed = indexed

    def source_of(self, address: int) -> str:
        """ "file:line" of an ELF address, "" without debug information."""
        if self.lines is None:
            self.lines = source_lines(self.code.data)
        at = bisect.bisect(self.lines, (address, "\uffff")) - 1
        return self.lines[at][1] if at >= 0 else ""

    def map_segments(self, memory: Memory) -> None:
        """Map code and constants, page by page, for s_getpc-relative loads."""
        low = min(address for address, _ in self.code.segments)
        high = max(address + len(data) for address, data in self.code.segments)
        image = np.zeros(high - low, np.uint8)
        for address, data in self.code.segments:
            image[address - low : address - low + len(data)] = np.frombuffer(data, np.uint8)
        memory.allocate(image, "code object", self.bias + low)

    def index_of(self, address: int) -> int:
        """Row of an ELF address. Raises SimError when no instruction starts there."""
        at = bisect.bisect_left(self.addresses, address)
        if at == len(self.addresses) or self.addresses[at] != address:
            raise SimError(f"no instruction starts at 0x{address:x}")
        return at


def disassemble(code: CodeObject) -> list[tuple[int, int, str]]:
    """(address, size, text) of every instruction."""
    rows = Disassembler(code.arch).decode(code.text, code.text_address)
    return [(code.text_address + offset, size, text) for offset, size, text in rows]
