"""Hardware registers: s_getreg and s_setreg."""

from __future__ import annotations

from zyfa.sim.errors import SimError
from zyfa.sim.isa.access import scalar_getter, scalar_putter
from zyfa.sim.isa.builders import handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave


@handles("s_getreg_b32")
def _getreg(inst: Instruction) -> Execute:
    put = scalar_putter(inst.operands[0])
    name, offset, width = hwreg(inst.operands[1].text)

    def run(w: Wave) -> None:
        if name == "HW_REG_MODE":
            value = w.mode
        elif name in w.hardware:
            value = w.hardware[name]
        else:
            raise SimError(f"{name} has no value in the simulator: {inst.where}")
        put(w, value >> offset & ((1 << width) - 1))

    return run


@handles("s_setreg_b32", "s_setreg_imm32_b32")
def _setreg(inst: Instruction) -> Execute:
    name, offset, width = hwreg(inst.operands[0].text)
    get = scalar_getter(inst.operands[1])
    if name != "HW_REG_MODE":
        raise SimError(f"s_setreg of {name}: {inst.where}")

    def run(w: Wave) -> None:
        mask = ((1 << width) - 1) << offset
        mode = w.mode & ~mask | (get(w) << offset & mask)
        if (mode ^ w.mode) & 0xFF:
            raise SimError(f"rounding and denormal modes cannot change in flight: {inst.where}")
        w.mode = mode

    return run


def hwreg(text: str) -> tuple[str, int, int]:
    """(name, offset, width) of `hwreg(NAME, offset, width)`."""
    parts = [part.strip() for part in text[text.index("(") + 1 : -1].split(",")]
    return parts[0], int(parts[1]) if len(parts) > 1 else 0, int(parts[2]) if len(parts) > 2 else 32
