"""Software hazards: results that the hardware does not track, on one of the chips of `ARCHS`.

A consumer may issue no earlier than its producer's issue + 4 (slots + 1) cycles. The slot counts
are in `zyfa.sim.rules.waitstates`; what an instruction writes and checks is in
`zyfa.sim.rules.effects`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from zyfa.sim.errors import HazardError, PoisonError
from zyfa.sim.isa.instruction import Instruction
from zyfa.sim.isa.syntax import parse
from zyfa.sim.rules.effects import HWREGS, MEMORY, UNIT, checks, effects, opcode
from zyfa.sim.rules.usage import usage
from zyfa.sim.rules.waitstates import ACCUMULATORS, Kind, Role, Row, needs
from zyfa.sim.state.registers import AGPR, EXEC, HWREG, M0, SGPR, VCC
from zyfa.sim.state.wave import Pending, Wave

WRITES = (Role.VALU_WRITE, Role.MATRIX_WRITE, Role.MEMORY_WRITE)


class Scoreboard:
    """The hazard bookkeeping of one static instruction, precomputed for a chip.

    `marks`: (needs, registers) of what it writes; `war_needs`, `war_registers`: of what it reads
    and no younger instruction may overwrite yet; `writes`: the part of `checks` that overwrites.
    """

    __slots__ = (
        "accumulator",
        "checks",
        "is_dgemm",
        "is_dot",
        "is_matrix",
        "marks",
        "memory",
        "opcode",
        "scalar_writes",
        "vector_writes",
        "war_needs",
        "war_registers",
        "writes",
    )  # fmt: skip

    def __init__(self, text: str, arch: str):
        table = needs(arch)
        found = effects(text, arch)
        stem = parse(text).stem
        self.opcode = opcode(text, arch)
        self.memory = bool(MEMORY.match(stem)) or stem.startswith(("s_load", "s_buffer"))
        self.checks = [(r, int(role)) for r, role in checks(text, arch)]
        self.writes = [(r, role) for r, role in self.checks if role in WRITES]
        self.is_matrix = Kind.XDL2 <= found.vector <= Kind.DGEMM_16X16
        self.is_dgemm = found.vector in (Kind.DGEMM_4X4, Kind.DGEMM_16X16)
        self.is_dot = found.vector == Kind.DOT
        self.accumulator = found.accumulator
        self.vector_writes = tuple(r for r in usage(text).writes if r < SGPR)
        self.scalar_writes = found.scalar_writes
        marks = [(table[found.vector], self.vector_writes)] if found.vector else []
        if found.scalar and found.scalar_writes:
            marks.append((table[found.scalar], found.scalar_writes))
        if self.is_dgemm:
            marks.append((table[found.vector], (UNIT,)))
        self.marks: list[tuple[Row, tuple[int, ...]]] = [m for m in marks if any(m[0]) and m[1]]
        self.war_needs = table[found.held]
        self.war_registers = found.held_registers if any(self.war_needs) else ()


@lru_cache(maxsize=65536)
def scoreboard(text: str, arch: str = "gfx950") -> Scoreboard:
    """The bookkeeping of an instruction, which its text and the chip decide alone."""
    return Scoreboard(text, arch)


def slots(row: Row, role: int, board: Scoreboard, producer: Scoreboard) -> int:
    """Slots that `board` needs after `producer` by its `row`, with the exemptions.

    SrcC on exactly the registers of D is forwarded within one opcode; another opcode needs the
    slots of a partial overlap (LLVM 22 inserts none, its pull request 218363 does). A dot product
    forwards its accumulator to the same opcode, too.
    """
    if producer.is_matrix and role in ACCUMULATORS:
        if board.accumulator == producer.vector_writes:
            same = row[Role.SAME_C]
            return same if board.opcode == producer.opcode else max(row[role], same)
        return row[role]
    if producer.is_dot and role in (Role.DOT_C, Role.VALU_WRITE):
        return 0 if board.opcode == producer.opcode else row[role]
    return row[role]


SETTLED = 4 * 22
"""Cycles after which every result can be used: the longest row has 20 slots."""


def check(  # noqa: C901 - every instruction goes through it, so no calls
    w: Wave, inst: Instruction, board: Scoreboard, now: int
) -> None:
    """Raise HazardError or PoisonError when `inst` may not issue at cycle `now`."""
    writers = w.writers
    for register, role in board.checks:
        entry = writers[register]
        if entry is None:
            continue
        need, when, producer = entry
        if need is None:
            if role not in WRITES or not _in_order(board, producer.board):
                _poisoned(w, inst, register, producer)
            continue
        if now < when + SETTLED and (need[role] or role in ACCUMULATORS):
            needed = slots(need, role, board, producer.board)
            if needed and now < when + 4 * (needed + 1):
                _raise(producer, inst, register, needed, (now - when) // 4 - 1)
    if now >= w.held_until:
        return
    readers = w.readers
    for register, role in board.writes:
        entry = readers[register]
        if entry is not None:
            need, when, producer = entry
            if need[role] and now < when + 4 * (need[role] + 1):
                _raise(producer, inst, register, need[role], (now - when) // 4 - 1)


def _in_order(board: Scoreboard, producer: Scoreboard) -> bool:
    """Two loads of one kind return in order, so the later one may overwrite the earlier."""
    queue = board.opcode.startswith("ds_"), producer.opcode.startswith("ds_")
    return board.memory and queue[0] == queue[1] and not board.opcode.startswith("s_")


def _poisoned(w: Wave, inst: Instruction, register: int, producer: Instruction) -> None:
    raise PoisonError(
        f"wave {w.index}: {inst.where}\n  uses {name(register)} before the s_waitcnt of\n"
        f"{producer.where}"
    )


def _raise(
    producer: Instruction, inst: Instruction, register: int, needed: int, found: int
) -> NoReturn:
    raise HazardError(producer.where, inst.where, name(register), needed, found)


def note(w: Wave, inst: Instruction, board: Scoreboard, now: int) -> None:
    """Record what `inst`, issued at `now`, wrote and holds."""
    for row, registers in board.marks:
        entry = (row, now, inst)
        writers = w.writers
        for register in registers:
            writers[register] = entry
    if board.war_registers:
        reader = (board.war_needs, now, inst)
        w.held_until = now + SETTLED
        for register in board.war_registers:
            w.readers[register] = reader


def poison(w: Wave, entry: Pending) -> None:
    """Mark the registers of a memory result that is in flight."""
    mark = (None, entry, entry.instruction)
    for register in entry.registers:
        before = w.writers[register]
        if before is not None and before[2] is entry.instruction:
            entry.written = before
        w.writers[register] = mark


def settle(w: Wave, entry: Pending) -> None:
    """The result has been waited for; a younger load to the same register stays poison."""
    for register in entry.registers:
        mark = w.writers[register]
        if mark is not None and mark[1] is entry:
            w.writers[register] = entry.written


def name(register: int) -> str:
    """Assembly name of a register number."""
    if register < AGPR:
        return f"v{register}"
    if register < SGPR:
        return f"a{register - AGPR}"
    if register >= HWREG:
        return "an f64 MFMA" if register == UNIT else HWREGS[register - HWREG]
    special = {VCC: "vcc_lo", VCC + 1: "vcc_hi", M0: "m0", EXEC: "exec_lo"}
    return special.get(register, f"s{register - SGPR}")
