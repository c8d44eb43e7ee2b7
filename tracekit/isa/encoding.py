"""Bytes of a gfx9 instruction, from its disassembly.

Needed where no address tells: the last row of a listing, a row before a gap, and
compiler output.  The rules follow the encoding families of the CDNA ISA documents: a
family is 4 or 8 bytes, and a 4-byte family grows by a 32-bit literal, which LLVM prints
in hexadecimal (inline constants are decimal).
"""

from __future__ import annotations

import re
from functools import lru_cache

from tracekit.isa.classify import Expect, expected, mnemonic

#: SOPP and other 4-byte forms that never take a literal.
_SHORT = frozenset((Expect.IMMED, Expect.BARRIER, Expect.ENDPGM, Expect.BRANCH))
#: 8-byte families, whatever their operands.
_LONG = frozenset((Expect.SMEM, Expect.VMEM, Expect.FLAT, Expect.LDS, Expect.MFMA))
#: SOPK and SOPP: the immediate is 16 bits in the word itself, however it prints.
_SOPK = re.compile(r"s_(\w+k_i32|cmpk_\w+|getreg_b32|setreg_b32|call_b64|set_gpr_idx_(mode|off))\b")
#: VOP1 and VOP2 opcodes that LLVM prints without the suffix _e32.
_BARE_VOP = frozenset(
    (
        "v_nop", "v_readfirstlane_b32", "v_clrexcp", "v_swap_b32", "v_accvgpr_mov_b32",
        "v_pk_fmac_f16", "v_screen_partition_4se_b32",
    )
)  # fmt: skip
_LITERAL = re.compile(r"(?<![\w:])-?0x[0-9a-f]|@")


@lru_cache(maxsize=65536)
def encoded_bytes(text: str) -> int:
    """Size of the instruction ``text`` in bytes: 4, 8 or 16; 0 for text of no known kind."""
    kind = expected(text)
    if kind is Expect.MFMA_SCALE:
        return 16
    if kind in _LONG:
        return 8
    if kind in _SHORT or text.startswith(".long"):
        return 4
    name = mnemonic(text)
    if kind is Expect.VALU:
        if not name.endswith("_e32") and name not in _BARE_VOP:
            return 8  # VOP3, VOP3P, SDWA, DPP, and VOP2 with a mandatory literal
        return 8 if _LITERAL.search(text) else 4
    if kind in (Expect.SALU, Expect.PC):
        if name == "s_setreg_imm32_b32":
            return 8
        return 8 if _LITERAL.search(text) and not _SOPK.match(name) else 4
    return 0
