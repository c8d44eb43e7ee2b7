import struct

import pytest

from zyfa.codegen import kernargs


def test_layout_is_dense_and_aligned():
    at = 0
    for argument in kernargs.ARGUMENTS:
        assert argument.offset == at
        assert argument.offset % argument.size == 0
        at += argument.size
    assert at == kernargs.SIZE == 96


def test_pack_places_every_value():
    values = {a.name: i for i, a in enumerate(kernargs.ARGUMENTS)}
    raw = kernargs.pack(values)
    assert len(raw) == kernargs.SIZE
    for a in kernargs.ARGUMENTS:
        assert struct.unpack_from("<" + a.format, raw, a.offset)[0] == values[a.name]


def test_a_missing_argument_is_named():
    with pytest.raises(KeyError, match="grid"):
        kernargs.pack({a.name: 0 for a in kernargs.ARGUMENTS[:-1]})


def test_metadata_and_documentation_name_every_argument():
    for a in kernargs.ARGUMENTS:
        assert f".name: {a.name}\n" in kernargs.metadata()
        assert f"| {a.offset} | {a.name} | {a.size} |" in kernargs.table()
