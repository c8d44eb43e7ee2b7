"""The wait states that gfx950 does not enforce, and the pass that inserts them.

Table: LLVM 22's GCNHazardRecognizer for gfx950 (shader results are not tracked by the hardware),
the rows that these kernels can meet: they store at most 64 bits and write no EXEC by v_cmpx, for
example. `zyfa.sim.rules.waitstates` has all of them.
Slots are instruction slots between producer and consumer, each instruction 1, s_nop N = N + 1.
The pass walks the control flow graph, keeping for every register the youngest age of each kind of
producer over all paths, and puts s_nop in front of a consumer that would come too early.

This table and that of `zyfa.sim.rules.waitstates` are two on purpose, written apart from one
another: the simulator and `zyfa lint`, which the tests run on every variant, check what this pass
inserts, which a shared table could not.
"""

from __future__ import annotations

from collections.abc import Iterator

from zyfa.codegen.instruction import Instruction, Label, Line, nop, units

TRANSCENDENTAL = ("v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32", "v_sqrt_f32")
PASSES = {"32x32x64": 16, "16x16x128": 8}

# Slots by the passes of the producing MFMA: D to any reader or writer; D to an overlapping SrcC;
# SrcC overwritten by the vector unit.
MFMA_TO_ANY = {16: 20, 8: 12}
MFMA_TO_C = {16: 18, 8: 10}
MFMA_C_OVERWRITE = {16: 15, 8: 7}
VALU_TO_MFMA = 2
VALU_TO_SWAP = 2
TRANS_TO_VALU = 1
HIGH_HALF_TO_VALU = 1
VALU_TO_READFIRSTLANE = 1
VALU_SGPR_TO_VALU = 2
VALU_SGPR_TO_VMEM = 5
SALU_M0_TO_USER = 1
HORIZON = 20
"""No row needs more slots, so older producers are forgotten."""

Key = tuple[str, str]
State = dict[Key, int]
"""(register, kind of producer) to slots since; the kind of an MFMA carries D's registers."""


def passes(instruction: Instruction) -> int:
    """Matrix passes of 4 cycles, for FP8 operands."""
    return next(p for shape, p in PASSES.items() if shape in instruction.mnemonic)


def _kinds(instruction: Instruction) -> Iterator[Key]:
    """What this instruction leaves behind for later ones."""
    name = instruction.mnemonic
    if instruction.is_mfma:
        identity = f"{name} {instruction.operands[0]}"
        for unit in instruction.writes:
            yield unit, f"mfma{passes(instruction)} {identity}"
        for unit in units(instruction.operands[3:4]):
            yield unit, f"srcc{passes(instruction)}"
    elif instruction.is_vector:
        high = "op_sel" in instruction.modifiers and name.startswith(("v_ashr_pk", "v_cvt_pk_fp8"))
        for unit in instruction.writes:
            yield unit, "valu"
            if name.removesuffix("_e64") in TRANSCENDENTAL:
                yield unit, "trans"
            if high:
                yield unit, "high"
    elif name.startswith("s_") and "m0" in instruction.writes:
        yield "m0", "salu"


def _needed(instruction: Instruction, unit: str, kind: str, reads: bool) -> int:
    """Slots required between a producer of `kind` on `unit` and this consumer."""
    name = instruction.mnemonic
    family, _, identity = kind.partition(" ")
    if family.startswith("mfma"):
        return _after_mfma(instruction, unit, int(family[4:]), identity)
    if family.startswith("srcc"):
        return MFMA_C_OVERWRITE[int(family[4:])] if instruction.is_vector and not reads else 0
    if family == "high":  # a writer keeps or checks the other half, so it is a reader too
        return HIGH_HALF_TO_VALU if instruction.is_vector or instruction.is_mfma else 0
    if not reads:
        return 0
    if family == "salu":
        return SALU_M0_TO_USER if "lds" in instruction.modifiers or name == "s_ttracedata" else 0
    if family == "valu":
        if not unit.startswith("v") or unit == "vcc":
            return _after_scalar_of_valu(instruction)
        return _after_valu(instruction)
    if family == "trans" and instruction.is_vector:
        plain = name.removesuffix("_e64") not in TRANSCENDENTAL
        return TRANS_TO_VALU if plain else 0
    return 0


def _after_mfma(instruction: Instruction, unit: str, producer: int, identity: str) -> int:
    if not instruction.is_mfma or unit in units(instruction.operands[1:3]):
        return MFMA_TO_ANY[producer]
    d, c = instruction.operands[0], instruction.operands[3]
    if identity == f"{instruction.mnemonic} {d}" and (c == d or isinstance(c, int)):
        # Same registers and opcode: the accumulate chain is interlocked, and a restart from an
        # inline constant overwrites in issue order.
        return 0
    return MFMA_TO_C[producer]


def _after_valu(instruction: Instruction) -> int:
    if instruction.is_mfma:
        return VALU_TO_MFMA
    if instruction.mnemonic.startswith("v_permlane"):
        return VALU_TO_SWAP
    return VALU_TO_READFIRSTLANE if instruction.mnemonic.startswith("v_readfirstlane") else 0


def _after_scalar_of_valu(instruction: Instruction) -> int:
    if instruction.is_vector or instruction.is_mfma:
        return VALU_SGPR_TO_VALU
    return VALU_SGPR_TO_VMEM if instruction.mnemonic.startswith("buffer_") else 0


def missing(instruction: Instruction, state: State) -> int:
    """Slots to insert before `instruction` when `state` holds on entry."""
    lack = 0
    touched = instruction.reads | instruction.writes
    for (unit, kind), age in state.items():
        if unit in touched:
            if unit in instruction.reads:
                lack = max(lack, _needed(instruction, unit, kind, True) - age)
            if unit in instruction.writes:
                lack = max(lack, _needed(instruction, unit, kind, False) - age)
    return lack


def advance(instruction: Instruction, state: State) -> State:
    """State after `instruction`; a register's new producer replaces its older ones."""
    slots = instruction.slots
    fresh = dict.fromkeys(_kinds(instruction), 0)
    out = {
        key: age + slots
        for key, age in state.items()
        if age + slots < HORIZON and (key[0] not in instruction.writes or key[1][:4] == "srcc")
    }
    return out | fresh


def legalise(lines: list[Line]) -> list[Line]:
    """The same program with the missing s_nop inserted; idempotent."""
    entry: dict[str, State] = {}
    while True:
        before = {name: dict(state) for name, state in entry.items()}
        out = _pass(lines, entry)
        if entry == before:
            return out


def _pass(lines: list[Line], entry: dict[str, State]) -> list[Line]:
    state: State | None = {}
    out: list[Line] = []
    for line in lines:
        if isinstance(line, Label):
            state = _join(entry, line.name, state)
        elif isinstance(line, Instruction) and state is not None:
            gap = nop(missing(line, state))
            for filler in gap:
                state = advance(filler, state)
            out.extend(gap)
            state = advance(line, state)
            if line.is_branch:
                _join(entry, str(line.operands[0]), state)
            if line.mnemonic in ("s_branch", "s_endpgm"):
                state = None
        out.append(line)
    return out


def _join(entry: dict[str, State], label: str, state: State | None) -> State:
    merged = entry.setdefault(label, {})
    for key, age in (state or {}).items():
        merged[key] = min(age, merged.get(key, age))
    return dict(merged)
