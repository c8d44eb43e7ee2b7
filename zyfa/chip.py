"""Whether a trace can be recorded here, and how `tracekit capture` is asked to. No torch."""

from __future__ import annotations

import sys
from pathlib import Path

from tracekit.isa.arch import from_target_version
from tracekit.record import rocm
from zyfa.codegen import Options

TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
"""The kernel driver's devices: a folder each, whose `properties` has gfx_target_version."""
ARCH = "gfx950"
LAUNCHES = 3
"""Launches of the workload. The last is traced: code, tables and clocks are warm by then."""


def has_gfx950(topology: Path | None = None) -> bool:
    """Whether the driver lists a gfx950 under `topology` (default: this machine's)."""
    for path in (topology or TOPOLOGY).glob("*/properties"):
        try:
            words = path.read_text().split()
        except OSError:
            continue
        properties = dict(zip(words[::2], words[1::2], strict=False))
        choice = from_target_version(int(properties.get("gfx_target_version", 0)))
        if choice is not None and choice.name == ARCH:
            return True
    return False


def missing() -> str | None:
    """What a recording lacks here, in words; None when nothing."""
    if not has_gfx950():
        return f"no {ARCH} device"
    found = rocm.rocprofv3()
    if found is None:
        return "rocprofv3 not found"
    return None if rocm.knows_att(found) else f"{found} has no thread trace (ROCm 7.0 or later)"


def recording(options: Options, length: int, data: str, folder: Path) -> list[str]:
    """Arguments of `tracekit capture` that trace the last launch of this variant's workload."""
    return [
        "--kernel", options.symbol,
        "--iterations", str(LAUNCHES),
        "-o", str(folder),
        "--", sys.executable, "-m", "zyfa.host.workload",
        "--variant", options.name, "--seqlen", str(length), "--input", data,
    ]  # fmt: skip
