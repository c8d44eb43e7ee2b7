"""What zyfa writes, into a folder: assembly of every variant, one simulated run a schedule.

    python scripts/zyfa_output.py FOLDER

Two commits say the same when `diff -r` of their folders is empty: text, capture, ground truth,
cycles, output and log-sum-exp. All runs *simulated*.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from zyfa import trace
from zyfa.codegen import Options, all_options, emit

RUNS = (
    ("lean_ashr-pingpong-scalar-rowsum_b", "sink"),
    ("exact-gap-packed-rowsum_a", "sink"),
    ("exact-early_gap-packed-rowsum_b-markers", "gaussian"),
    ("lean_u8-serial-scalar-rowsum_b-setprio", "gaussian"),
)
"""(variant, input): each schedule, softmax, row sum and switch at least once."""
LENGTH = 700


def main(folder: Path) -> None:
    (folder / "assembly").mkdir(parents=True)
    for options in all_options():
        (folder / "assembly" / f"{options.name}.s").write_text(emit(options))
    for variant, data in RUNS:
        run = folder / variant
        done = trace.record(Options.parse(variant), LENGTH, run, data)
        np.save(run / "out.npy", done.out)
        np.save(run / "lse.npy", done.lse)
        (run / "cycles.txt").write_text(f"{done.result.cycles} {done.result.instructions}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit(f"usage: {sys.argv[0]} FOLDER (a new one)")
    main(Path(sys.argv[1]))
