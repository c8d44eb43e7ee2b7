import math
import re
import struct
from pathlib import Path

import pytest

from zyfa.codegen import Options, emit, kernargs
from zyfa.codegen.machine import Machine
from zyfa.jobs import ITEM, Problem

PAGE = Path(__file__).resolve().parents[3] / "docs" / "zyfa.md"
CALL = kernargs.Call(Problem(2, 768, 8, 2), 0.25, 16)


def test_layout_is_dense_and_aligned():
    at = 0
    for argument in kernargs.ARGUMENTS:
        assert argument.offset == at
        assert argument.offset % argument.size == 0
        at += argument.size
    assert at == kernargs.SIZE == 96


def test_loads_cover_the_segment_and_split_no_argument():
    at = 0
    for offset, count in kernargs.loads():
        assert offset == at
        assert count in (1, 2, 4, 8, 16)
        at += kernargs.WORD * count
        assert all(a.offset >= at or a.offset + a.size <= at for a in kernargs.ARGUMENTS)
    assert at == kernargs.SIZE


def test_registers_hold_the_words_of_the_segment_in_order():
    k = Machine(Options())
    registers = [unit for a in kernargs.ARGUMENTS for unit in k.argument(a.name).units()]
    assert registers == [unit for loaded in k.loaded for unit in loaded.units()]


def test_registers_of_an_item_are_where_its_fields_are():
    k = Machine(Options())
    for name in ITEM.names:
        kind, at = ITEM.fields[name]
        register = k.field(name)
        assert kernargs.WORD * (register.index - k.item.index) == at
        assert kernargs.WORD * len(register) == kind.itemsize


def test_values_follow_from_the_shapes():
    pointers = {a.name: a.offset for a in kernargs.ARGUMENTS if a.format == "Q"}
    values = kernargs.values(CALL, pointers)
    assert list(values) == [a.name for a in kernargs.ARGUMENTS]
    numbers = {name: value for name, value in values.items() if name not in pointers}
    assert numbers == {
        "scale_log2e": 0.25 * math.log2(math.e),
        "job_count": 2 * 8 * 2,
        "q_stride": 8 * 128,
        "kv_stride": 2 * 128,
        "out_stride": 8 * 256,
        "grid": 16,
    }


def test_a_missing_pointer_is_named():
    with pytest.raises(KeyError, match="k_descale"):
        kernargs.values(CALL, {a.name: 0 for a in kernargs.ARGUMENTS if a.name != "k_descale"})


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
    assert kernargs.table() in PAGE.read_text(encoding="utf-8")


def test_the_kernel_loads_its_whole_segment():
    loads = re.findall(r"s_load_dwordx(\d+) .*, s\[0:1\], (\w+)", emit())
    assert [(int(at, 0), int(count)) for count, at in loads] == kernargs.loads()
