"""The words of gfx9 that every room uses: the bottom of the house.

What an instruction is called in the stream and in AMD's tables, which states a wave has, how
fine the clock is, which chips are known.  The native core has the same numbers
(``native/layout.hpp``); a test compares all of them.
"""

from __future__ import annotations

from enum import IntEnum

#: Architectures that the cost tables cover, oldest first.
ARCHS = ("gfx90a", "gfx942", "gfx950")

#: Cycles of the shader clock between two chances of a wave to issue, and the grain of the
#: stream's time (AMD's rocprof-trace-decoder; every public gfx950 capture).
TICK = 4

#: Hertz of the GPU realtime counter of MI200 to MI350 where a source does not say.
REALTIME_HZ = 100_000_000

#: Wave slots of a SIMD, SIMDs of a CU.
SLOTS = 10
SIMDS = 4


class Inst(IntEnum):
    """``inst_type`` of an INST token; the size in the name is the encoding size."""

    SMEM_RD = 0
    SALU_32 = 1
    VMEM_RD = 2
    VMEM_WR = 3
    FLAT_WR = 4
    VALU_32 = 5
    LDS = 6
    PC = 7
    EXPREQ_GDS = 8
    EXPREQ_GFX = 9
    EXPGNT_PAR_COL = 10
    EXPGNT_POS_GDS = 11
    JUMP = 12
    NEXT = 13
    FLAT_RD = 14
    OTHER_MSG = 15
    SMEM_WR = 16
    SALU_64 = 17
    VALU_64 = 18
    SMEM_RD_REPLAY = 19
    SMEM_WR_REPLAY = 20
    VMEM_RD_REPLAY = 21
    VMEM_WR_REPLAY = 22
    FLAT_WR_REPLAY = 23
    FLAT_RD_REPLAY = 24
    FATAL_HALT = 25
    RESERVED_26 = 26
    RESERVED_27 = 27
    VALU_MAI = 28
    GO_TO_TRAP = 29
    UNKNOWN_30 = 30
    UNKNOWN_31 = 31


#: Types of a record that carry no INST token.
INST_UNTYPED = 32  # ISSUE state INST, but its INST token never came
INST_IMMED = 33  # ISSUE state IMMED
INST_CONTEXT = 34  # inserted where a context save hit the wave

#: XNACK replays -> the type they repeat.
REPLAYS = {
    Inst.SMEM_RD_REPLAY: Inst.SMEM_RD,
    Inst.SMEM_WR_REPLAY: Inst.SMEM_WR,
    Inst.VMEM_RD_REPLAY: Inst.VMEM_RD,
    Inst.VMEM_WR_REPLAY: Inst.VMEM_WR,
    Inst.FLAT_WR_REPLAY: Inst.FLAT_WR,
    Inst.FLAT_RD_REPLAY: Inst.FLAT_RD,
}
#: Types whose record is dropped: no instruction of the wave.
DROPPED = (8, 9, 10, 11, 25, 26, 27, 30, 31)


class Category(IntEnum):
    """AMD's public instruction categories (wave JSON column 1)."""

    NONE = 0
    SMEM = 1
    SALU = 2
    VMEM = 3
    FLAT = 4
    LDS = 5
    VALU = 6
    JUMP = 7
    NEXT = 8
    IMMED = 9
    CONTEXT = 10
    MESSAGE = 11


#: Category of each record type (Inst codes, then INST_UNTYPED, INST_IMMED, INST_CONTEXT).
CATEGORY_OF_TYPE: tuple[int, ...] = (
    1, 2, 3, 3, 4, 6, 5, 2,
    0, 0, 0, 0, 7, 8, 4, 11,
    1, 2, 6, 1, 1, 3, 3, 4,
    4, 0, 0, 0, 6, 10, 0, 0,
    0, 9, 10,
)  # fmt: skip


class State(IntEnum):
    """What a wave does, as AMD's wave timelines number it."""

    EMPTY = 0
    IDLE = 1
    EXEC = 2
    WAIT = 3
    STALL = 4


#: Their names, by number.
STATES = tuple(state.name for state in State)
