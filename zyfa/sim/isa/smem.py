"""Scalar loads: s_load and s_buffer_load."""

from __future__ import annotations

import re

from zyfa.sim.errors import BoundsError
from zyfa.sim.isa.access import scalar_getter
from zyfa.sim.isa.builders import handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.registers import SGPR
from zyfa.sim.state.wave import Pending, Wave

SIZES = {"": 1, "x2": 2, "x3": 3, "x4": 4, "x8": 8, "x16": 16}
NAMES = [f"s_{buffer}load_dword{size}" for size in SIZES for buffer in ("", "buffer_")]


@handles(*NAMES)
def _load(inst: Instruction) -> Execute:
    count = SIZES[re.sub(r".*dword(x?\d*)$", r"\1", inst.syntax.stem)]
    target = inst.operands[0].base
    get_base = scalar_getter(inst.operands[1], True)
    get_offset = scalar_getter(inst.operands[2])
    extra = int(inst.modifier("offset", 0))
    buffer = inst.syntax.stem.startswith("s_buffer")
    size_at = inst.operands[1].base - SGPR + 2
    constant = inst.operands[2].value is not None
    first = target - SGPR

    def run(w: Wave) -> None:
        offset = get_offset(w)
        if constant and offset >= 1 << 31:
            offset -= 1 << 32
        offset += extra
        base = get_base(w) & 0xFFFFFFFFFFFF
        if buffer and offset + 4 * count > w.s[size_at]:
            raise BoundsError(f"scalar buffer load outside its descriptor: {inst.where}")
        try:
            raw = w.workgroup.memory.read((base + offset) & ~3, 4 * count)
        except BoundsError as error:
            raise BoundsError(f"{error}: {inst.where}") from None

        def commit() -> None:
            for n in range(count):
                w.s[first + n] = int.from_bytes(raw[4 * n : 4 * n + 4], "little")

        w.lgkm.append(Pending(tuple(range(target, target + count)), commit, inst, "smem"))

    return run
