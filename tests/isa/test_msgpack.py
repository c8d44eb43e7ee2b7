import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.isa.msgpack import unpack


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x07", 7),
        (b"\xff", -1),
        (b"\xc0", None),
        (b"\xc3", True),
        (b"\xcd\x01\x00", 256),
        (b"\xd1\xff\x00", -256),
        (b"\xcb" + struct.pack(">d", 1.5), 1.5),
        (b"\xa3abc", "abc"),
        (b"\xd9\x03abc", "abc"),
        (b"\xc4\x02\x00\x01", b"\x00\x01"),
        (b"\x92\x01\x02", [1, 2]),
        (b"\xdc\x00\x01\x05", [5]),
        (b"\x81\xa1a\x91\x01", {"a": [1]}),
        (b"\xde\x00\x01\xa1a\xc2", {"a": False}),
    ],
)
def test_values(data, value):
    assert unpack(data) == value


@pytest.mark.parametrize(
    "data",
    [b"", b"\xcd\x01", b"\xa3ab", b"\x92\x01", b"\xc1", b"\x81\x91\x01\x01", b"\x91" * 100],
)
def test_bad_data_is_a_value_error(data):
    with pytest.raises(ValueError, match="MessagePack"):
        unpack(data)


@given(st.binary(max_size=40))
def test_any_bytes_give_a_value_or_a_value_error(data):
    try:
        value = unpack(data)
    except ValueError:
        return
    assert len(repr(value)) < 10_000
