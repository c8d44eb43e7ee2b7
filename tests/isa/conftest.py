"""Every opcode that LLVM decodes for an architecture, found by decoding all of them."""

from functools import cache

import numpy as np
import pytest

from tracekit.isa import disassembler

#: (low half of the first word, second word): even VGPRs, inline constants, formats.
OPERANDS = (
    (0x0000, 0x04020100),
    (0x0100, 0x04020500),  # VOP1 and VOP2 with VGPRs; MFMA: v[0..], v[..], 0
    (0x0080, 0x00000000),
    (0x0000, 0x00020080),
    (0x0202, 0x060A0D00),
    (0x8000, 0x007F0400),  # global_*
)
#: High halves of the first word; of VOP2 and SOP2 one destination each.
HALVES = np.r_[0:0x8000:0x200, 0x8000:0xBE00:0x80, 0xBE00:0xF000].astype(np.uint32)


@cache
def _opcodes(arch):
    found = {}
    for low, second in OPERANDS:
        code = np.full((len(HALVES), 4), 0xBF800000, np.uint32)  # s_nop 0
        code[:, 0] = HALVES << 16 | low
        code[:, 1] = second
        for at, size, text in disassembler.Disassembler(arch).decode(code.tobytes()):
            if at % 16 == 0 and not text.startswith(".long") and "Invalid" not in text:
                found.setdefault(text.split()[0], (size, text))
    return found


@pytest.fixture(scope="session")
def opcodes():
    """``opcodes(arch) -> {mnemonic: (size, example)}``."""
    if disassembler.available() is None:
        pytest.skip("no LLVM library: install the extra 'isa'")
    return _opcodes
