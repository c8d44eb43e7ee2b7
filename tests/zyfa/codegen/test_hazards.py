"""Each row of the wait-state table: exactly enough slots pass, one fewer is filled."""

import pytest

from zyfa.codegen.hazards import legalise
from zyfa.codegen.instruction import Label, control, lds_load, merge, nop, op, scalar, swap
from zyfa.codegen.registers import M0, VCC, Reg


def v(i, n=1):
    return Reg("v", i, n)


def s(i, n=1):
    return Reg("s", i, n)


BIG = "v_mfma_f32_32x32x64_f8f6f4"
SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"
SMALL = "v_mfma_f32_16x16x128_f8f6f4"
BIG_MFMA = op(BIG, v(0, 16), v(32, 8), v(40, 8), 0)
SMALL_MFMA = op(SMALL, v(0, 4), v(32, 8), v(40, 8), 0)
HIGH = merge("v_ashr_pk_u8_i32", v(1), v(2), v(3), 17, mods="op_sel:[0,0,0,1]")

ROWS = {
    "16 passes, read": (BIG_MFMA, op("v_mov_b32", v(60), v(5)), 20),
    "16 passes, overwrite": (BIG_MFMA, op("v_mov_b32", v(5), 0), 20),
    "16 passes, A": (BIG_MFMA, op(BIG, v(64, 16), v(0, 8), v(40, 8), 0), 20),
    "16 passes, same C": (BIG_MFMA, op(BIG, v(0, 16), v(32, 8), v(40, 8), v(0, 16)), 0),
    "same C, other opcode": (
        BIG_MFMA,
        op(SCALED, v(0, 16), v(32, 8), v(40, 8), v(0, 16), v(60), v(61)),
        18,
    ),
    "16 passes, other C": (BIG_MFMA, op(BIG, v(64, 16), v(32, 8), v(40, 8), v(0, 16)), 18),
    "16 passes, LDS overwrite": (BIG_MFMA, op("ds_read_b64", v(4, 2), v(60)), 20),
    "8 passes, read": (SMALL_MFMA, op("v_mov_b32", v(60), v(3)), 12),
    "8 passes, other C": (SMALL_MFMA, op(SMALL, v(8, 4), v(32, 8), v(40, 8), v(0, 4)), 10),
    "C overwritten": (
        op(BIG, v(0, 16), v(32, 8), v(40, 8), v(64, 16)),
        op("v_mov_b32", v(64), 0),
        15,
    ),
    "A overwritten": (BIG_MFMA, op("v_mov_b32", v(32), 0), 0),
    "vector to matrix": (op("v_mov_b32", v(33), 0), BIG_MFMA, 2),
    "vector to scale": (
        op("v_mov_b32", v(60), 0),
        op(SCALED, v(0, 16), v(32, 8), v(40, 8), v(0, 16), v(60), v(61)),
        2,
    ),
    "vector to swap": (op("v_mov_b32", v(1), 0), swap(v(1), v(2)), 2),
    "transcendental": (op("v_exp_f32_e64", v(1), v(2)), op("v_mov_b32", v(3), v(1)), 1),
    "transcendental chain": (op("v_exp_f32", v(1), v(2)), op("v_log_f32", v(3), v(1)), 0),
    "high half read": (HIGH, op("v_mov_b32", v(4), v(1)), 1),
    "low half then high half": (
        merge("v_ashr_pk_u8_i32", v(1), v(2), v(3), 17),
        merge("v_ashr_pk_u8_i32", v(1), v(4), v(5), 17, mods="op_sel:[0,0,0,1]"),
        0,
    ),
    "high half then low half": (
        HIGH,
        merge("v_ashr_pk_u8_i32", v(1), v(4), v(5), 17),
        1,
    ),
    "high half overwritten": (HIGH, op("v_mov_b32", v(1), v(4)), 1),
    "readfirstlane": (op("v_mov_b32", v(1), 0), op("v_readfirstlane_b32", s(9), v(1)), 1),
    "mask": (
        op("v_cmp_gt_i32", s(20, 2), 5, v(1)),
        op("v_cndmask_b32_e64", v(2), v(2), v(3), s(20, 2)),
        2,
    ),
    "vcc": (
        op("v_cmp_gt_i32", VCC, 5, v(1)),
        op("v_cndmask_b32_e64", v(2), v(2), v(3), VCC),
        2,
    ),
    "vector SGPR to memory": (
        op("v_readfirstlane_b32", s(9), v(1)),
        lds_load(v(2), s(4, 4), s(9)),
        5,
    ),
    "M0 to direct load": (scalar("s_mov_b32", M0, 0), lds_load(v(2), s(4, 4), s(9)), 1),
    "M0 to marker": (scalar("s_mov_b32", M0, 0), control("s_ttracedata", reads=(M0,)), 1),
    "dependent vector": (op("v_mov_b32", v(1), 0), op("v_mov_b32", v(2), v(1)), 0),
}


def slots_between(lines, producer, consumer):
    inside = lines[lines.index(producer) + 1 : lines.index(consumer)]
    return sum(line.slots for line in inside)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("given", [0, 1])
def test_row(row, given):
    producer, consumer, needed = ROWS[row]
    program = [producer, *nop(given), consumer]
    assert slots_between(legalise(program), producer, consumer) == max(needed, given)


@pytest.mark.parametrize("row", ROWS)
def test_idempotent(row):
    producer, consumer, _ = ROWS[row]
    once = legalise([producer, consumer])
    assert legalise(once) == once


def test_the_shorter_of_two_paths_counts():
    write, use = op("v_mov_b32", v(33), 0), BIG_MFMA
    branch = control("s_cbranch_scc1", "skip", reads=("scc",))
    lines = legalise([write, branch, *nop(16), Label("skip"), use])
    assert slots_between(lines[lines.index(Label("skip")) :], Label("skip"), use) == 1


def test_a_loop_carries_hazards_to_its_head():
    use, write = BIG_MFMA, op("v_mov_b32", v(33), 0)
    back = control("s_cbranch_scc1", "loop", reads=("scc",))
    lines = legalise([Label("loop"), use, *nop(16), write, back])
    assert slots_between(lines, Label("loop"), use) == 1


def test_code_after_an_unconditional_branch_starts_clean():
    write, use = op("v_mov_b32", v(33), 0), BIG_MFMA
    lines = legalise([write, control("s_branch", "far"), use, Label("far")])
    assert lines == [write, control("s_branch", "far"), use, Label("far")]
