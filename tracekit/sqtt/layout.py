"""Layout of the gfx9 thread-trace stream, as data.

A stream is an 8-byte software header (``HEADER``) followed by tokens of 1 to 4
little-endian 16-bit words.  A token is read as one integer, least significant bit
first; its type id is bits 0-3 and fixes its length::

    f0 2f                    0x2ff0              MISC   delta 0xff, type 1 (TIME_RESET)
    0d 02 00 00              0x0000020d          ISSUE  simd 0, slot 0 state 2 (INST)
    0a 90                    0x900a              INST   slot 0, simd 0, type 18 (VALU_64)
    01 00 53 7d f8 ad 45 02  TIME 0x0245adf87d53

(first bytes of SE 0 of the public tinygrad gfx950 gemm capture).  The names are AMD's.
Sources: AMD's MIT-licensed rocprof-trace-decoder and aqlprofile, checked on eleven
public gfx950 captures.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Field(NamedTuple):
    """A bit range of a token: first bit and width."""

    shift: int
    width: int

    def read(self, word: int) -> int:
        return (word >> self.shift) & ((1 << self.width) - 1)

    def place(self, value: int) -> int:
        """``value`` moved to its bits; raises ValueError when it does not fit."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit in {self.width} bits")
        return value << self.shift


class Token(IntEnum):
    """Token type ids (bits 0-3)."""

    MISC = 0
    TIME = 1
    REG = 2
    WAVE_START = 3
    WAVE_ALLOC = 4
    REG_CS = 5
    WAVE_END = 6
    EVENT = 7
    EVENT_CS = 8
    EVENT_GFX1 = 9
    INST = 10
    INST_PC = 11
    USERDATA = 12
    ISSUE = 13
    PERF = 14
    REG_CS_PRIV = 15


#: Length of each token type in bytes, indexed by type id.
TOKEN_BYTES = (2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6)

#: ``delta`` of every token but MISC and TIME: one unit is gfx9.TICK cycles.
DELTA = Field(4, 1)

HEADER_BYTES = 8
#: The software header (64-bit little-endian), written by aqlprofile.
HEADER = {
    "legacy_version": Field(0, 13),
    "gfx9_version2": Field(13, 3),
    "simd_mask": Field(16, 4),
    "target_cu": Field(20, 5),
    "shader_array": Field(25, 1),
    "se": Field(26, 6),
    "double_buffer": Field(32, 1),
}
LEGACY_VERSIONS = (0x11, 0)
GFX9_VERSIONS = (4, 5, 6)

#: Fields of each token type (the type id and ``delta`` apart).
FIELDS: dict[Token, dict[str, Field]] = {
    Token.MISC: {"delta": Field(4, 8), "sh": Field(12, 1), "misc_type": Field(13, 3)},
    Token.TIME: {"timestamp": Field(16, 48)},
    Token.REG: {
        "pipe": Field(5, 2),
        "me_raw": Field(7, 2),
        "reg_type": Field(10, 3),
        "enable": Field(15, 1),
        "address": Field(16, 16),
        "data": Field(32, 32),
    },
    Token.WAVE_START: {
        "sh": Field(5, 1),
        "cu": Field(6, 4),
        "slot": Field(10, 4),
        "simd": Field(14, 2),
        "pipe": Field(16, 2),
        "me": Field(18, 2),
        "count": Field(22, 7),
        "tg_id": Field(29, 3),
    },
    Token.WAVE_ALLOC: {
        "sh": Field(5, 1),
        "cu": Field(6, 4),
        "slot": Field(10, 4),
        "simd": Field(14, 2),
    },
    Token.REG_CS: {
        "pipe": Field(5, 2),
        "me_raw": Field(7, 2),
        "register": Field(9, 7),
        "data": Field(16, 32),
    },
    Token.WAVE_END: {
        "sh": Field(5, 1),
        "cu": Field(6, 4),
        "slot": Field(10, 4),
        "simd": Field(14, 2),
    },
    Token.EVENT: {},
    Token.EVENT_CS: {},
    Token.EVENT_GFX1: {},
    Token.INST: {"slot": Field(5, 4), "simd": Field(9, 2), "inst_type": Field(11, 5)},
    Token.INST_PC: {
        "slot": Field(5, 4),
        "simd": Field(9, 2),
        "err": Field(15, 1),
        "pc": Field(16, 48),
    },
    Token.USERDATA: {
        "sh": Field(5, 1),
        "cu": Field(6, 4),
        "slot": Field(10, 4),
        "simd": Field(14, 2),
        "data": Field(16, 32),
    },
    Token.ISSUE: {"simd": Field(5, 2), "states": Field(8, 20)},
    Token.PERF: {
        "sh": Field(5, 1),
        "cu": Field(6, 4),
        "bank": Field(10, 2),
        "c0": Field(12, 13),
        "c1": Field(25, 13),
        "c2": Field(38, 13),
        "c3": Field(51, 13),
    },
    Token.REG_CS_PRIV: {
        "pipe": Field(5, 2),
        "me_raw": Field(7, 2),
        "register": Field(9, 7),
        "data": Field(16, 32),
    },
}

#: ``count`` of WAVE_START above this marks a context-restore relaunch (CWSR).
MAX_LANES = 64


class Misc(IntEnum):
    """``misc_type`` of a MISC token."""

    TIME = 0
    TIME_RESET = 1
    PACKET_LOST = 2
    SURF_SYNC = 3
    TT_STALL_BEGIN = 4
    TT_STALL_END = 5
    SAVE_CONTEXT = 6
    UNKNOWN = 7


class IssueState(IntEnum):
    """The 2-bit state of one wave slot in an ISSUE token."""

    NULL = 0
    STALL = 1
    INST = 2
    IMMED = 3


# Registers of REG tokens (dword address).
USERDATA_0, USERDATA_1, USERDATA_2, USERDATA_3 = 0xC340, 0xC341, 0xC342, 0xC343

# Registers of REG_CS / REG_CS_PRIV tokens (offset from 0x2e00).
COMPUTE_DISPATCH_INITIATOR = 0x00
COMPUTE_NUM_THREAD_X = 0x07
COMPUTE_NUM_THREAD_Y = 0x08
COMPUTE_NUM_THREAD_Z = 0x09
COMPUTE_PGM_LO = 0x0C
COMPUTE_PGM_HI = 0x0D
COMPUTE_PGM_RSRC1 = 0x12
COMPUTE_PGM_RSRC2 = 0x13
COMPUTE_NOWHERE = 0x7F

#: First word that aqlprofile writes to USERDATA_2 ("\0ROC"); may be missing.
ROC_MARKER = 0x434F5200
#: Opcodes (bits 0-7) of the words that follow in USERDATA_2 and USERDATA_3.
PACKET_CODE_OBJECT = 4
PACKET_REALTIME = 5
PACKET_AGENT_INFO = 6
PACKET_REALTIME_LO32 = 7
#: Types (bits 8-11) of PACKET_CODE_OBJECT; the payload is the next write.
CODE_OBJECT_TAIL = 0
CODE_OBJECT_SIZE_LO = 1
CODE_OBJECT_ADDR_LO = 2
CODE_OBJECT_ADDR_HI = 3
CODE_OBJECT_SIZE_HI = 4
CODE_OBJECT_ID_LO = 5
CODE_OBJECT_ID_HI = 6
