"""Each row of the hazard table: exactly enough slots run, one fewer raises, in sim and in lint."""

from __future__ import annotations

import pytest

from zyfa.sim import HazardError, PoisonError, run
from zyfa.sim.isa.program import Program
from zyfa.sim.rules.lint import lint
from zyfa.sim.state import loader

MFMA16 = "v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47]"
MFMA8 = "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[8:11], v[32:47]"
MFMA4 = "v_mfma_f32_16x16x32_bf16 v[32:35], v[0:3], v[8:11], v[32:35]"
SCALED = (
    "v_mfma_scale_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47], v16, v17 "
    "op_sel_hi:[0,0,0]"
)
ROWS = [
    ("16-pass D -> VALU read", MFMA16, "v_add_f32_e32 v20, v32, v32", 20),
    ("16-pass scaled D -> VALU read", SCALED, "v_add_f32_e32 v20, v32, v32", 20),
    ("16-pass D -> VALU overwrite", MFMA16, "v_mov_b32_e32 v40, 0", 20),
    ("16-pass D -> DS read", MFMA16, "ds_write_b32 v60, v33", 20),
    ("16-pass D -> ds_read overwrite", MFMA16, "ds_read_b32 v33, v60", 20),
    ("16-pass D -> MFMA A", MFMA16,
     "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[32:39], v[8:15], v[64:79]", 20),
    ("16-pass D -> overlapping C", MFMA16,
     "v_mfma_f32_32x32x64_f8f6f4 v[34:49], v[0:7], v[8:15], v[34:49]", 18),
    ("16-pass D -> same C, other opcode", MFMA16,
     "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[8:11], v[32:47]", 18),
    ("16-pass C <- VALU overwrite",
     "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[0:7], v[8:15], v[32:47]", "v_mov_b32_e32 v32, 0", 15),
    ("8-pass D -> VALU", MFMA8, "v_add_f32_e32 v20, v32, v32", 12),
    ("8-pass D -> overlapping C", MFMA8,
     "v_mfma_f32_32x32x16_bf16 v[34:49], v[0:3], v[8:11], v[34:49]", 10),
    ("8-pass C <- VALU overwrite",
     "v_mfma_f32_32x32x16_bf16 v[64:79], v[0:3], v[8:11], v[32:47]", "v_mov_b32_e32 v32, 0", 7),
    ("4-pass D -> VALU", MFMA4, "v_add_f32_e32 v20, v32, v32", 8),
    ("VALU -> MFMA A", "v_mov_b32_e32 v0, 0", MFMA16, 2),
    ("VALU -> MFMA C", "v_mov_b32_e32 v33, 0", MFMA16, 2),
    ("VALU -> MFMA scale", "v_mov_b32_e32 v16, 0", SCALED, 2),
    ("TRANS -> VALU", "v_exp_f32_e32 v1, v2", "v_add_f32_e32 v3, v1, v1", 1),
    ("VALU -> permlane swap", "v_mov_b32_e32 v1, v2", "v_permlane32_swap_b32_e32 v1, v3", 2),
    ("op_sel-high write -> VALU read", "v_ashr_pk_u8_i32 v1, v2, v3, 17 op_sel:[0,0,0,1]",
     "v_add_u32_e32 v3, v1, v1", 1),
    ("VALU -> v_readfirstlane", "v_mov_b32_e32 v1, v2", "v_readfirstlane_b32 s8, v1", 1),
    ("v_cmp -> v_cndmask", "v_cmp_gt_f32_e32 vcc, v1, v2", "v_cndmask_b32_e32 v3, v1, v2, vcc", 2),
    ("v_readfirstlane -> SGPR operand", "v_readfirstlane_b32 s8, v1",
     "v_add_u32_e32 v2, s8, v3", 2),
    ("VALU SGPR -> lane select", "v_readfirstlane_b32 s8, v1", "v_readlane_b32 s9, v2, s8", 4),
    ("VALU VCC -> v_div_fmas", "v_cmp_gt_f32_e32 vcc, v1, v2", "v_div_fmas_f32 v3, v4, v5, v6", 4),
    ("VALU SGPR -> VMEM", "v_readfirstlane_b32 s12, v1",
     "buffer_load_dword v2, v3, s[12:15], 0 offen", 5),
    ("SALU M0 -> load to LDS", "s_mov_b32 m0, 0",
     "buffer_load_dwordx4 v3, s[12:15], 0 offen lds", 1),
    ("SALU M0 -> s_ttracedata", "s_mov_b32 m0, 7", "s_ttracedata", 1),
    ("VALU -> DPP source", "v_mov_b32_e32 v1, v2",
     "v_add_f32_dpp v3, v1, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 2),
    ("s_setreg -> s_getreg", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0",
     "s_getreg_b32 s8, hwreg(HW_REG_MODE)", 2),
    ("v_cmpx -> MFMA", "v_cmpx_eq_u32_e32 v0, v0", MFMA16, 4),
]  # fmt: skip
FREE = [
    ("accumulate chain", MFMA16, MFMA16),
    ("A overwritten after issue", MFMA16, "v_mov_b32_e32 v0, 0"),
    ("scale overwritten after issue", SCALED, "v_mov_b32_e32 v16, 0"),
    ("low half, then high half",
     "v_ashr_pk_u8_i32 v1, v2, v3, 17", "v_ashr_pk_u8_i32 v1, v2, v3, 17 op_sel:[0,0,0,1]"),
    ("dependent VALU", "v_mov_b32_e32 v1, v2", "v_add_f32_e32 v3, v1, v1"),
    ("TRANS -> TRANS", "v_exp_f32_e32 v1, v2", "v_log_f32_e32 v3, v1"),
]  # fmt: skip
ZERO = "\n".join(f"v_mov_b32_e32 v{n}, 0" for n in range(80))
SETUP = f"""
s_mov_b32 s12, 0
s_mov_b32 s13, 0
s_mov_b32 s14, 0
s_mov_b32 s15, 0
s_mov_b32 m0, 0
{ZERO}
s_nop 7
"""


def gap(slots: int) -> str:
    """s_nops that fill exactly so many slots."""
    parts = []
    while slots:
        step = min(slots, 16)
        parts.append(f"s_nop {step - 1}")
        slots -= step
    return "\n".join(parts)


def source(producer: str, consumer: str, slots: int) -> str:
    return f"{SETUP}\n{producer}\n{gap(slots)}\n{consumer}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"


def findings(code: bytes) -> list:
    loaded = loader.load(code)
    return lint(Program(loaded, loaded.kernel()))


@pytest.mark.parametrize(("name", "producer", "consumer", "slots"), ROWS, ids=[r[0] for r in ROWS])
@pytest.mark.parametrize("timing", [False, True], ids=["functional", "timed"])
def test_exactly_enough_slots_pass(assemble, name, producer, consumer, slots, timing):
    code = assemble(source(producer, consumer, slots), lds=4096)
    assert run(code, timing=timing).instructions > 0
    assert findings(code) == []


@pytest.mark.parametrize(("name", "producer", "consumer", "slots"), ROWS, ids=[r[0] for r in ROWS])
def test_one_slot_fewer_raises(assemble, name, producer, consumer, slots):
    code = assemble(source(producer, consumer, slots - 1), lds=4096)
    with pytest.raises(HazardError) as caught:
        run(code)
    assert (caught.value.needed, caught.value.found) == (slots, slots - 1)
    assert producer.split()[0] in caught.value.producer
    assert consumer.split()[0] in caught.value.consumer
    found = findings(code)
    assert [(f.needed, f.found) for f in found] == [(slots, slots - 1)]


@pytest.mark.parametrize(("name", "producer", "consumer"), FREE, ids=[r[0] for r in FREE])
def test_tracked_pairs_need_no_slots(assemble, name, producer, consumer):
    code = assemble(source(producer, consumer, 0), lds=4096)
    assert run(code).instructions > 0
    assert findings(code) == []


def test_timed_run_counts_cycles_not_slots(assemble):
    # A wait for memory between producer and consumer fills the time that the slots lack.
    body = source(MFMA16, "v_add_f32_e32 v20, v32, v32", 4)
    with pytest.raises(HazardError):
        run(assemble(body, lds=4096), timing=True)


def test_load_result_is_poison_until_its_wait(assemble):
    body = f"{SETUP}\nds_read_b32 v1, v60\nv_add_u32_e32 v2, v1, v1\n"
    with pytest.raises(PoisonError, match=r"uses v1 before the s_waitcnt"):
        run(assemble(body, lds=4096))


def test_scalar_load_result_is_poison_until_its_wait(assemble):
    with pytest.raises(PoisonError, match="uses s4"):
        run(assemble("s_load_dword s4, s[0:1], 0x0\ns_add_u32 s5, s4, 1\n"))


def test_lint_follows_branches(assemble):
    body = f"""{SETUP}
s_cmp_eq_u32 s12, 0
{MFMA16}
s_cbranch_scc1 far
{gap(19)}
far:
v_add_f32_e32 v20, v32, v32
"""
    assert [f.found for f in findings(assemble(body))] == [1]
