import numpy as np
import pytest

from zyfa.codegen import lds
from zyfa.shape import D128, Shape


def image():
    """Block in LDS as the direct loads leave it: (row, global chunk) of each 16-byte place."""
    place = np.zeros((D128.keys, 8, 2), int)
    for group in range(D128.keys // 8):
        chunk = lds.load_chunk(lds.LANES, group)
        for lane in range(64):
            place[8 * group + lane // 8, lane % 8] = 8 * group + lane // 8, chunk[lane]
    return place.reshape(-1, 2)


def test_loads_and_reads_agree_on_the_swizzle():
    place = image()
    rows, chunks = np.divmod(np.arange(D128.keys * 8), 8)
    where = lds.swizzled(rows, chunks) // 16
    assert np.array_equal(place[where], np.stack([rows, chunks], -1))


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("half", [0, 1])
def test_k_operand_holds_the_dimensions_that_q_has(step, half):
    rows, chunks = image()[lds.k_address(step, half) // 16].T
    assert np.array_equal(rows, lds.LANES % 32)
    assert np.array_equal(16 * chunks, 64 * step + 32 * half + 16 * (lds.LANES // 32))


@pytest.mark.parametrize("tile", range(4))
def test_v_reads_fetch_the_keys_of_p(tile):
    address = lds.v_address(tile)
    rows, chunks = image()[address // 16].T
    first = 16 * chunks + address % 16
    for lane in range(64):
        group, column = lane // 16, lane % 16
        for r in range(8):
            source = 16 * group + 2 * r + column // 8
            # S^T register r of lane half h is key 8 (r / 4) + 4 h + r % 4 (32x32 layout of D).
            assert rows[source] == 8 * (r // 4) + 4 * (lane // 32) + r % 4
            assert first[source] + column % 8 == 32 * tile + lane % 32


def test_row_offsets_commute_with_the_swizzle():
    for row in range(0, D128.keys, 16):
        shifted = lds.swizzled(lds.v_key(lds.LANES) + row, 3)
        assert np.array_equal(shifted, lds.swizzled(lds.v_key(lds.LANES), 3) + row * lds.ROW)


def test_reads_are_free_of_bank_conflicts():
    for step in range(2):
        for half in range(2):
            assert lds.conflicts(lds.k_address(step, half), 16, 16) == 1
    for tile in range(4):
        assert lds.conflicts(lds.v_address(tile), 8, 16) == 1
        assert lds.conflicts(lds.v_address(tile), 8, 32) == 1


def test_without_the_swizzle_they_would_conflict():
    row_major = lds.LANES % 32 * lds.ROW + 16 * (lds.LANES // 32)
    assert lds.conflicts(row_major, 16, 16) == 8


def test_three_buffers_of_both_fit():
    layout = lds.layout(D128)
    assert layout.size == 96 * 1024
    assert [(plane.operand, plane.first, plane.base) for plane in layout.planes] == [
        ("k", 0, 0), ("v", 0, layout.size // 2),
    ]  # fmt: skip


def test_every_128_dimensions_are_a_plane_and_planes_do_not_overlap():
    layout = lds.layout(Shape(256, 128))
    assert [(plane.operand, plane.first) for plane in layout.planes] == [
        ("k", 0), ("k", 128), ("v", 0),
    ]  # fmt: skip
    buffers = [p.base + i * layout.stride for p in layout.planes for i in range(lds.BUFFERS)]
    assert buffers == list(range(0, layout.size, D128.keys * lds.ROW))
