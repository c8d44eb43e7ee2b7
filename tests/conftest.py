"""Fixtures for all tests: the shared captures, and an assembler."""

import importlib.util
from pathlib import Path

import pytest

CAPTURES = Path(__file__).parents[2] / "shared" / "captures"


@pytest.fixture(scope="session")
def captures():
    """Folder of real captures, next to the project; skips where it is absent."""
    if not CAPTURES.is_dir():
        pytest.skip("captures not found at ../shared/captures")
    return CAPTURES


@pytest.fixture
def assemble(tmp_path):
    """``assemble(text, cpu="gfx950", name="kernel") -> path`` of a code object."""
    helper = _beside("assemble")
    if not helper.available():
        pytest.skip("ziglang is not installed: no assembler for code objects")

    def run(text, cpu="gfx950", name="kernel"):
        return helper.assemble(text, tmp_path, cpu, name)

    run.function = helper.function
    return run


def _beside(name):
    """Module ``name`` of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(
        f"tests_{name}", Path(__file__).with_name(f"{name}.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
