"""Wait states of gfx90a, gfx942 and gfx950: how many issue slots must lie between two instructions.

The counts are those of LLVM 22's GCNHazardRecognizer, read in its source and compared with what
the compiler inserts (tests/zyfa/sim/rules). 0 means that the hardware tracks the pair, or that it
is harmless. Rows are producers (`Kind`), columns how the consumer touches the register (`Role`).

This table and that of `zyfa.codegen.hazards` are two on purpose, written apart from one another:
this one checks what the generator's pass inserts, which a shared table could not.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

ARCHS = ("gfx90a", "gfx942", "gfx950")
"""The chips that have a table."""


class Kind(IntEnum):
    """What wrote a register, or from STORE_DATA on what read one that may not change yet.

    XDLn, SGEMMn: an MFMA or SMFMAC of n passes; SGEMM has f32 inputs, and counts as XDL on gfx90a.
    HALF: a VALU result that is moved within the register (SDWA, op_sel, FP4 conversions).
    """

    SAFE = 0
    VALU = 1
    TRANS = 2
    HALF = 3
    DOT = 4
    LOAD = 5
    VALU_SCALAR = 6
    SALU_M0 = 7
    SETREG = 8
    XDL2 = 9
    XDL4 = 10
    XDL8 = 11
    XDL16 = 12
    SGEMM2 = 13
    SGEMM8 = 14
    SGEMM16 = 15
    DGEMM_4X4 = 16
    DGEMM_16X16 = 17
    STORE_DATA = 18
    XDL2_SRC_C = 19
    XDL4_SRC_C = 20
    XDL8_SRC_C = 21
    XDL16_SRC_C = 22


class Role(IntEnum):
    """How a consumer touches a register.

    SAME_C is SrcC on exactly the registers that the same opcode wrote; no instruction has it by
    itself. MEMORY_AFTER_DGEMM is what MEMORY needs, too, if an f64 MFMA stands between the two.
    """

    XDL_C = 0
    SGEMM_C = 1
    DGEMM_C = 2
    SAME_C = 3
    MATRIX_AB = 4
    MATRIX_WRITE = 5
    VALU = 6
    TRANS = 7
    DOT_C = 8
    SWAP = 9
    READ_LANE = 10
    DPP = 11
    VALU_WRITE = 12
    MEMORY = 13
    MEMORY_AFTER_DGEMM = 14
    MEMORY_WRITE = 15
    FMA64 = 16
    SCALAR_VALU = 17
    LANE_SELECT = 18
    DIV_FMAS = 19
    SCALAR_MEMORY = 20
    EXEC_MATRIX = 21
    EXEC_MEMORY = 22
    EXEC_DPP = 23
    EXEC_LANE = 24
    EXEC_SWAP = 25
    M0 = 26
    SETREG = 27
    RFE = 28
    OTHER = 29


ACCUMULATORS = (Role.XDL_C, Role.SGEMM_C, Role.DGEMM_C)
VECTOR_READS = (Role.VALU, Role.TRANS, Role.DOT_C, Role.SWAP, Role.READ_LANE, Role.DPP)
"""Everything in the vector ALU that reads a vector register."""

Row = tuple[int, ...]


def _row(*parts: dict[Role, int]) -> Row:
    """The larger count wherever parts overlap."""
    row = [0] * len(Role)
    for part in parts:
        for role, count in part.items():
            row[role] = max(row[role], count)
    return tuple(row)


def _each(roles: tuple[Role, ...], count: int) -> dict[Role, int]:
    return dict.fromkeys(roles, count)


def _matrix(result: int, write: int, memory: int, **accumulators: int) -> Row:
    """Slots after the result of an MFMA: read, overwritten, read by memory, read as SrcC."""
    return _row(
        _each((*VECTOR_READS, Role.MATRIX_AB), result),
        _each((Role.VALU_WRITE, Role.MEMORY_WRITE), write),
        {Role.MEMORY: memory},
        {Role[name]: count for name, count in accumulators.items()},
    )


def _xdl(arch: str, passes: int) -> Row:
    # gfx950 adds one slot to most rows of gfx942, though not where 2 passes meet f32 or f64.
    more = int(arch == "gfx950")
    result = passes + 3 + (more if passes != 2 else 0)
    after = {"XDL_C": passes, "DGEMM_C": passes + 1}
    if arch != "gfx90a":
        other = passes + 1 + (more if passes != 2 else 0)
        after = {"XDL_C": passes + 1 + more, "SGEMM_C": other, "DGEMM_C": other,
                 "SAME_C": 2 if passes == 2 else 0}  # fmt: skip
    return _matrix(result, result, result, **after)


def _sgemm(passes: int) -> Row:
    same = 2 if passes == 2 else 0
    result = passes + 2
    return _matrix(result, result, result, SGEMM_C=passes, DGEMM_C=passes, SAME_C=same)


@lru_cache(maxsize=len(ARCHS))
def needs(arch: str) -> tuple[Row, ...]:
    """Slots by `[Kind][Role]` for a chip of `ARCHS`. Raises ValueError for another."""
    if arch not in ARCHS:
        raise ValueError(f"no hazard table for {arch}; there are {', '.join(ARCHS)}")
    old, new = arch == "gfx90a", arch == "gfx950"
    swap = {Role.SWAP: 2} if new else {}
    legacy = {Role.DPP: 2, Role.MEMORY_AFTER_DGEMM: 2 if old else 0} | swap
    legacy |= {} if old else {Role.READ_LANE: 1}
    valu = legacy | _each((*ACCUMULATORS, Role.MATRIX_AB), 2)
    forwarded = {} if old else _each((Role.VALU, Role.DOT_C), 1)
    packed = {} if old else _each((Role.TRANS, Role.VALU_WRITE, Role.MATRIX_WRITE), 1)
    dot = _each((*VECTOR_READS, Role.VALU_WRITE, Role.MEMORY, Role.MEMORY_WRITE), 3)
    scalar = {Role.LANE_SELECT: 4, Role.DIV_FMAS: 4, Role.SCALAR_MEMORY: 5, Role.EXEC_MATRIX: 4,
              Role.EXEC_MEMORY: 5, Role.EXEC_DPP: 5}  # fmt: skip
    scalar |= {} if old else {Role.SCALAR_VALU: 2, Role.EXEC_LANE: 4}
    scalar |= {Role.EXEC_SWAP: 4} if new else {}
    table = {
        Kind.SAFE: _row(),
        Kind.VALU: _row(valu),
        Kind.TRANS: _row(valu, forwarded),
        Kind.HALF: _row(valu, forwarded, packed),
        Kind.DOT: _row(legacy | {Role.MEMORY_AFTER_DGEMM: 0}, dot),
        Kind.LOAD: _row({Role.DPP: 2}),
        Kind.VALU_SCALAR: _row(scalar),
        Kind.SALU_M0: _row({Role.M0: 1}),
        Kind.SETREG: _row({Role.SETREG: 2, Role.RFE: 1}),
        Kind.STORE_DATA: _row(_each((Role.VALU_WRITE, Role.MATRIX_WRITE), 1 if old else 2)),
    }
    for passes in (2, 4, 8, 16):
        if old and passes == 4:
            continue
        table[Kind[f"XDL{passes}"]] = _xdl(arch, passes)
        war = _each((Role.VALU_WRITE, Role.MEMORY_WRITE), passes - 1)
        table[Kind[f"XDL{passes}_SRC_C"]] = _row(war)
    if not old:
        table |= {Kind[f"SGEMM{passes}"]: _sgemm(passes) for passes in (2, 8, 16)}
    small, large = {"DGEMM_C": 4, "SAME_C": 4}, {"DGEMM_C": 17 if new else 9}
    if not old:
        small["SGEMM_C"], large["SGEMM_C"] = 4, large["DGEMM_C"]
    unit = {Role.FMA64: 2}
    table[Kind.DGEMM_4X4] = _row(_roles(_matrix(6, 6, 9, **small)), unit)
    table[Kind.DGEMM_16X16] = _row(_roles(_matrix(19 if new else 11, 11, 18, **large)), unit)
    rows = [table.get(kind, _row()) for kind in Kind]
    absent = _absent(arch)
    return tuple(tuple(0 if role in absent else row[role] for role in Role) for row in rows)


def _absent(arch: str) -> tuple[Role, ...]:
    """Roles that no instruction of the chip has: v_permlane*_swap, and SGEMM apart from XDL."""
    if arch == "gfx90a":
        return Role.SWAP, Role.EXEC_SWAP, Role.SGEMM_C
    return (Role.SWAP, Role.EXEC_SWAP) if arch == "gfx942" else ()


def _roles(row: Row) -> dict[Role, int]:
    return {role: row[role] for role in Role}
