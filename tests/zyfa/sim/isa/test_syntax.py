"""Instruction text taken apart, and the registers it touches."""

from __future__ import annotations

import pytest

from zyfa.sim.isa.syntax import parse
from zyfa.sim.rules.hazards import name
from zyfa.sim.rules.usage import usage


def test_modifiers_and_operands():
    found = parse("v_fma_f32 v1, -|v2|, 0.5, s[4:5] clamp mul:2 op_sel:[0,1,0]")
    assert [item.text for item in found.operands] == ["v1", "-|v2|", "0.5", "s[4:5]"]
    assert found.operands[1].neg
    assert found.operands[1].absolute
    assert found.operands[2].value == 0.5
    assert found.operands[3].count == 2
    assert found.modifiers == {"clamp": True, "mul": 2, "op_sel": [0, 1, 0]}


def test_waitcnt():
    assert parse("s_waitcnt vmcnt(3) lgkmcnt(0)").modifiers == {"vmcnt": 3, "lgkmcnt": 0}


def test_swizzle_and_hwreg():
    swizzle = parse("ds_swizzle_b32 v1, v2 offset:swizzle(QUAD_PERM,0,1,2,3)")
    assert swizzle.modifiers["offset"] == "swizzle(QUAD_PERM,0,1,2,3)"
    assert parse("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)").operands[1].text.startswith("hwreg(")


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("global_store_dwordx2 v[0:1], v[2:3], off", "v0 v1 v2 v3", ""),
        ("global_atomic_add v1, v[2:3], v4, off sc0", "v2 v3 v4", "v1"),
        ("global_atomic_add v[2:3], v4, off", "v2 v3 v4", ""),
        ("buffer_load_dwordx4 v1, s[4:7], 0 offen lds", "v1 s4 s5 s6 s7 m0", ""),
        ("v_add_co_u32_e32 v1, vcc, v2, v3", "v2 v3", "v1 vcc_lo vcc_hi"),
        ("v_fmac_f32_e32 v1, v2, v3", "v2 v3 v1", "v1"),
        ("v_permlane32_swap_b32_e32 v1, v2", "v1 v2", "v1 v2"),
        ("ds_write_b64 v1, v[2:3]", "v1 v2 v3", ""),
        ("v_accvgpr_write_b32 a3, v4", "v4", "a3"),
    ],
)
def test_usage(text, reads, writes):
    found = usage(text)
    assert " ".join(map(name, found.reads)) == reads
    assert " ".join(map(name, found.writes)) == writes
