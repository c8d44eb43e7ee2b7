"""What all analyses of one capture cost, as a ratio to ``import pandas``.

    python benchmarks/analysis.py [CAPTURE] [--repeats N]

Prints milliseconds per analysis, their sum, the instructions per second, the ratio of the
sum to a fresh ``python -c "import pandas"`` minus a bare interpreter, and how the time grows
when half of the waves are analysed (linear: about 2).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.counters import counters
from tracekit.analysis.flames import flames
from tracekit.analysis.maps import by_offset, by_time

DEFAULT = Path(__file__).parents[2] / "shared" / "captures" / "aiter_fp4_gemm_gfx950_before"
SAMPLE = Path(__file__).parents[1] / "traces" / "lockstep"


def analyses(timeline: tracekit.Timeline) -> dict[str, float]:
    """Seconds of each analysis; what they share counts for the first that asks."""
    seconds: dict[str, float] = {}

    def timed(name: str, function: Callable[..., object], *arguments: object) -> object:
        start = time.perf_counter()
        result = function(*arguments)
        seconds[name] = time.perf_counter() - start
        return result

    asked = Analysis(timeline, "steady")
    for name in ("loops", "occupancy", "causes", "bubbles", "budget", "memory", "overlap",
                 "shapes", "clock"):  # fmt: skip
        timed(name, getattr, asked, name)
    timed("waits", asked.waits_of)
    timed("map by offset", by_offset, asked.causes)
    timed("map by time", by_time, asked.causes)
    timed("counters", counters, timeline)
    timed("markers", flames, timeline)
    return seconds


def best(timeline: tracekit.Timeline, repeats: int) -> dict[str, float]:
    """The smallest time of each analysis."""
    runs = [analyses(timeline) for _ in range(repeats)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def process(code: str, repeats: int) -> float:
    """Seconds of a fresh interpreter that runs ``code``."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", nargs="?", type=Path,
                        default=DEFAULT if DEFAULT.is_dir() else SAMPLE)  # fmt: skip
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    timeline = tracekit.open(arguments.capture).timeline()
    count = len(timeline.executed)
    seconds = best(timeline, arguments.repeats)
    total = sum(seconds.values())
    print(f"{arguments.capture.name}: {count:,} instructions")
    for name, value in seconds.items():
        print(f"{name:15} {1000 * value:8.1f} ms")
    print(f"{'all':15} {1000 * total:8.1f} ms   {count / total / 1e6:.2f} M instructions/s")
    pandas = process("import pandas", arguments.repeats) - process("pass", arguments.repeats)
    print(f"import pandas   {1000 * pandas:8.1f} ms   ratio {total / pandas:.2f}")
    half = timeline.select(slot=0)
    share = len(half.executed) / max(count, 1)
    if 0 < share < 1:
        smaller = sum(best(half, arguments.repeats).values())
        print(f"{share:.0%} of the instructions take {smaller / total:.0%} of the time")


if __name__ == "__main__":
    main()
