"""Passes and the slot counts that follow from them, by chip."""

from __future__ import annotations

import pytest

from zyfa.sim.isa.matrix import MNEMONICS
from zyfa.sim.rules.effects import passes
from zyfa.sim.rules.waitstates import Kind, Role, needs

TEXTS = [f"{name} v[32:47], v[0:7], v[8:15], v[32:47]" for name in MNEMONICS]


@pytest.mark.parametrize("text", TEXTS, ids=MNEMONICS)
def test_every_simulated_matrix_instruction_has_passes(text):
    assert passes(text) in (2, 4, 8, 16)


@pytest.mark.parametrize(
    ("modifiers", "expected"),
    [("", 16), ("cbsz:4 blgp:4", 8), ("cbsz:4", 16), ("cbsz:2 blgp:3", 8), ("cbsz:1 blgp:4", 16)],
)
def test_fp8_operands_double_the_passes(modifiers, expected):
    text = f"v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47] {modifiers}"
    assert passes(text) == expected


@pytest.mark.parametrize(
    ("kind", "slots", "partial"),
    [(Kind.XDL2, 5, 4), (Kind.XDL4, 8, 6), (Kind.XDL8, 12, 10), (Kind.XDL16, 20, 18)],
)
def test_result_slots_of_gfx950(kind, slots, partial):
    row = needs("gfx950")[kind]
    assert row[Role.VALU] == row[Role.MEMORY] == slots
    assert row[Role.XDL_C] == partial


def test_another_chip_has_no_table():
    with pytest.raises(ValueError, match="no hazard table for gfx90c; there are gfx90a, gfx942"):
        needs("gfx90c")
