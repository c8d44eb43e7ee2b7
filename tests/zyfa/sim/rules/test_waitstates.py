"""Passes agree with tracekit's pipe tables; slot counts follow from them."""

from __future__ import annotations

import pytest

from tracekit.isa.pipes import cost
from zyfa.sim.isa.matrix import MNEMONICS
from zyfa.sim.rules.waitstates import NEED, Kind, Role, passes

TEXTS = [f"{name} v[32:47], v[0:7], v[8:15], v[32:47]" for name in MNEMONICS]


@pytest.mark.parametrize("text", TEXTS, ids=MNEMONICS)
def test_passes_are_those_of_the_pipe_table(text):
    known = cost("gfx950", text).cycles
    if known is None:
        pytest.skip("not in tracekit's table")
    assert 4 * passes(text) == known


@pytest.mark.parametrize(
    ("modifiers", "expected"),
    [("", 16), ("cbsz:4 blgp:4", 8), ("cbsz:4", 16), ("cbsz:2 blgp:3", 8), ("cbsz:1 blgp:4", 16)],
)
def test_fp8_operands_double_the_passes(modifiers, expected):
    text = f"v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47] {modifiers}"
    assert passes(text) == expected
    assert 4 * passes(text) == cost("gfx950", text).cycles


@pytest.mark.parametrize(
    ("kind", "slots"), [(Kind.MFMA2, 5), (Kind.MFMA4, 8), (Kind.MFMA8, 12), (Kind.MFMA16, 20)]
)
def test_result_slots(kind, slots):
    assert NEED[kind][Role.VALU] == NEED[kind][Role.MEMORY] == slots
    assert NEED[kind][Role.MATRIX_C] == slots - 2
