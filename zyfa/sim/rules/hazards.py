"""Software hazards of gfx950: results that the hardware does not track.

A consumer may issue no earlier than its producer's issue + 4 (slots + 1) cycles. The slot counts
are in `zyfa.sim.rules.waitstates`.
"""

from __future__ import annotations

import re
from typing import NoReturn

from zyfa.sim.errors import HazardError, PoisonError
from zyfa.sim.isa.instruction import Instruction
from zyfa.sim.isa.syntax import parse
from zyfa.sim.rules.usage import registers, usage
from zyfa.sim.rules.waitstates import NEED, WAR_SLOTS, Kind, Role, passes
from zyfa.sim.state.registers import AGPR, EXEC, M0, REGISTERS, SGPR, VCC
from zyfa.sim.state.wave import Pending, Wave

TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_")
HALF_WRITE = re.compile(r"v_(cvt_(scalef32_)?pk_(fp8|bf8)_f32|ashr_pk_[ui]8_i32|cvt_sr_(fp8|bf8))")
LANE_SELECT = re.compile(r"v_(readlane|writelane)")
READ_LANE = re.compile(r"v_read(first)?lane")
SWAP = re.compile(r"v_permlane\d+_swap")
MEMORY = re.compile(r"(ds|global|flat|scratch|buffer)_")


def producer_kinds(text: str) -> tuple[Kind, Kind]:
    """(kind for vector registers, kind for scalar registers) that the instruction leaves."""
    syntax = parse(text)
    stem = syntax.stem
    if stem.startswith(("v_mfma", "v_smfmac")):
        return Kind[f"MFMA{passes(text)}"], Kind.SAFE
    if stem.startswith("v_"):
        scalar = Kind.CMPX if stem.startswith("v_cmpx") else Kind.VALU_SCALAR
        if TRANSCENDENTAL.match(stem):
            return Kind.TRANS, scalar
        picks = syntax.modifiers.get("op_sel", [0])
        if (HALF_WRITE.match(stem) and picks[-1]) or syntax.modifiers.get(
            "dst_sel", "DWORD"
        ) not in ("DWORD",):
            return Kind.HALF, scalar
        return Kind.VALU, scalar
    if stem.startswith("s_setreg"):
        return Kind.SAFE, Kind.SETREG
    if stem.startswith("s_"):
        return Kind.SAFE, Kind.SALU_M0
    return Kind.SAFE, Kind.SAFE


SETREG_CELL = REGISTERS - 1


def checks(  # noqa: C901, PLR0915 - a branch a role of the table
    text: str,
) -> list[tuple[int, int]]:
    """(register, Role) pairs to test before the instruction may issue."""
    syntax, use = parse(text), usage(text)
    stem = syntax.stem
    out: list[tuple[int, int]] = []
    matrix = stem.startswith(("v_mfma", "v_smfmac"))
    memory = bool(MEMORY.match(stem))
    vector = stem.startswith("v_")
    if matrix:
        sparse = stem.startswith("v_smfmac")
        for number, item in enumerate(use.sources):
            accumulator = number == 2 if not sparse else item is use.destinations[0]
            role = Role.MATRIX_C if accumulator else Role.MATRIX_AB
            out += [(r, role) for r in registers(item)]
        out.append((EXEC, Role.EXEC_MATRIX))
        return out
    if SWAP.match(stem):
        base = Role.SWAP
    elif READ_LANE.match(stem):
        base = Role.READ_LANE
    elif TRANSCENDENTAL.match(stem):
        base = Role.TRANS
    elif memory:
        base = Role.MEMORY
    else:
        base = Role.VALU
    dpp = "_dpp" in syntax.mnemonic
    for number, item in enumerate(use.sources):
        for r in registers(item):
            if r < SGPR:
                out.append((r, Role.DPP if dpp and number == 0 else base))
            elif r == M0 and not vector:
                continue
            elif LANE_SELECT.match(stem) and number == 1:
                out.append((r, Role.LANE_SELECT))
            elif memory:
                out.append((r, Role.SCALAR_MEMORY))
            elif vector:
                out.append((r, Role.SCALAR_VALU))
            else:
                out.append((r, Role.OTHER))
    if stem.startswith("v_div_fmas"):
        out += [(VCC, Role.DIV_FMAS), (VCC + 1, Role.DIV_FMAS)]
    if stem.startswith(("s_cbranch_vcc",)):
        out += [(VCC, Role.OTHER), (VCC + 1, Role.OTHER)]
    if M0 in use.reads:
        needs_m0 = "lds" in syntax.modifiers or "_lds_" in stem or stem == "s_ttracedata"
        out.append((M0, Role.M0 if needs_m0 else Role.OTHER))
    if stem == "s_getreg_b32":
        out.append((SETREG_CELL, Role.GETREG))
    if dpp:
        out.append((EXEC, Role.DPP))
    half = HALF_WRITE.match(stem)
    for r in use.writes:
        if (r < SGPR and not half) or r < SGPR:
            out.append((r, Role.WRITE))
        else:
            out.append((r, Role.OTHER))
    return out


