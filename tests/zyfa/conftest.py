"""Fixtures of the zyfa tests. Only what needs torch is skipped without it."""

from __future__ import annotations

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
