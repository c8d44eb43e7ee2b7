"""Bubbles of real captures, walked row by row with a pencil; cycles as AMD's files print them.

The rows that a walk rests on stand beside it: (first attempt, issue, end) where they matter.
"""

import functools

import pytest

import tracekit
from tracekit.analysis.attribution.engine import charges
from tracekit.analysis.attribution.names import CAUSES, SPLITS

FLASH = "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44"
FP4 = "aiter_fp4_gemm_gfx950_before/att"
GFX942 = "gemm_bf16_gfx942"

#: (capture, se, simd, start of the bubble): what each of its cycles is, up to each cycle.
WALKED = {
    # A wait for LDS (118220 .. 118268) that outlasts the MFMA before it.
    (FLASH, 0, 0, 118236): [("lgkmcnt_wait", 118268)],
    # s_nop 1 to 121696, then a permlane swap of 8 cycles, then s_waitcnt with nothing to wait for.
    (FLASH, 0, 0, 121692): [("nop", 121696), ("vector_work", 121704), ("lgkmcnt_wait", 121708)],
    # Three times readfirstlane, v_or, s_mov m0 (20 cycles after readfirstlane), load to LDS.  The
    # row of s_mov is 8 long and overlaps that of s_nop: the earlier keeps its cycles.
    (FLASH, 0, 0, 122700): [
        ("vector_work", 122704), ("scalar_waits_for_vector", 122712), ("scalar_or_branch", 122720),
        ("vmem_refused_or_issue", 122724), ("vector_work", 122736),
        ("scalar_waits_for_vector", 122744), ("scalar_or_branch", 122752),
        ("vmem_refused_or_issue", 122756), ("vector_work", 122764),
        ("scalar_waits_for_vector", 122776), ("scalar_or_branch", 122784),
        ("vmem_refused_or_issue", 122788), ("lgkmcnt_wait", 122792),
    ],
    # Slot 1 decides; slot 0 is at its own work and comes later.
    (FLASH, 0, 0, 124436): [
        ("vmcnt_wait", 124476), ("lds_refused_or_issue", 124484), ("lgkmcnt_wait", 124532),
    ],
    # Slot 0 sits at s_barrier (146604 .. 146760).  The last to arrive is slot 0 of SIMD 2 (at
    # 146756): its v_pk_mul waits from 146656 until 12 cycles after the MFMA that ran there to
    # 146720; then five more, and its own s_waitcnt.  From 146760 the wave walks on by itself.
    (FLASH, 0, 0, 146664): [
        ("vector_refused packed", 146732), ("vector_work", 146752), ("lgkmcnt_wait", 146756),
        ("barrier", 146760), ("vector_work", 146804), ("no_attempt", 146812),
        ("lds_refused_or_issue", 146824), ("vector_work", 146848), ("no_attempt", 146856),
        ("lds_refused_or_issue", 146864), ("lgkmcnt_wait", 146880),
    ],
    # The wait ends at 34744; the scale half of the MFMA takes the tick before its issue.
    (FP4, 0, 0, 34728): [("lgkmcnt_wait", 34744), ("no_attempt", 34748)],
    # Three v_add that overwrite addresses of queued LDS reads; then the MFMA's operands.
    (FP4, 0, 0, 45624): [
        ("vector_refused rest", 45652), ("vector_work", 45656), ("vector_refused rest", 45680),
        ("vector_work", 45684), ("vector_refused rest", 45692), ("vector_work", 45696),
        ("lgkmcnt_wait", 45700), ("mfma_refused", 45712),
    ],
    (FP4, 0, 0, 139440): [("lgkmcnt_wait", 139488), ("mfma_refused", 139496)],
    # At a barrier: the last arriver is slot 1 of SIMD 1, whose MFMAs of 294084 and 294124 keep
    # that SIMD's pipe busy; it arrives at 294128 + 4.
    (FP4, 0, 0, 294076): [
        ("vector_work", 294080), ("no_attempt", 294084), ("matrix_elsewhere", 294088),
        ("vector_refused rest", 294092), ("vector_work", 294096), ("scalar_or_branch", 294100),
        ("lgkmcnt_wait", 294120), ("no_attempt", 294124), ("matrix_elsewhere", 294128),
        ("barrier", 294136), ("vector_work", 294140), ("no_attempt", 294144),
    ],
    # Writes to LDS, each refused and then 16 cycles long, with waits between; itself the last
    # at the barrier; s_setprio.
    (GFX942, 0, 1, 54996): [
        ("lds_refused_or_issue", 55020), ("vmcnt_wait", 55028), ("lds_refused_or_issue", 55084),
        ("vmcnt_wait", 55088), ("lds_refused_or_issue", 55148), ("vmcnt_wait", 55152),
        ("lds_refused_or_issue", 55212), ("vmcnt_wait", 55216), ("lds_refused_or_issue", 55276),
        ("barrier", 55284), ("scalar_or_branch", 55288),
    ],
    # Sixteen reads that the LDS queue refuses 12 cycles each.
    (GFX942, 0, 1, 63524): [
        ("lds_refused_or_issue", 63768), ("barrier", 63776), ("scalar_or_branch", 63780),
    ],
}  # fmt: skip


@functools.cache
def attributed(path):
    return charges(tracekit.open(path).timeline())


@pytest.mark.parametrize(("name", "se", "simd", "start"), WALKED)
def test_a_bubble_as_walked(captures, name, se, simd, start):
    found = attributed(captures / name)
    (one,) = [s for s in found.simds if (s.simd.se, s.simd.simd) == (se, simd)]
    bubble = one.bubbles.start.tolist().index(start)
    p = one.pieces.take(one.deciders.bubble[one.pieces.of] == bubble)
    runs = []
    for cause, split, end in zip(p.cause, p.split, p.end, strict=True):
        what = f"{CAUSES[cause]} {SPLITS[split]}".strip()
        if runs and runs[-1][0] == what:
            runs.pop()
        runs.append((what, int(end)))
    assert runs == WALKED[name, se, simd, start]
    assert p.start[0] == start


def test_the_walk_through_the_barrier_goes_to_another_simd(captures):
    found = attributed(captures / FLASH)
    waves, one = found.facts.rows.waves, found.simds[0]
    p = one.pieces
    there = p.take((p.start >= 146664) & (p.end <= 146756))
    assert set(waves.simd[there.wave].tolist()) == {2}
    assert set(waves.simd[one.deciders.wave[there.of]].tolist()) == {0}
