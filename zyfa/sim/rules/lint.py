"""Static hazard check of a listing, by LLVM's way of counting wait states.

Every instruction is one wait state, s_nop N is N + 1. From each producer the control flow is
followed for as many wait states as any consumer can need; the shortest path counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from zyfa.sim.isa.branch import CONDITIONS, target_address
from zyfa.sim.isa.instruction import Instruction
from zyfa.sim.isa.program import Program
from zyfa.sim.rules.hazards import Scoreboard, chained, name
from zyfa.sim.rules.waitstates import NEED, Role

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
    """All findings of the code object, in program order of the producer."""
    boards = [Scoreboard(inst) for inst in program.instructions]
    for inst, board in zip(program.instructions, boards, strict=True):
        inst.board = board
    findings: dict[tuple[int, int], Finding] = {}
    for inst, board in zip(program.instructions, boards, strict=True):
        if reach(board):
            _follow(program, boards, inst, board, findings)
    return list(findings.values())


def reach(board: Scoreboard) -> int:
    """The most slots that any consumer can need after this producer."""
    vector = max(NEED[board.vector_kind]) if board.vector_writes else 0
    scalar = max(NEED[board.scalar_kind]) if board.scalar_writes else 0
    return max(vector, scalar, board.war)


def _follow(  # noqa: C901 - one walk with its kinds of findings
    program: Program,
    boards: list[Scoreboard],
    producer: Instruction,
    board: Scoreboard,
    findings: dict[tuple[int, int], Finding],
) -> None:
    limit = reach(board)
    vector = NEED[board.vector_kind] if board.vector_writes else None
    scalar = NEED[board.scalar_kind] if board.scalar_writes else None
    live = {register: vector for register in board.vector_writes if vector}
    live |= {register: scalar for register in board.scalar_writes if scalar}
    best: dict[int, int] = {}
    stack: list[tuple[int, int, frozenset[int], frozenset[int]]]
    stack = [(row, 0, frozenset(live), frozenset(board.war_registers))
             for row in successors(program, producer)]  # fmt: skip
    while stack:
        row, passed, alive, guarded = stack.pop()
        if passed >= limit or best.get(row, FAR) <= passed or not (alive or guarded):
            continue
        best[row] = passed
        inst, other = program.instructions[row], boards[row]
        for register, role in other.checks:
            if register not in alive:
                continue
            needed = live[register][role]
            if needed > passed:
                if role == Role.MATRIX_C and chained(other, producer):
                    continue
                key = producer.index, inst.index
                found = Finding(producer.where, inst.where, name(register), needed, passed)
                findings.setdefault(key, found)
        if other.writes_by_valu and board.war > passed:
            for register in other.vector_writes:
                if register in guarded:
                    key = producer.index, inst.index
                    found = Finding(producer.where, inst.where, name(register), board.war, passed)
                    findings.setdefault(key, found)
        # A later writer of the register is checked on its own.
        alive = alive - set(other.vector_writes) - set(other.scalar_writes)
        guarded = guarded - set(other.vector_writes)
        for following in successors(program, inst):
            stack.append((following, passed + states(inst), alive, guarded))


def states(inst: Instruction) -> int:
    """Wait states of an instruction."""
    return 1 + inst.operands[0].number if inst.syntax.stem == "s_nop" else 1


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
