"""Cost of decoding, as ratios of one run on this machine.

    python benchmarks/decode.py [CAPTURE ...]

CAPTURE: directories with .att streams (default: ../shared/captures/aiter_*, else the
samples in traces/).  Times are CPU seconds, the least of several runs.

- full / framing: decode + stitch + tables in exact timing over a native pass that only
  finds each token's length, running time and offset;
- parallel: one thread over all cores, for several copies of the largest stream;
- memory: growth of the peak resident set by open + timeline, per instruction, on copies
  of the capture with a million instructions or more;
- process: ``tracekit occupancy`` over ``python -c "import pandas"``, wall time, in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

import tracekit
from tracekit.sqtt.decode import decode, native_core, release_memory

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
MILLION = 1_000_000


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """Least CPU seconds of ``work``, from memory as a fresh process has it.

    Freed memory is given back before each run: touching fresh pages is part of the cost,
    and what earlier runs left in the allocator's hands would spare it to some.
    """
    times = []
    for _ in range(runs):
        release_memory()
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def defaults() -> list[Path]:
    shared = sorted((ROOT / "../shared/captures").glob("aiter_*"))
    return [p.resolve() for p in shared] or [ROOT / "traces/pingpong"]


def speed(folder: Path) -> None:
    core = native_core()
    if core is None:
        print("the native decoder was not built: nothing to compare")
        return
    capture = tracekit.open(folder)
    capture = replace(capture, streams=(max(capture.streams, key=lambda s: s.size),))
    data = np.frombuffer(capture.streams[0].read(), np.uint8)
    instructions = len(capture.timeline().executed)
    framing = least(lambda: core.frame(data))
    raw = least(lambda: core.decode(data, capture.streams[0].header.target_cu))
    full = least(capture.timeline)
    print(f"{folder.name}: {len(data):,} bytes, {instructions:,} instructions")
    print(f"  framing alone        {len(data) / framing / 1e6:7.0f} MB/s")
    print(f"  raw facts            {raw / framing:7.2f} x framing")
    print(
        f"  full / framing       {full / framing:7.2f}   "
        f"({len(data) / full / 1e6:.0f} MB/s, {instructions / full / 1e6:.1f} M instructions/s)"
    )


def parallel(folder: Path) -> None:
    stream = max(tracekit.open(folder).streams, key=lambda s: s.size)
    data, cu = stream.read(), stream.header.target_cu
    cores = os.cpu_count() or 1
    jobs = [data] * (4 * cores)

    def run(workers: int) -> float:
        start = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda d: decode(d, cu), jobs))
        return time.perf_counter() - start

    ratio = statistics.median(run(1) / run(cores) for _ in range(5))
    print(f"  parallel             {ratio:7.2f} x with {cores} threads")


def memory(folder: Path) -> None:
    stream = max(tracekit.open(folder).streams, key=lambda s: s.size)
    per_copy = max(len(tracekit.open(folder).timeline(se=stream.se).executed), 1)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        shutil.copytree(folder, copy)
        for att in list(copy.rglob("*.att")):
            att.chmod(0o644)
            att.unlink()
        for path in [copy, *copy.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        assert stream.path is not None
        place = copy / stream.path.parent.relative_to(folder)
        for se in range(-(-MILLION // per_copy)):
            name = f"1_{stream.agent}_shader_engine_{se}_{stream.dispatch}.att"
            shutil.copyfile(stream.path, place / name)
            with (place / name).open("ab") as file:
                file.write(bytes(32 * se))  # padding: copies of one content are read once
        out = subprocess.run(
            [sys.executable, __file__, "--peak", str(copy)],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    grown, instructions = json.loads(out.stdout)
    print(
        f"  memory               {grown / instructions:7.1f} bytes an instruction "
        f"(peak, {instructions:,} instructions)"
    )


def peak(folder: Path) -> None:
    """In a fresh process: growth of the peak by open + timeline, beyond a small capture's."""
    tracekit.open(ROOT / "traces/pingpong").timeline()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = resident("VmRSS")
    timeline = tracekit.open(folder).timeline()
    print(json.dumps([resident("VmHWM") - before, len(timeline.executed)]))


def resident(field: str) -> int:
    """Bytes of a memory field of this process (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(field)]
    return int(line.split()[1]) * 1024


def process(folder: Path) -> None:
    stream = max(tracekit.open(folder).streams, key=lambda s: s.size)
    ours = [sys.executable, "-m", "tracekit", "occupancy", str(stream.path), "-q"]
    pandas = [sys.executable, "-c", "import pandas"]

    def wall(command: list[str]) -> float:
        start = time.perf_counter()
        # Elsewhere than in the checkout, whose folder would hide the installed core.
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
        return time.perf_counter() - start

    ratios = [wall(ours) / wall(pandas) for _ in range(7)]
    print(f"  occupancy process    {statistics.median(ratios):7.2f} x import pandas")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", nargs="*", type=Path)
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        peak(options.peak)
        return
    for folder in options.captures or defaults():
        speed(folder)
        parallel(folder)
        memory(folder)
        process(folder)


if __name__ == "__main__":
    main()
