"""JSON in columns and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.digest.columns import packed, unpacked

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.text(min_size=1, max_size=3)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.lists(st.fixed_dictionaries({"a": inner, "b": LEAVES}), min_size=1, max_size=4)
    ),
)


@given(JSON)
def test_what_is_packed_comes_back_to_the_byte(value):
    text = json.dumps(value)
    assert json.dumps(unpacked(json.loads(json.dumps(packed(value))))) == text


def test_rows_become_columns_and_steps():
    rows = [{"at": 1000 + 4 * n, "name": "x"} for n in range(100)]
    assert packed(rows) == {"": [["at", "name"], [{"": [1000] + [4] * 99}, ["x"] * 100]]}


def test_an_empty_key_cannot_be_packed():
    with pytest.raises(ValueError, match="empty key"):
        packed({"": 1})


@pytest.mark.parametrize(
    "value",
    [{"": []}, {"": 1}, {"": [["a"], []]}, {"": [["a", "b"], [[1, 2], [1]]]}, {"": [1], "b": 2}],
)
def test_what_was_never_packed_is_refused(value):
    with pytest.raises((ValueError, TypeError)):
        unpacked(value)
