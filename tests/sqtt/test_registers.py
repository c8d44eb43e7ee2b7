"""Register writes that no driver makes, found by fuzzing, end in tables all the same."""

import pytest

import tracekit
from tracekit.sqtt.writer import StreamWriter


@pytest.fixture
def timeline(tmp_path):
    def run(writer):
        path = tmp_path / "1_1_shader_engine_0_1.att"
        path.write_bytes(writer.finish())
        return tracekit.open(path).timeline()

    return run


def test_a_realtime_of_2900_years_is_no_clock(timeline):
    writer = StreamWriter(target_cu=1)
    writer.realtime_pair(2000, (1 << 63) | 5)
    writer.realtime_pair(3000, 99)
    assert timeline(writer).clock["realtime"].tolist() == [99]


def test_the_partial_workgroup_is_not_part_of_the_size(timeline):
    writer = StreamWriter(target_cu=1)
    writer.dispatch(2000, entry=0x7F00_0000_1700, threads=(0xC2B8_0100, 2, 1))
    (row,) = timeline(writer).dispatches.to_dict("records")
    assert (row["threads_x"], row["threads_y"], row["threads_z"]) == (256, 2, 1)
