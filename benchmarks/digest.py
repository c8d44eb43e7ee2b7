"""What opening a digest costs, as a ratio to the start of the command line.

    python benchmarks/digest.py [CAPTURE...] [--repeats N]

For each capture: bytes of its digest and share of the capture, seconds of ``--save``, then the
fastest of N processes (default 10) of ``tracekit COMMAND FILE.tkd`` in milliseconds beyond
``python -c "import tracekit, click"``, and as a ratio to that start.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "traces" / "zyfa_gap_exact"
COMMANDS = ("explain", "explain --json", "check", "waits", "occupancy", "hotspots --json")


START = [sys.executable, "-c", "import tracekit, click"]


def seconds(line: list[str]) -> float:
    """How long a process takes."""
    start = time.perf_counter()
    subprocess.run(line, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", nargs="*", type=Path, default=[SAMPLE])
    parser.add_argument("--repeats", type=int, default=10)
    asked = parser.parse_args()
    tracekit = [sys.executable, "-m", "tracekit"]
    with tempfile.TemporaryDirectory() as folder:
        for number, capture in enumerate(asked.captures):
            file = Path(folder) / f"{number}.tkd"
            save = seconds([*tracekit, "explain", str(capture), "--save", str(file)])
            size = sum(each.stat().st_size for each in capture.rglob("*") if each.is_file())
            share = file.stat().st_size / size
            print(f"{capture.name}: {file.stat().st_size:,} bytes ({100 * share:.1f} %), "
                  f"saved in {save:.1f} s")  # fmt: skip
            for command in COMMANDS:
                name, *options = command.split()
                line = [*tracekit, name, str(file), *options]
                # By turns: the load of the machine is the same for both.
                pairs = [(seconds(START), seconds(line)) for _ in range(asked.repeats)]
                start, took = map(min, zip(*pairs, strict=True))
                print(
                    f"  {command:<16} {1e3 * (took - start):4.0f} ms beyond {1e3 * start:.0f} ms "
                    f"of start, {took / start - 1:.2f} of it"
                )


if __name__ == "__main__":
    main()
