"""The engine against the rules read off cycle by cycle, on real captures and on samples."""

import random
from pathlib import Path

import numpy as np
import pytest

import tracekit
from tests.support import planned
from tests.support.attribution_oracle import Oracle
from tracekit.analysis.attribution.engine import charges
from tracekit.analysis.attribution.names import CAUSES, OTHERS, PHASES, SPLITS

TRACES = Path(__file__).parents[3] / "traces"
SAMPLES = ("lockstep", "pingpong", "zyfa_gap_lean", "zyfa_serial_exact")
REAL = (
    "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44",
    "flash_attn_bf16_gfx950/ui_output_agent_58550_dispatch_44",
    "aiter_fp4_gemm_gfx950_before/att",
    "aiter_fp4_gemm_gfx950_after/att",
    "fp8_preshuffle_gemm_gfx950/ui_output_agent_58177_dispatch_135",
    "fp8_paged_attention_gfx950/ui_output_agent_10886_dispatch_209",
    "gemm_bf16_gfx942/ui_output_agent_6426_dispatch_608",
    "legacy_rocprofv2_ui",
    "wave_gemm_bf16_gfx950/att",
)


def disagreements(timeline, simds, cycles, seed):
    """(cycles compared, those where engine and oracle differ in anything)."""
    chance = random.Random(seed)
    found, oracle = charges(timeline), Oracle(timeline)
    rows, waves = found.facts.rows, found.facts.rows.waves
    compared, wrong = 0, []
    for one in chance.sample(found.simds, min(simds, len(found.simds))):
        group = one.simd.se, one.simd.dispatch, one.simd.simd
        first, last = waves.begin[one.waves].min() - 50, waves.end[one.waves].max() + 50
        run = chance.randrange(first, last)
        asked = [chance.randrange(first, last) for _ in range(cycles)]
        p = one.pieces
        for cycle in (*asked, *range(run, run + cycles)):
            at = int(np.searchsorted(p.start, cycle, side="right")) - 1
            idle = at >= 0 and p.end[at] > cycle
            assert idle != oracle.is_busy(group, cycle)
            if not idle:
                continue
            mine = (
                CAUSES[p.cause[at]], SPLITS[p.split[at]], PHASES[p.phase[at]],
                None if p.wave[at] < 0 else p.wave[at],
                None if p.row[at] < 0 else rows.at[p.row[at]], OTHERS[p.others[at]],
                None if p.wave[at] < 0 else one.deciders.wave[p.of[at]],
            )  # fmt: skip
            compared += 1
            if mine != oracle.cause(group, cycle):
                wrong.append((group, cycle, mine, oracle.cause(group, cycle)))
    return compared, wrong


@pytest.mark.parametrize("name", REAL)
def test_real_captures_are_charged_as_the_rules_say(captures, name):
    compared, wrong = disagreements(tracekit.open(captures / name).timeline(), 2, 300, name)
    assert compared > 100
    assert wrong == []


@pytest.mark.parametrize("timing", ["exact", "amd"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_charged_as_the_rules_say(name, timing):
    timeline = tracekit.open(TRACES / name).timeline(timing=timing)
    compared, wrong = disagreements(timeline, 2, 500, name)
    assert compared > 100
    assert wrong == []


def test_raw_streams_in_the_timing_of_amd(captures):
    path = captures / "aiter_fp4_gemm_gfx950_before" / "att"
    compared, wrong = disagreements(tracekit.open(path).timeline(timing="amd"), 2, 300, 3)
    assert compared > 100
    assert wrong == []


BODY = (
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_exp_f32_e32 v1, v2", "v_mul_f32_e32 v4, v4, v4", "v_pk_fma_f32 v[4:5], v[4:5], v[4:5]",
    "v_readfirstlane_b32 s4, v1", "s_mov_b32 s5, s4", "ds_read_b128 v[4:7], v8",
    "global_load_dwordx4 v[4:7], v[8:9], off", "s_waitcnt vmcnt(1)", "s_waitcnt lgkmcnt(0)",
    "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_nop 3", "s_barrier", "s_setprio 1",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_kernels_are_charged_as_the_rules_say(tmp_path, seed):
    chance = random.Random(seed)
    body = [chance.choice(BODY) for _ in range(30)]
    kernel = planned.lines(*BODY[2:9], f"loop: {BODY[0]}", *body, "s_cbranch_scc1 -> loop",
                           *BODY[2:6], "s_endpgm")  # fmt: skip
    for line in kernel:
        if line.opcode.kind.name in ("LDS", "VMEM"):
            kernel[kernel.index(line)] = line.__class__(line.text, latency=chance.choice((64, 400)))
    at = next(i for i, line in enumerate(kernel) if line.target)
    kernel[at] = kernel[at].__class__(kernel[at].text, target="loop", taken=planned.loop_taken(3))
    path, _ = planned.run(tmp_path, kernel, slots=2)
    for timing in ("exact", "amd"):
        compared, wrong = disagreements(planned.timeline(path, timing=timing), 4, 250, seed)
        assert compared > 100
        assert wrong == []


def test_dispatches_of_one_stream_are_apart():
    """The second wave slot of a sample as if it were of another dispatch."""
    timeline = tracekit.open(TRACES / "pingpong").timeline()
    for table in (timeline.waves, timeline.executed):
        table["dispatch"] = np.where(table["slot"] == 1, 7, 3)
    compared, wrong = disagreements(timeline, 8, 150, 5)
    assert {one.simd.dispatch for one in charges(timeline).simds} == {3, 7}
    assert compared > 100
    assert wrong == []
