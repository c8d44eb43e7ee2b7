"""Fixtures of the zyfa tests. Only what needs torch is skipped without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NO_TORCH = "needs torch: pip install tracekit[zyfa]"


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason=NO_TORCH)


@pytest.fixture(autouse=True)
def _private_cache(tmp_path_factory, monkeypatch):
    """Code objects of one test session share a cache that is not the user's."""
    base = tmp_path_factory.getbasetemp() / "zyfa-cache"
    monkeypatch.setenv("ZYFA_CACHE", str(base))


@pytest.fixture(scope="session")
def standin(tmp_path_factory):
    """Path of a stand-in HIP runtime, compiled once (standin_hip.c)."""
    pytest.importorskip("ziglang", reason="needs a C compiler: pip install tracekit[samples]")
    source = Path(__file__).with_name("standin_hip.c")
    library = tmp_path_factory.mktemp("standin") / "libamdhip64.so"
    command = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True, capture_output=True)
    return library
