"""Fixtures of the simulator's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import simulated_kernels


@pytest.fixture
def assemble() -> Callable[..., bytes]:
    """`assemble(body, buffers, lds, denorm, overflow, arch)` -> linked code object."""
    pytest.importorskip("ziglang", reason="the assembler comes with the ziglang wheel")
    return simulated_kernels.assemble


@pytest.fixture
def captures() -> Path:
    """The folder of real captures."""
    folder = Path(__file__).parents[4] / "shared" / "captures"
    if not folder.is_dir():
        pytest.skip("captures not found at ../shared/captures")
    return folder
