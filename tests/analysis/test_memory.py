"""Bytes of traced loops, known by construction and from the documents."""

import pandas as pd
import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.memory import COLUMNS, CU_COLUMNS, judged
from tracekit.gfx9 import Inst
from traces.sample_model import OPCODES, Kind, Opcode

for name, kind in (("buffer_load_dwordx4", Inst.VMEM_RD), ("ds_read_b64", Inst.LDS)):
    OPCODES.setdefault(name, Opcode(8, kind, Kind.LDS if kind is Inst.LDS else Kind.VMEM))

MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
TO_LDS = "buffer_load_dwordx4 v73, s[16:19], 0 offen lds"
READ = "ds_read_b64 v[4:5], v8"


def looped(folder, gap, simds=(0,), refused=0, loads=(LOAD, TO_LDS)):
    """Four turns of an MFMA, loads and an LDS read, ``gap`` cycles apart; loads are refused for
    ``refused`` cycles."""
    texts = [MFMA, *loads, READ, "s_cbranch_scc1 -> loop"]
    kernel = lines(f"loop: {texts[0]}", *texts[1:], "s_endpgm")
    plans = []
    for simd in simds:
        plan, time = Plan(kernel, simd, 0, 6000), 6500
        for turn in range(4):
            for at, text in enumerate(texts):
                stall = time - refused if refused and text in loads else None
                plan.at(time, at, stall=stall, taken=turn < 3)
                time += gap
        plans.append(plan.at(time + 100, len(texts)))
    return Analysis(planned.timeline(planned.write(folder, kernel, plans)))


def test_a_load_to_lds_counts_on_both_paths(tmp_path):
    found = looped(tmp_path, 100).memory
    (row,) = found.iterations.to_dict("records")
    assert (row["memory_bytes"], row["lds_bytes"]) == (2048, 1024 + 512)
    (row,) = found.rows.to_dict("records")
    # Steady: two of the four turns, 500 cycles each.
    assert (row["window_cycles"], row["memory_bytes"]) == (1000, 4096)
    assert row["memory_bytes_per_cycle"] == pytest.approx(4.096)
    assert row["memory_share"] == pytest.approx(4.096 / 64)
    assert row["flop_per_byte"] == 2 * 2 * 32 * 32 * 16 / 4096


def test_a_cu_is_the_sum_of_its_simds(tmp_path):
    found = looped(tmp_path, 100, simds=(0, 1, 2)).memory
    (cu,) = found.cus.to_dict("records")
    assert cu["simds"] == 3
    assert cu["memory_bytes"] == found.rows["memory_bytes"].sum()
    assert cu["memory_bytes_per_cycle"] == pytest.approx(3 * 4.096)
    assert tuple(found.rows.columns) == COLUMNS
    assert tuple(found.cus.columns) == CU_COLUMNS


def test_instructions_add_up_to_the_window(tmp_path):
    found = looped(tmp_path, 100, simds=(0, 1)).memory
    for name in ("memory_bytes", "lds_bytes"):
        assert found.instructions[name].sum() == found.rows[name].sum() > 0


def test_refusals_without_bytes_are_no_bound(tmp_path):
    found = looped(tmp_path, 100, refused=80).memory
    (cu,) = found.cus.to_dict("records")
    assert cu["memory_refused_share"] > 0.1
    assert cu["bound"] == ""


def test_refusals_with_bytes_are_a_bound_also_in_the_budget(tmp_path):
    analysis = looped(tmp_path, 48, simds=(0, 1, 2, 3), refused=44, loads=[LOAD] * 6)
    (cu,) = analysis.memory.cus.to_dict("records")
    assert cu["memory_share"] > 0.5
    assert cu["bound"] == "memory_bound"
    assert set(analysis.budget.simds["verdict"]) == {"memory_bound"}
    # One SIMD has a quarter of the bytes, but its CU has all of them.
    assert set(analysis.select(simd=0).budget.simds["verdict"]) == {"memory_bound"}


def test_a_verdict_that_is_no_latency_stays():
    simds = pd.DataFrame({"se": [0, 0], "cu": [1, 1], "dispatch": [3, 3],
                          "verdict": ["vector_bound", "latency_bound"]})  # fmt: skip
    cus = pd.DataFrame({"se": [0], "cu": [1], "dispatch": [3], "bound": ["lds_bound"]})
    assert judged(simds, cus)["verdict"].tolist() == ["vector_bound", "lds_bound"]


def test_the_chip_estimate_needs_a_clock(captures):
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    analysis = Analysis(tracekit.open(path).timeline())
    (cu,) = analysis.memory.cus.to_dict("records")
    rate = cu["memory_bytes_per_cycle"] * analysis.clock.mhz * 256 / 1e6
    assert cu["chip_terabytes_per_second"] == pytest.approx(rate)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rate"), [("before", 17.3), ("after", 19.3)])
def test_the_fp4_gemm_moves_8704_bytes_an_iteration(captures, name, rate):
    path = captures / f"aiter_fp4_gemm_gfx950_{name}" / "att"
    found = Analysis(tracekit.open(path).timeline()).memory
    assert set(found.iterations["memory_bytes"]) == {8704}
    (cu,) = found.cus.to_dict("records")
    assert round(cu["memory_bytes_per_cycle"], 1) == rate
    # The LDS refuses most, but is not busy half of the time.
    assert cu["bound"] == ""
    assert cu["chip_terabytes_per_second"] is None
