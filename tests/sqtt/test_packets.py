"""Software packets word by word."""

import pytest

from tracekit.sqtt import packets


def test_code_object_of_a_real_capture():
    """wave_gemm_bf16_gfx950, every SE: code object 3, loaded before the trace."""
    words = packets.code_object_load(3, 0x7F081DC6A000, 0x3000, from_start=True)
    assert words == [
        0x204, 0x1DC6A000, 0x304, 0x7F08, 0x104, 0x3000, 0x404, 0, 0x4, 0xE,
    ]  # fmt: skip


def test_agent_words_of_a_real_capture():
    """The same, SE 3: clock unknown, counters every 576 cycles."""
    assert packets.start_marker() == [0x434F5200, 0x80201]
    assert packets.agent_info(0, 576) == [0x6, 0x240106]
    assert packets.agent_info() == []


def test_long_ids_travel_apart_from_the_tail():
    last_short, first_long = packets.FIRST_LONG_ID - 1, packets.FIRST_LONG_ID
    assert packets.code_object_load(last_short, 0, 0)[-2:] == [0x4, last_short << 2]
    assert packets.code_object_load(first_long, 0, 0)[-6:] == [
        0x504, 1 << 30, 0x604, 0, 0x4, 0,
    ]  # fmt: skip


def test_unload_is_a_tail_alone():
    assert packets.code_object_unload(3) == [0x4, 0xD]
    assert packets.code_object_unload(1 << 33) == [0x504, 0, 0x604, 2, 0x4, 1]


def test_realtime_pair_of_a_real_capture():
    """wave_gemm_bf16_gfx950: the second low word was sampled later than the first."""
    words = packets.realtime_pair(0x7194_F4F6_69E3, earlier=0x7194_F4F6_6933)
    assert words == [0x5, 0xF4F66933, 0x7194, 0xF4F669E3]
    assert packets.realtime_pair(0x2_0000_0001, earlier=0x1_FFFF_FFFF) == [0x5, 0xFFFFFFFF, 1, 1]
    assert packets.realtime_low(0x2_0000_0001) == [0x7, 1]


def test_what_no_packet_can_say_is_refused():
    with pytest.raises(ValueError, match="ids start at 1"):
        packets.code_object_load(0, 0, 0)
    with pytest.raises(ValueError, match="does not fit the 20 bits"):
        packets.agent_info(1 << 20)
    with pytest.raises(ValueError, match="ticks before"):
        packets.realtime_pair(5, earlier=6)
