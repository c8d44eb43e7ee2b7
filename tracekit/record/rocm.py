"""What ROCm this machine has: found by PATH and ROCM_PATH, asked for its version."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

#: Seconds that ``rocprofv3 --version`` may take.
_PATIENCE = 20
#: AMD's decoder; rocprofv3 needs it for ui_output directories, not for raw streams.
_DECODER = "librocprof-trace-decoder.so"


def rocm_root() -> Path | None:
    """Folder of the ROCm installation: $ROCM_PATH, else /opt/rocm; None when absent."""
    root = Path(os.environ.get("ROCM_PATH") or "/opt/rocm")
    return root if root.is_dir() else None


def rocm_version() -> str | None:
    """Version that ``.info/version`` of the installation gives; None without one."""
    root = rocm_root()
    try:
        return None if root is None else (root / ".info" / "version").read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def rocprofv3() -> str | None:
    """Path of rocprofv3: on PATH, else in the ROCm installation; None when absent."""
    found = shutil.which("rocprofv3")
    root = rocm_root()
    if found is None and root is not None:
        found = shutil.which(str(root / "bin" / "rocprofv3"))
    return found


def rocprofv3_version(program: str) -> str | None:
    """First line of ``rocprofv3 --version`` that names a version; None when it says nothing."""
    said = _said(program, "--version")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    named = [line for line in lines if "version" in line.lower()]
    return next(iter(named or lines), None)


def knows_att(program: str) -> bool:
    """Whether the help of rocprofv3 lists ``--att`` (versions before ROCm 7.0 may not)."""
    return "--att" in _said(program, "--help")


def _said(program: str, option: str) -> str:
    try:
        done = subprocess.run(
            [program, option], capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def amd_decoder() -> Path | None:
    """AMD's trace decoder library, where rocprofv3 would look for it; None when absent."""
    root = rocm_root()
    folders = [Path(p) for p in (os.environ.get("ROCPROF_ATT_LIBRARY_PATH"),) if p]
    folders += [] if root is None else [root / "lib"]
    return next((f / _DECODER for f in folders if (f / _DECODER).is_file()), None)
