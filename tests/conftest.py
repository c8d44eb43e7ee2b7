"""For all tests: the shared captures, an assembler, what is slow, and hypothesis' profile."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.support")

from tests.support import code_objects, examples  # noqa: E402 - rewritten first

examples.choose_profile()
CAPTURES = Path(__file__).parents[2] / "shared" / "captures"
#: Fixtures that take longer than a second, so that who uses them is slow.
SLOW = {"browser"}


def pytest_collection_modifyitems(items):
    for item in items:
        if SLOW.intersection(item.fixturenames):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def captures():
    """Folder of real captures, next to the project; skips where it is absent."""
    if not CAPTURES.is_dir():
        pytest.skip("captures not found at ../shared/captures")
    return CAPTURES


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Listings that tests disassemble are not kept in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def assemble(tmp_path):
    """``assemble(text, cpu="gfx950", name="kernel") -> path`` of a code object."""
    if not code_objects.available():
        pytest.skip("ziglang is not installed: no assembler for code objects")

    def run(text, cpu="gfx950", name="kernel"):
        return code_objects.assemble(text, tmp_path, cpu, name)

    run.function = code_objects.function
    return run


@pytest.fixture(autouse=True)
def as_wide_as_it_gets(monkeypatch):
    """Workers of pytest-xdist have COLUMNS, which output is fitted to."""
    monkeypatch.delenv("COLUMNS", raising=False)