class Scoreboard:
    """The hazard bookkeeping of one static instruction, precomputed."""

    __slots__ = (
        "accumulator",
        "checks",
        "is_matrix",
        "memory",
        "scalar_kind",
        "scalar_writes",
        "stem",
        "text",
        "vector_kind",
        "vector_writes",
        "war",
        "war_registers",
        "writes_by_valu",
    )  # fmt: skip

    def __init__(self, inst: Instruction):
        text = inst.text
        use = usage(text)
        self.stem = inst.syntax.stem
        self.memory = bool(MEMORY.match(self.stem)) or self.stem.startswith(("s_load", "s_buffer"))
        self.checks = [(r, int(role)) for r, role in checks(text)]
        vector, scalar = producer_kinds(text)
        self.vector_kind, self.scalar_kind = int(vector), int(scalar)
        self.is_matrix = vector >= Kind.MFMA2
        self.vector_writes = tuple(r for r in use.writes if r < SGPR)
        self.scalar_writes = tuple(
            r for r in use.writes if r >= SGPR and (scalar != Kind.SALU_M0 or r == M0)
        )
        if scalar == Kind.SETREG:
            self.scalar_writes = (SETREG_CELL,)
        self.writes_by_valu = self.stem.startswith("v_") and not self.is_matrix
        self.war = 0
        self.war_registers: tuple[int, ...] = ()
        self.accumulator: tuple[int, ...] = ()
        if self.is_matrix:
            c = use.sources[2] if len(use.sources) > 2 else use.destinations[0]
            if self.stem.startswith("v_smfmac"):
                c = use.destinations[0]
            self.accumulator = tuple(registers(c))
            if self.accumulator != self.vector_writes:
                self.war = WAR_SLOTS[passes(text)]
                self.war_registers = self.accumulator


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
            if role != Role.WRITE or not _in_order(board, producer):
                _poisoned(w, inst, register, producer)
            continue
        slots_needed = need[role]
        if slots_needed and now < when + 4 * (slots_needed + 1):
            if role == Role.MATRIX_C and chained(board, producer):
                continue
            _raise(producer, inst, register, slots_needed, (now - when) // 4 - 1)
    if board.writes_by_valu:
        readers = w.readers
        for register in board.vector_writes:
            entry = readers[register]
            if entry is not None:
                slots_needed, when, producer = entry
                if now < when + 4 * (slots_needed + 1):
                    _raise(producer, inst, register, slots_needed, (now - when) // 4 - 1)


def chained(board: Scoreboard, producer: Instruction) -> bool:
    """The accumulate chain: same opcode, exactly the same registers."""
    other: Scoreboard = producer.board
    return other.stem == board.stem and other.vector_writes == board.accumulator


def _in_order(board: Scoreboard, producer: Instruction) -> bool:
    """Two loads of one kind return in order, so the later one may overwrite the earlier."""
    queue = board.stem.startswith("ds_"), producer.board.stem.startswith("ds_")
    return board.memory and queue[0] == queue[1] and not board.stem.startswith("s_")


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
    """Record what `inst`, issued at `now`, wrote."""
    if board.vector_kind:
        entry = (NEED[board.vector_kind], now, inst)
        writers = w.writers
        for register in board.vector_writes:
            writers[register] = entry
        if board.war:
            reader = (board.war, now, inst)
            for register in board.war_registers:
                w.readers[register] = reader
    if board.scalar_kind:
        entry = (NEED[board.scalar_kind], now, inst)
        for register in board.scalar_writes:
            w.writers[register] = entry


def poison(w: Wave, entry: Pending) -> None:
    """Mark the registers of a memory result that is in flight."""
    mark = (None, entry, entry.instruction)
    for register in entry.registers:
        w.writers[register] = mark


def settle(w: Wave, entry: Pending) -> None:
    """The result has been waited for; a younger load to the same register stays poison."""
    for register in entry.registers:
        mark = w.writers[register]
        if mark is not None and mark[1] is entry:
            w.writers[register] = None


def name(register: int) -> str:
    """Assembly name of a register number."""
    if register < AGPR:
        return f"v{register}"
    if register < SGPR:
        return f"a{register - AGPR}"
    special = {VCC: "vcc_lo", VCC + 1: "vcc_hi", M0: "m0", EXEC: "exec_lo", SETREG_CELL: "MODE"}
    return special.get(register, f"s{register - SGPR}")
