"""Register writes: code objects, dispatches, start addresses, clock pairs."""

import pytest

from tracekit.sqtt.decode import decode
from tracekit.sqtt.registers import MAX_ID, read_registers
from tracekit.sqtt.writer import StreamWriter


def registers(write):
    writer = StreamWriter(target_cu=1)
    write(writer)
    return read_registers(decode(writer.finish(), 1))


def test_a_load_without_the_marker_counts():
    found = registers(lambda w: w.code_object_load(2000, 3, 0x7F0000001000, 0x3000))
    (loaded,) = found.objects
    assert (loaded.id, loaded.address, loaded.size) == (3, 0x7F0000001000, 0x3000)
    assert found.resolve(0x7F0000002700, 1 << 40) == (3, 0x1700)
    assert found.resolve(0x7F0000004000, 1 << 40) == (0, 0x7F0000004000)


def test_an_unloaded_object_is_known_until_then():
    def write(writer):
        writer.code_object_load(2000, 3, 0x1000, 0x1000, from_start=False)
        writer.code_object_unload(4000, 3)
        writer.code_object_load(6000, 3, 0x9000, 0x1000, from_start=False)

    found = registers(write)
    assert [(o.address, o.until < 1 << 40) for o in found.objects] == [
        (0x1000, True),
        (0x9000, False),
    ]
    first, second = found.objects
    assert found.resolve(0x1800, first.since) == (3, 0x800)
    assert found.resolve(0x1800, second.since) == (0, 0x1800)
    assert found.resolve(0x9800, second.since) == (3, 0x800)


@pytest.mark.parametrize(("number", "kept"), [(MAX_ID, 1), (MAX_ID + 1, 0), ((1 << 63) + 5, 0)])
def test_an_id_beyond_the_tables_is_no_code_object(number, kept):
    found = registers(lambda w: w.code_object_load(2000, number, 0x1000, 0x1000))
    assert len(found.objects) == kept


def test_a_dispatch_reads_its_registers():
    found = registers(lambda w: w.dispatch(2000, 0x7F0000001700, (256, 2, 1)))
    (dispatch,) = found.dispatches
    assert dispatch.pc == 0x7F0000001700
    assert dispatch.threads == (256, 2, 1)


def test_realtime_pairs_carry_the_high_half():
    def write(writer):
        writer.realtime_pair(2000, (5 << 32) + 0xFFFFFFF0)
        writer.realtime_low(4000, (6 << 32) + 0x10)

    found = registers(write)
    assert [value for _, value in found.realtime] == [(5 << 32) + 0xFFFFFFF0, (6 << 32) + 0x10]
