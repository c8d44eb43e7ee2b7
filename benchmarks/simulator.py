"""Speed of the wave simulator and, with captures, its fidelity and the worth of each rule.

    python benchmarks/simulator.py                          # speed
    python benchmarks/simulator.py --captures ../shared/captures --ablation

Speed is CPU time of one process, decoding and assembling excluded (the kernel runs once before).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

CAPTURES = [
    "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44",
    "flash_attn_bf16_gfx950/ui_output_agent_58550_dispatch_44",
    "aiter_fp4_gemm_gfx950_before",
    "aiter_fp4_gemm_gfx950_after",
    "gemm_bf16_gfx942",
]
ABLATIONS = {
    "packed-F32 blocking": {"mfma_packed_block": 0},
    "8-cycle transcendentals and swaps": {"transcendental_port": 4, "permlane_swap_port": 4},
    "VALU, LDS, VMEM block after MFMA": {"block_after_mfma": 0},
    "dual issue": {"dual_issue": 0},
    "WAR interlock": {"war_interlock": 0},
    "CU queues": {"queues": 0},
    "VALU to LDS/VMEM 12 cycles": {"valu_to_memory": 4, "transcendental_to_memory": 4},
    "two LDS issues a tick": {"lds_issues_per_tick": 4},
}


def speed() -> None:
    """One 256-query x 1,024-key FP8 tile: 8 waves, the last of a causal sequence of 1,024."""
    from zyfa import arithmetic, sim, simulate

    rng = np.random.default_rng(0)
    q, k, v = (
        arithmetic.fp8_e4m3_encode(rng.normal(size=(1, 1024, 1, 128)).astype(np.float32))
        for _ in range(3)
    )
    for timing in (False, True):
        best, result = np.inf, None
        for _ in range(3):
            original, spent = sim.run, []

            def clocked(*args, _run=original, _spent=spent, **kwargs):
                begin = time.process_time()
                found = _run(*args, **kwargs)
                _spent.append(time.process_time() - begin)
                return found

            sim.run = clocked
            try:
                result = simulate.attention(q, k, v, 128**-0.5, timing=timing, workgroups=[0])
            finally:
                sim.run = original
            best = min(best, spent[0])
        count = result.result.instructions
        name = "functional + timing" if timing else "functional"
        print(f"{name:20s} {count} wave-instructions, {best:.2f} s, {count / best:,.0f} per second")


def fidelity(folder: Path, ablation: bool) -> None:
    """Median error per loop iteration, and the same without each rule."""
    from zyfa.sim.runs.replay import replay

    print(f"{'capture':34s} {'n':>4s} {'median':>7s} {'p90':>6s} {'bias':>6s} {'naive':>6s}  "
          "matrix occupancy  exact steps")  # fmt: skip
    for name in CAPTURES:
        found = replay(folder / name)
        naive = replay(folder / name, {"ports": 0}, lds_given=True)
        measured, predicted = found.occupancy.mean(axis=0)
        errors = np.abs(found.errors)
        print(f"{name[:34]:34s} {len(errors):4d} {100 * found.median_error:6.2f}% "
              f"{100 * np.quantile(errors, 0.9):5.1f}% {100 * found.bias:+5.1f}% "
              f"{100 * naive.median_error:5.1f}%  {measured:.1f} -> {predicted:.1f} %    "
              f"{100 * found.steps:.1f} %")  # fmt: skip
    if not ablation:
        return
    for rule, overrides in ABLATIONS.items():
        cells = []
        for name in CAPTURES[:4]:
            found = replay(folder / name, overrides)
            cells.append(f"{100 * found.median_error:.2f} ({100 * found.bias:+.1f})")
        print(f"| without {rule} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--captures", type=Path)
    parser.add_argument("--ablation", action="store_true")
    options = parser.parse_args()
    if options.captures:
        fidelity(options.captures, options.ablation)
    else:
        speed()
