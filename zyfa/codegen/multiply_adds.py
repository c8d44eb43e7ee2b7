"""The multiply-add of four elements: x = score * coefficient + addend, in place."""

from __future__ import annotations

from collections.abc import Callable

from zyfa.codegen.instruction import Line, op
from zyfa.codegen.registers import Reg


def scalar(s: Reg, coefficient: Reg, addend: Reg, mods: str = "") -> list[Line]:
    """v_fma_f32, which runs beside matrix instructions."""
    return [op("v_fma_f32", x, x, coefficient[0], addend[0], mods=mods) for x in s.each()]


def packed(s: Reg, coefficient: Reg, addend: Reg, mods: str = "") -> list[Line]:
    """v_pk_fma_f32, two elements a tick, which does not."""
    mods = " ".join(("op_sel_hi:[1,1,0]", mods)).strip()
    return [
        op("v_pk_fma_f32", pair, pair, coefficient, addend, mods=mods)
        for pair in (s[i : i + 2] for i in range(0, len(s), 2))
    ]


MULTIPLY_ADDS: dict[str, Callable[..., list[Line]]] = {
    "scalar": scalar,
    "packed": packed,
}
"""By the name in `Options`, the default first."""
