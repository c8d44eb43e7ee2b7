"""What the builders of execute closures use: their registry, sources and destinations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zyfa.sim.errors import UnknownInstruction
from zyfa.sim.isa.access import Getter, Putter, source_getter, vector_putter
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.lanes import dpp_source, dpp_writes, sdwa_putter, sdwa_source
from zyfa.sim.state.wave import Wave

Builder = Callable[[Instruction], Execute]

HANDLERS: dict[str, Builder] = {}
"""Mnemonic stem -> function that builds the execute closure."""


def handles(*names: str) -> Callable[[Builder], Builder]:
    """Register a builder for these mnemonic stems."""

    def register(builder: Builder) -> Builder:
        for name in names:
            if name in HANDLERS:
                raise AssertionError(f"{name} has two builders")
            HANDLERS[name] = builder
        return builder

    return register


def build(inst: Instruction) -> None:
    """Make `inst.execute`. Raises UnknownInstruction."""
    builder = HANDLERS.get(inst.syntax.stem + inst.indexed)
    if builder is None:
        raise UnknownInstruction(f"not simulated: {inst.where}")
    try:
        execute = builder(inst)
        inst.execute = dpp_writes(inst, execute) if "_dpp" in inst.syntax.mnemonic else execute
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise UnknownInstruction(f"not simulated: {inst.where}: {error!r}") from error


def source(inst: Instruction, position: int, kind: str, half: int = 0) -> Getter:
    """Reader of source operand `position` (0 = first operand of the text), DPP/SDWA applied."""
    item = inst.operands[position]
    mnemonic = inst.syntax.mnemonic
    number = position - inst_first_source(inst)
    if mnemonic.endswith("_sdwa") and item.vector:
        return sdwa_source(inst, item, kind, number)
    get = source_getter(item, kind, half)
    if mnemonic.endswith("_dpp") and number == 0:
        return dpp_source(inst, item, kind)
    return get


def inst_first_source(inst: Instruction) -> int:
    """Position of src0 in the operand list: after one destination, or two for carries."""
    stem = inst.syntax.stem
    return 2 if stem.startswith(("v_add_co", "v_sub_co", "v_subrev_co", "v_addc", "v_subb")) else 1


def destination(inst: Instruction, kind: str, position: int = 0) -> Putter:
    """Writer of the vector destination, with omod, clamp, SDWA and op_sel applied."""
    item = inst.operands[position]
    if inst.syntax.mnemonic.endswith("_sdwa") and "dst_sel" in inst.syntax.modifiers:
        return sdwa_putter(inst, item, kind)
    put = vector_putter(item.base, kind)
    return adjusted(inst, kind, put)


def adjusted(inst: Instruction, kind: str, put: Putter) -> Putter:
    """Apply omod, then clamp, then the denormal mode, to float results."""
    modifiers = inst.syntax.modifiers
    factor = {2: 2.0, 4: 4.0}.get(modifiers.get("mul", 0), 1.0)
    if modifiers.get("div") == 2:
        factor = 0.5
    clamp = "clamp" in modifiers
    if kind not in "fdh" or (factor == 1.0 and not clamp):
        return put
    zero, one = (np.array(x, np.float32) for x in (0, 1))
    nan_to_zero = inst.kernel.dx10_clamp

    def put_adjusted(w: Wave, value: np.ndarray) -> None:
        if factor != 1.0:
            value = value * value.dtype.type(factor)
        if clamp:
            if nan_to_zero:
                value = np.where(np.isnan(value), value.dtype.type(0), value)
            value = np.clip(value, zero.astype(value.dtype), one.astype(value.dtype))
        put(w, value)

    return put_adjusted
