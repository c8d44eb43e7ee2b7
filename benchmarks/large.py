"""A large stream: memory per instruction, the bar on a terminal, and Ctrl-C.

    python benchmarks/large.py [--mebibytes 256]

The stream repeats the encoded block of a sample (traces/pingpong) until it has the size;
nothing of it is kept.  Reports time and peak memory of ``tracekit waves`` for an eighth,
a quarter, half and all of it: memory is linear when the last column stays the same.
Then interrupts a run that has a terminal, and tells its exit code and what it drew.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "traces" / "pingpong"
HEADER = 8

MEASURE = """
import resource, sys, tracekit
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
timeline = tracekit.open(sys.argv[1]).timeline()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(timeline.executed), (peak - base) * 1024)
"""


def enlarge(folder: Path, size: int) -> Path:
    """A copy of the sample whose stream has ``size`` bytes."""
    target = shutil.copytree(SAMPLE, folder)
    (path,) = target.glob("*.att")
    data = path.read_bytes()
    block = data[HEADER:]
    with path.open("wb") as file:
        file.write(data[:HEADER])
        for _ in range((size - HEADER) // len(block)):
            file.write(block)
    return target


def measure(folder: Path) -> tuple[int, int, float]:
    """Instructions, bytes of memory that grew, and seconds."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder)], capture_output=True, text=True, check=True
    )
    instructions, grown = map(int, done.stdout.split())
    return instructions, grown, time.monotonic() - start


def interrupt(folder: Path, after: float) -> tuple[int, str]:
    """Exit code and terminal output of a run that gets Ctrl-C after ``after`` seconds."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm"}
        os.execve(
            sys.executable,
            [
                sys.executable,
                "-m",
                "tracekit",
                "waves",
                str(folder),
                "--csv",
                "-f",
                "-o",
                os.devnull,
            ],
            environment,
        )
    drawn, start, sent = b"", time.monotonic(), False
    while True:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                drawn += os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
        if not sent and time.monotonic() - start > after:
            os.kill(pid, signal.SIGINT)
            sent = True
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), drawn.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mebibytes", type=int, default=256)
    size = parser.parse_args().mebibytes << 20
    with tempfile.TemporaryDirectory() as scratch:
        print("      MiB  instructions    seconds   MB grown  bytes/instruction")
        for part in (8, 4, 2, 1):
            folder = enlarge(Path(scratch) / str(part), size // part)
            count, grown, took = measure(folder)
            print(
                f"{size / part / 2**20:9.0f} {count:13,} {took:10.1f} {grown / 1e6:10,.0f} "
                f"{grown / max(count, 1):18.1f}",
                flush=True,
            )
            if part > 1:
                shutil.rmtree(folder)
        code, drawn = interrupt(folder, max(2.0, took / 2))
        print(f"Ctrl-C after {max(2.0, took / 2):.1f} s: exit code {code}")
        print(f"the bar was {'drawn' if 'decoding 1 stream' in drawn else 'not drawn'}")


if __name__ == "__main__":
    main()
