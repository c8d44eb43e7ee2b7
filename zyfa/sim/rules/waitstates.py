"""Wait states of gfx950: how many issue slots must lie between a producer and a consumer.

The counts are those of LLVM 22's hazard recogniser for gfx950 (measured with llc; a pass is 4
cycles). 0 means that the hardware tracks the pair, or that it is harmless.

This table and that of `zyfa.codegen.hazards` are two on purpose, written apart from one another:
this one checks what the generator's pass inserts, which a shared table could not.
"""

from __future__ import annotations

import re
from enum import IntEnum

from zyfa.sim.isa.syntax import parse

SHAPE = re.compile(r"v_(?:smfmac|mfma(?:_scale)?)_\w+?_(\d+)x(\d+)x(\d+)")


class Kind(IntEnum):
    """What wrote a register."""

    SAFE = 0
    VALU = 1
    TRANS = 2
    HALF = 3
    VALU_SCALAR = 4
    CMPX = 5
    SALU_M0 = 6
    SETREG = 7
    MFMA2 = 8
    MFMA4 = 9
    MFMA8 = 10
    MFMA16 = 11
    MFMA32 = 12


class Role(IntEnum):
    """How a consumer touches a register."""

    VALU = 0
    TRANS = 1
    MATRIX_AB = 2
    MATRIX_C = 3
    MEMORY = 4
    SWAP = 5
    READ_LANE = 6
    DPP = 7
    WRITE = 8
    SCALAR_VALU = 9
    LANE_SELECT = 10
    DIV_FMAS = 11
    SCALAR_MEMORY = 12
    EXEC_MATRIX = 13
    M0 = 14
    GETREG = 15
    OTHER = 16


def _matrix(passes: int) -> list[int]:
    row = [0] * len(Role)
    # gfx950 adds one slot to gfx940's passes + 3, except for 2-pass instructions.
    result = passes + 3 + (passes != 2)
    for role in (Role.VALU, Role.TRANS, Role.MATRIX_AB, Role.MEMORY, Role.SWAP, Role.READ_LANE,
                 Role.DPP, Role.WRITE):  # fmt: skip
        row[role] = result
    row[Role.MATRIX_C] = result - 2
    return row


def _row(**needs: int) -> list[int]:
    row = [0] * len(Role)
    for name, count in needs.items():
        row[Role[name]] = count
    return row


NEED: list[list[int]] = [
    _row(),
    _row(MATRIX_AB=2, MATRIX_C=2, SWAP=2, READ_LANE=1, DPP=2),
    _row(VALU=1, MATRIX_AB=2, MATRIX_C=2, SWAP=2, READ_LANE=1, DPP=2),
    _row(VALU=1, TRANS=1, MATRIX_AB=2, MATRIX_C=2, SWAP=2, READ_LANE=1, DPP=2),
    _row(SCALAR_VALU=2, LANE_SELECT=4, DIV_FMAS=4, SCALAR_MEMORY=5),
    _row(EXEC_MATRIX=4, DPP=5, SCALAR_VALU=2),
    _row(M0=1),
    _row(GETREG=2),
    *(_matrix(passes) for passes in (2, 4, 8, 16, 32)),
]
WAR_SLOTS = {2: 1, 4: 3, 8: 7, 16: 15, 32: 31}
"""VALU overwrites SrcC of an MFMA of so many passes."""

FP8_FORMATS = (0, 1)
"""cbsz and blgp of E4M3 and E5M2."""


def passes(text: str) -> int:
    """Passes (4 cycles each) of an MFMA or SMFMAC on gfx950.

    LLVM's SISchedule for gfx950; FP8 operands double the f8f6f4 shapes.
    """
    inst = parse(text)
    found = SHAPE.match(inst.stem)
    if found is None:
        return 0
    rows = int(found[1])
    stem = inst.stem
    if "f8f6f4" in stem:
        single = 8 if rows == 32 else 4
        formats = inst.modifiers.get("cbsz", 0), inst.modifiers.get("blgp", 0)
        return single * (2 if any(form in FP8_FORMATS for form in formats) else 1)
    if stem.endswith("_f64"):
        return 16 if rows == 16 else 4
    if "smfmac" in stem:
        return {32: 8, 16: 4}[rows]
    if rows == 4:
        return 2
    if stem.endswith(("_xf32", "_f32")):
        return {32: 16, 16: 8}[rows]
    if stem.endswith("_2b") or "_2b_" in stem:
        return 16
    if "_4b_" in stem:
        return 8
    return {32: 8, 16: 4}[rows]
