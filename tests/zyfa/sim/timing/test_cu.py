"""The timing rules, one small kernel each. All distances are simulated cycles."""

from __future__ import annotations

from itertools import pairwise

import pytest

from zyfa.sim import run
from zyfa.sim.timing.parameters import Parameters

BF16 = "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[8:11], v[32:47]"
FP8 = "v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47]"
SCALED = (
    "v_mfma_scale_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[32:47], v16, v17 "
    "op_sel_hi:[0,0,0]"
)
SMALL = "v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[0:1], v[8:9], v[32:35]"
ADD = "v_add_f32_e32 v60, v61, v62"
PACKED = "v_pk_fma_f32 v[60:61], v[62:63], v[64:65], v[66:67]"
ASHR = "v_ashr_pk_u8_i32 v60, v61, v62, 17"
EXP = "v_exp_f32_e32 v60, v61"
LDS = "ds_read_b32 v70, v71"
ZERO = (
    "v_mov_b32_e32 v90, v0\n"
    + "\n".join(f"v_mov_b32_e32 v{n}, 0" for n in range(80))
    + "\ns_nop 7\n"
)


def issues(assemble, body: str, block: int = 64, **overrides: int) -> list[list[tuple[str, int]]]:
    """(mnemonic, issue) of each wave's instructions after its last s_nop 7."""
    code = assemble(ZERO + body + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n", lds=1024)
    result = run(code, block=block, timing=True, parameters=Parameters.of(overrides=overrides))
    waves = []
    for track in result.timing.tracks:
        program = track.driver.program.instructions
        rows = [(program[issue.row].text, issue.issued) for issue in track.executed()]
        last = max(n for n, (text, _) in enumerate(rows) if text == "s_nop 7")
        waves.append(rows[last + 1 :])
    return waves


def distance(assemble, first: str, second: str, **overrides: int) -> int:
    """Cycles from the issue of `first` to that of `second`, one wave."""
    (rows,) = issues(assemble, f"{first}\n{second}", **overrides)
    return rows[1][1] - rows[0][1]


@pytest.mark.parametrize(
    ("first", "second", "cycles"),
    [
        (ADD, ADD, 4), (EXP, ADD, 8), (EXP, EXP, 8), (PACKED, PACKED, 4), (ADD, BF16, 4),
        (BF16, ADD, 8), (BF16, EXP, 8), (BF16, PACKED, 44), (BF16, LDS, 8), (BF16, BF16, 32),
        (FP8, ADD, 12), (FP8, PACKED, 76), (FP8, LDS, 8), (FP8, FP8, 64), (SCALED, ADD, 12),
        (SCALED, SCALED, 64), (SMALL, ADD, 4), (SMALL, LDS, 4), (SMALL, SMALL, 16),
        (BF16, "s_mov_b32 s4, 0", 4), (ADD, LDS, 12), (EXP, LDS, 16),
        ("v_readfirstlane_b32 s4, v1", "s_mov_b32 s5, 0", 20),
        ("v_cmp_eq_u32_e32 vcc, v1, v2", "s_cbranch_vccz next\nnext:", 24),
        ("s_cmp_eq_u32 s4, s5", "s_cbranch_scc0 next\nnext:", 8),
        ("s_mov_b32 s4, 0", LDS, 8), ("ds_write_b32 v71, v70", "s_mov_b32 s4, 0", 8),
        ("ds_write_b64 v71, v[72:73]", "s_mov_b32 s4, 0", 12),
        ("ds_write_b128 v71, v[72:75]", "s_mov_b32 s4, 0", 20),
        ("s_nop 3", ADD, 16), ("s_waitcnt vmcnt(0)", ADD, 4), ("s_setprio 1", ADD, 4),
    ],
)  # fmt: skip
def test_distance_inside_one_wave(assemble, first, second, cycles):
    assert distance(assemble, first, second) == cycles


def test_ashr_pk_may_be_refused_in_the_shadow_of_an_mfma(assemble):
    assert distance(assemble, FP8, ASHR) == 12
    assert distance(assemble, FP8, ASHR, ashr_pk_refused=1) == distance(assemble, FP8, PACKED)
    assert distance(assemble, ADD, ASHR, ashr_pk_refused=1) == 4


def test_taken_branch(assemble):
    (rows,) = issues(assemble, f"s_branch over\n{ADD}\nover:\n{EXP}")
    assert rows[1][1] - rows[0][1] == 20


def test_lds_latency_is_seen_at_the_wait(assemble):
    (rows,) = issues(assemble, f"ds_read_b128 v[72:75], v71\ns_waitcnt lgkmcnt(0)\n{ADD}")
    assert rows[2][1] - rows[0][1] == 52 + 4


def test_barrier_releases_four_cycles_after_the_last_arrival(assemble):
    body = f"v_readfirstlane_b32 s4, v90\ns_barrier\n{ADD}"
    waves = issues(assemble, body, block=512)
    assert len({rows[2][1] for rows in waves}) <= 4
    arrivals = [rows[1][1] for rows in waves]
    assert min(rows[2][1] for rows in waves) == max(arrivals) + 8


def test_mfma_goes_before_a_valu_of_an_older_wave(assemble):
    # Wave 0 (older) has VALU work, wave 4 shares its SIMD and starts its MFMAs at once.
    body = (
        f"v_readfirstlane_b32 s4, v90\ns_nop 4\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 other\n{ADD}\n"
        + (f"{ADD}\n" * 40 + "s_endpgm\nother:\n" + f"{BF16}\n" * 6)
    )
    waves = issues(assemble, body, block=320)
    mfmas = [when for text, when in waves[4] if text.startswith("v_mfma")]
    assert {b - a for a, b in pairwise(mfmas)} == {32}


def test_two_waves_dual_issue_plain_valu_only(assemble):
    def shared(op: str) -> int:
        waves = issues(assemble, f"{op}\n" * 64, block=320)
        ticks = [{when for text, when in waves[n] if text.startswith("v_")} for n in (0, 4)]
        return len(ticks[0] & ticks[1])

    assert shared("v_add_f32_e32 v60, v61, v62") > 50
    assert shared(PACKED) == 0
    assert shared(EXP) == 0
    assert shared("v_lshlrev_b32_e32 v60, 1, v61") == 0


def test_valu_waits_for_queued_reader_of_its_target(assemble):
    """WAR interlock: behind wide reads of four SIMDs the address register is still needed."""
    reads = "ds_read_b128 v[72:75], v71\n" * 16 + "v_mov_b32_e32 v71, 0"
    held = issues(assemble, reads, block=256)
    free = issues(assemble, reads, block=256, war_interlock=0)
    assert max(r[16][1] for r in held) > max(r[16][1] for r in free)


def test_lds_queue_refuses_issues_of_four_simds(assemble):
    waves = issues(assemble, f"{LDS}\n" * 40, block=256)
    reads = sorted(when for rows in waves for text, when in rows if text.startswith("ds_read"))
    # Service 4: in the steady state one read of the CU per tick.
    assert reads[-1] - reads[40] == pytest.approx(4 * (len(reads) - 41), abs=16)


def test_bank_conflicts_are_counted_and_cost_time(assemble):
    def read(shift: int):
        code = assemble(
            f"v_lshlrev_b32_e32 v1, {shift}, v0\ns_nop 1\nds_read_b32 v2, v1\n"
            "s_waitcnt lgkmcnt(0)\n",
            lds=65536,
        )
        return run(code, timing=True)

    assert read(2).timing.conflicts == 0
    assert read(8).timing.conflicts == 63
    assert read(8).cycles > read(2).cycles


def test_runs_are_deterministic(assemble):
    body = f"{BF16}\n{ADD}\n{LDS}\n" * 10
    assert issues(assemble, body, block=512) == issues(assemble, body, block=512)
