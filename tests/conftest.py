"""Fixtures for all tests: the shared captures, and an assembler."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.support")

from tests.support import code_objects  # noqa: E402 - rewritten first

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
    if not code_objects.available():
        pytest.skip("ziglang is not installed: no assembler for code objects")

    def run(text, cpu="gfx950", name="kernel"):
        return code_objects.assemble(text, tmp_path, cpu, name)

    run.function = code_objects.function
    return run
