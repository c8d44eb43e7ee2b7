"""Captures as the dashboard decodes them: filters mean what they mean to any command."""

import pytest

pytest.importorskip("dash", reason="needs dash: pip install tracekit[dashboard]")

from dashboard.library import Library
from dashboard.service import Service
from tracekit.commands.selection import FILTERS
from tracekit.errors import TracekitError


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_that_selects_nothing_names_what_there_is(samples, name):
    library = Library([samples / "pingpong"])
    (key,) = library.entries
    with pytest.raises(TracekitError, match=f"--{name} 99 selects nothing: there is {name} "):
        Service(library, filters={name: 99}).timeline(key)


def test_one_simd_is_what_was_asked_for(samples):
    library = Library([samples / "pingpong"])
    (key,) = library.entries
    assert set(Service(library, filters={"simd": 2}).timeline(key).waves["simd"]) == {2}
