"""Static hazard check of a listing, by LLVM's way of counting wait states.

Every instruction is one wait state, s_nop N is N + 1. From each producer the control flow is
followed for as many wait states as any consumer can need; the shortest path counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zyfa.sim.isa.branch import CONDITIONS, target_address
from zyfa.sim.isa.instruction import Instruction
from zyfa.sim.isa.program import Program
from zyfa.sim.isa.syntax import Syntax
from zyfa.sim.rules.hazards import Scoreboard, name, scoreboard, slots
from zyfa.sim.rules.waitstates import Role, Row

FAR = 36
"""No hazard reaches further (slots)."""


@dataclass(frozen=True)
class Finding:
    """A consumer too close to its producer; texts with PC, slots needed and found."""

    producer: str
    consumer: str
    register: str
    needed: int
    found: int

    def __str__(self) -> str:
        return (
            f"{self.consumer}\n  needs {self.needed} slots after {self.producer} "
            f"({self.register}); {self.found} found"
        )


def lint(program: Program) -> list[Finding]:
    """All findings of the code object by its chip's table, in program order of the producer.

    Raises ValueError for a chip that has no table.
    """
    boards = [scoreboard(inst.text, program.code.arch) for inst in program.instructions]
    findings: dict[tuple[int, int], Finding] = {}
    for inst, board in zip(program.instructions, boards, strict=True):
        if reach(board):
            _follow(program, boards, inst, findings)
    return list(findings.values())


def reach(board: Scoreboard) -> int:
    """The most slots that any consumer can need after this producer."""
    longest = [max(row) for row, _ in board.marks]
    if board.war_registers:
        longest.append(max(board.war_needs))
    return max(longest, default=0)


@dataclass(frozen=True)
class _Point:
    """A row reached after `passed` slots: registers still as the producer left or read them.

    `dgemm`: an f64 MFMA came in between.
    """

    row: int
    passed: int
    alive: frozenset[int]
    guarded: frozenset[int]
    dgemm: bool = False


def _follow(
    program: Program,
    boards: list[Scoreboard],
    producer: Instruction,
    findings: dict[tuple[int, int], Finding],
) -> None:
    board = boards[producer.index]
    limit = reach(board)
    live = {register: row for row, written in board.marks for register in written}
    best: dict[tuple[int, bool], int] = {}
    stack = [_Point(row, 0, frozenset(live), frozenset(board.war_registers))
             for row in successors(program, producer)]  # fmt: skip
    while stack:
        point = stack.pop()
        key = point.row, point.dgemm
        if point.passed >= limit or best.get(key, FAR) <= point.passed:
            continue
        if not (point.alive or point.guarded):
            continue
        best[key] = point.passed
        inst, other = program.instructions[point.row], boards[point.row]
        for register, needed in _needs(point, live, board, other):
            if needed > point.passed:
                found = Finding(producer.where, inst.where, name(register), needed, point.passed)
                findings.setdefault((producer.index, inst.index), found)
        # A later writer of the register is checked on its own.
        written = set(other.vector_writes)
        alive = point.alive - written - set(other.scalar_writes)
        passed = point.passed + states(inst.syntax)
        dgemm = point.dgemm or other.is_dgemm
        for following in successors(program, inst):
            stack.append(_Point(following, passed, alive, point.guarded - written, dgemm))


def _needs(
    point: _Point, live: dict[int, Row], board: Scoreboard, other: Scoreboard
) -> Iterator[tuple[int, int]]:
    """(register, slots) that `other` needs after the producer `board`."""
    for register, role in other.checks:
        if register in point.alive:
            row = live[register]
            needed = slots(row, role, other, board)
            if role == Role.MEMORY and point.dgemm:
                needed = max(needed, row[Role.MEMORY_AFTER_DGEMM])
            yield register, needed
    for register, role in other.writes:
        if register in point.guarded:
            yield register, board.war_needs[role]


def states(syntax: Syntax) -> int:
    """Wait states of an instruction."""
    return 1 + syntax.operands[0].number if syntax.stem == "s_nop" else 1


def successors(program: Program, inst: Instruction) -> list[int]:
    """Rows that may execute next; indirect jumps have none."""
    stem = inst.syntax.stem
    if stem in ("s_endpgm", "s_setpc_b64", "s_swappc_b64") or inst.text.startswith(".long"):
        return []
    following = [inst.index + 1] if inst.index + 1 < len(program.instructions) else []
    if stem in CONDITIONS:
        return [program.index_of(target_address(inst)), *following]
    if stem == "s_branch":
        return [program.index_of(target_address(inst))]
    return following
