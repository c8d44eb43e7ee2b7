"""What a line of disassembly should look like in the trace.

``expected`` names the kind of token an instruction gives, ``accept_mask`` the record
types that match it leniently (as AMD's decoder does), ``strict_mask`` those that the
encoding size and the direction of the memory access leave over.  A mask is an integer
in which bit *t* stands for INST type *t*; bit 33 is IMMED (``gfx9.INST_IMMED``).

Sources: the category table of AMD's MIT-licensed rocprof-trace-decoder; token types
against sizes checked on 1.8 M tokens of public gfx950 captures, without exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache

from tracekit.gfx9 import INST_IMMED, REPLAYS, Inst


class Expect(IntEnum):
    """Kind of token that an instruction gives."""

    UNKNOWN = 0
    IMMED = 1
    BARRIER = 2
    ENDPGM = 3
    SMEM = 4
    SALU = 5
    PC = 6
    VALU = 7
    MFMA = 8
    MFMA_SCALE = 9
    VMEM = 10
    FLAT = 11
    LDS = 12
    BRANCH = 13
    SKIP = 14


def _mask(types: Iterable[int]) -> int:
    """The mask of ``types`` and their replays."""
    wanted = set(types)
    again = {replay for replay, kind in REPLAYS.items() if kind in wanted}
    return sum(1 << kind for kind in wanted | again)


#: Record types that match each kind of line leniently.
ACCEPTED: dict[Expect, int] = {
    Expect.UNKNOWN: 0,
    Expect.IMMED: _mask((INST_IMMED, Inst.OTHER_MSG)),
    Expect.BARRIER: _mask((Inst.OTHER_MSG, INST_IMMED)),
    Expect.ENDPGM: _mask((Inst.OTHER_MSG, INST_IMMED)),
    Expect.SMEM: _mask((Inst.SMEM_RD, Inst.SMEM_WR)),
    Expect.SALU: _mask((Inst.SALU_32, Inst.SALU_64)),
    Expect.PC: _mask((Inst.PC, Inst.SALU_32, Inst.SALU_64)),
    Expect.VALU: _mask((Inst.VALU_32, Inst.VALU_64, Inst.VALU_MAI)),
    Expect.MFMA: _mask((Inst.VALU_32, Inst.VALU_64, Inst.VALU_MAI)),
    Expect.MFMA_SCALE: _mask((Inst.VALU_32, Inst.VALU_64, Inst.VALU_MAI)),
    Expect.VMEM: _mask((Inst.VMEM_RD, Inst.VMEM_WR, Inst.FLAT_RD, Inst.FLAT_WR)),
    Expect.FLAT: _mask((Inst.FLAT_RD, Inst.FLAT_WR)),
    Expect.LDS: _mask((Inst.LDS,)),
    Expect.BRANCH: _mask((Inst.JUMP, Inst.NEXT)),
    Expect.SKIP: 0,
}

#: First matching prefix wins.  s_incperflevel and s_decperflevel are SOPP like the rest of
#: their row; AMD's table has them misspelt.
PREFIXES: tuple[tuple[Expect, tuple[str, ...]], ...] = (
    (Expect.MFMA_SCALE, ("v_mfma_scale_",)),
    (Expect.MFMA, ("v_mfma", "v_smfmac")),
    (Expect.VALU, ("v_",)),
    (Expect.BARRIER, ("s_barrier",)),
    (Expect.ENDPGM, ("s_endpgm",)),
    (Expect.PC, ("s_setpc", "s_swappc", "s_call", "s_rfe")),
    (Expect.SKIP, ("s_delay_alu", "s_wait_alu", "s_code_end")),
    (
        Expect.IMMED,
        (
            "s_waitcnt", "s_nop", "s_sleep", "s_wakeup", "s_sendmsg", "s_setprio",
            "s_set_inst", "s_setkill", "s_version", "s_trap", "s_icache_inv",
            "s_incperflevel", "s_decperflevel", "s_sethalt", "s_setvskip", "s_ttrace",
        ),
    ),
    (
        Expect.SMEM,
        (
            "s_load", "s_buffer", "s_store", "s_scratch", "s_atomic", "s_atc", "s_dcache",
            "s_memtime", "s_memrealtime",
        ),
    ),
    (Expect.SALU, ("s_",)),
    (Expect.VMEM, ("buffer_", "tbuffer_", "global_", "scratch_")),
    (Expect.FLAT, ("flat_",)),
    (Expect.LDS, ("ds_", "lds_")),
)  # fmt: skip


def mnemonic(text: str) -> str:
    """The first word of a line: ``v_mov_b32_e32 v0, 1`` -> ``v_mov_b32_e32``."""
    return text.split(None, 1)[0] if text else ""


def expected(text: str) -> Expect:
    """The kind of token that the line ``text`` gives; UNKNOWN for data and other text."""
    return _expected(mnemonic(text))


@lru_cache(maxsize=4096)
def _expected(name: str) -> Expect:
    if "branch" in name:
        return Expect.BRANCH
    for kind, prefixes in PREFIXES:
        if name.startswith(prefixes):
            return kind
    return Expect.UNKNOWN


def accept_mask(expect: Expect, text: str = "") -> int:
    """Record types that match a line of kind ``expect`` leniently.

    With ``text``, the clock reads s_memtime and s_memrealtime also accept SALU: AMD's
    table has one of them there and no capture shows either.
    """
    mask = ACCEPTED[expect]
    if expect is Expect.SMEM and text.startswith("s_mem"):
        mask |= ACCEPTED[Expect.SALU]
    return mask


def strict_mask(expect: Expect, size: int, text: str) -> int:
    """Record types that match the line ``text`` of ``size`` bytes (0 = unknown) exactly.

    The type tells the encoding size (4: ``*_32``, 8: ``*_64``, a literal counts), loads
    from stores, and the MAI encodings.  Where no capture shows the type of an instruction
    (atomics, cache control) every type of its kind is left in.  Always a subset of
    ``accept_mask(expect, text)``.
    """
    name = mnemonic(text)
    narrow: Iterable[int] | None = None
    if expect is Expect.SALU:
        narrow = {4: (Inst.SALU_32,), 8: (Inst.SALU_64,)}.get(size)
    elif expect is Expect.VALU:
        if name.startswith(("v_accvgpr_read", "v_accvgpr_write")):
            narrow = (Inst.VALU_MAI,)
        else:
            narrow = {4: (Inst.VALU_32,), 8: (Inst.VALU_64,)}.get(size)
    elif expect in (Expect.MFMA, Expect.MFMA_SCALE):
        narrow = (Inst.VALU_MAI,)
    elif expect in (Expect.SMEM, Expect.VMEM, Expect.FLAT):
        narrow = _memory_types(expect, name)
    elif expect is Expect.PC:
        narrow = (Inst.PC,)
    elif expect is Expect.ENDPGM:
        narrow = (Inst.OTHER_MSG,)
    elif expect is Expect.BRANCH and name == "s_branch":
        narrow = (Inst.JUMP,)
    elif expect is Expect.IMMED and name.startswith(("s_waitcnt", "s_nop", "s_setprio")):
        narrow = (INST_IMMED,)
    return accept_mask(expect, text) if narrow is None else _mask(narrow)


_DIRECTION = re.compile(r"_(load|store|atomic)")


def _memory_types(expect: Expect, name: str) -> tuple[int, ...] | None:
    """Types of a memory access by its direction; None where it cannot be told."""
    found = _DIRECTION.search(name)
    if found is None:
        return None
    if expect is Expect.SMEM:
        read, write = Inst.SMEM_RD, Inst.SMEM_WR
    elif name.startswith(("buffer_", "tbuffer_")):
        read, write = Inst.VMEM_RD, Inst.VMEM_WR
    else:  # global_, scratch_, flat_
        read, write = Inst.FLAT_RD, Inst.FLAT_WR
    return {"load": (read,), "store": (write,), "atomic": (read, write)}[found[1]]
