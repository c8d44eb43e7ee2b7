"""The engine against the rules read off cycle by cycle, on real captures and on samples."""

import random
from pathlib import Path

import numpy as np
import pytest
from attribution_oracle import Oracle

import tracekit
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
    compared, wrong = disagreements(tracekit.open(captures / name).timeline(), 2, 600, name)
    assert compared > 300
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
    compared, wrong = disagreements(tracekit.open(path).timeline(timing="amd"), 2, 600, 3)
    assert compared > 300
    assert wrong == []
