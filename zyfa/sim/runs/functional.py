"""Execution without timing: every instruction is one slot, waves run in turns between barriers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.isa.builders import build
from zyfa.sim.isa.instruction import Instruction, undecoded
from zyfa.sim.isa.program import Program
from zyfa.sim.rules import hazards
from zyfa.sim.state.wave import Pending, Wave
from zyfa.sim.state.workgroup import Workgroup

LIMIT = 50_000_000
"""Instructions of one wave before it is taken for an endless loop."""


def issue(w: Wave, inst: Instruction, now: int) -> None:
    """Check hazards, execute, and record what was written. `w.next` is advanced."""
    if inst.execute is undecoded:
        build(inst)
        inst.board = hazards.scoreboard(inst.text)
    board = inst.board
    hazards.check(w, inst, board, now)
    w.next = inst.index + 1
    inst.execute(w)
    if board.marks or board.war_registers:
        hazards.note(w, inst, board, now)
    if board.memory:
        if w.lgkm and w.lgkm[-1].instruction is inst:
            hazards.poison(w, w.lgkm[-1])
        if w.vmem and w.vmem[-1].instruction is inst:
            hazards.poison(w, w.vmem[-1])
    w.executed += 1


def wait(w: Wave, inst: Instruction) -> None:
    """s_waitcnt: commit the memory operations that it covers."""
    counts = inst.syntax.modifiers
    drain(w, w.vmem, counts.get("vmcnt"), inst)
    drain(w, w.lgkm, counts.get("lgkmcnt"), inst)


def drain(w: Wave, queue: deque[Pending], count: int | None, inst: Instruction) -> None:
    """Retire the oldest entries until `count` are left."""
    if count is None or len(queue) <= count:
        return
    if count and any(entry.kind == "smem" for entry in queue):
        raise SimError(f"scalar loads return out of order, so only lgkmcnt(0) helps: {inst.where}")
    while len(queue) > count:
        retire(w, queue.popleft())


def retire(w: Wave, entry: Pending) -> None:
    """The result of a memory instruction becomes visible."""
    if entry.commit is not None:
        entry.commit()
    hazards.settle(w, entry)


def run_workgroup(
    program: Program, group: Workgroup, observe: Callable[[Wave, Instruction], None] | None = None
) -> int:
    """Run to the end; returns the wave-instructions executed.

    Raises HazardError (by issue slots), PoisonError, RaceError, BoundsError, SimError on deadlock.
    """
    waves = group.waves
    for w in waves:
        w.next = program.index_of(program.kernel.entry)
    with np.errstate(all="ignore"):
        while any(not w.ended for w in waves):
            for w in waves:
                if not w.ended and not w.waiting:
                    run_until_barrier(program, w, observe)
            live = [w for w in waves if not w.ended]
            for w in live:
                w.waiting = False
                w.epoch += 1
    return sum(w.executed for w in waves)


def run_until_barrier(
    program: Program, w: Wave, observe: Callable[[Wave, Instruction], None] | None
) -> None:
    """Execute one wave until it waits at an s_barrier or ends."""
    instructions = program.instructions
    while True:
        inst = instructions[w.next]
        stem = inst.syntax.mnemonic
        issue(w, inst, w.clock)
        if observe is not None:
            observe(w, inst)
        w.clock += 4
        if stem[0] != "s":
            continue
        if stem == "s_waitcnt":
            wait(w, inst)
        elif stem == "s_nop":
            w.clock += 4 * inst.operands[0].number
        elif stem == "s_barrier":
            w.waiting = True
            return
        elif stem == "s_endpgm":
            finish(w)
            return
        elif w.executed > LIMIT:
            raise SimError(f"wave {w.index} does not end (at {inst.where})")


def finish(w: Wave) -> None:
    """s_endpgm: outstanding stores complete."""
    w.ended = True
    while w.vmem:
        retire(w, w.vmem.popleft())
    while w.lgkm:
        retire(w, w.lgkm.popleft())
