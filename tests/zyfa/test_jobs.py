from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zyfa import jobs


@given(st.integers(1, 200))
def test_pairs_cover_every_tile_once_at_constant_cost(tiles):
    pairs = jobs.pairs(tiles)
    flat = [t for pair in pairs for t in pair if t is not None]
    assert sorted(flat) == list(range(tiles))
    costs = {jobs.blocks(a) + jobs.blocks(b) for a, b in pairs if b is not None}
    assert costs <= {2 * (tiles + 1)}
    assert [p for p in pairs if p[1] is None] == pairs[len(pairs) - tiles % 2 :]


@given(st.integers(1, 64))
def test_remap_is_a_bijection_with_consecutive_jobs_on_a_chiplet(eighth):
    grid = 8 * eighth
    places = [jobs.remap(w, grid) for w in range(grid)]
    assert sorted(places) == list(range(grid))
    for chiplet in range(8):
        mine = [places[w] for w in range(chiplet, grid, 8)]
        assert mine == list(range(chiplet * eighth, (chiplet + 1) * eighth))


@given(st.integers(1, 5000), st.integers(1, 304))
def test_grid_is_a_multiple_of_eight_that_is_enough(count, units):
    grid = jobs.grid_size(count, units)
    assert grid % 8 == 0
    assert grid >= min(count, units)
    assert grid < min(count, units) + 8 or grid == 8


@pytest.mark.parametrize("kv_heads", [1, 2, 8])
def test_heads_of_a_group_are_neighbours(kv_heads):
    problem = jobs.Problem(2, 1024, 8, kv_heads)
    groups = [(b, h // (8 // kv_heads)) for b, h, _ in jobs.order(problem)]
    changes = sum(a != b for a, b in pairwise(groups))
    assert changes == 2 * kv_heads - 1


def test_an_item_is_one_scalar_load():
    assert jobs.ITEM.itemsize == 64
    assert [jobs.ITEM.fields[name][1] for name in jobs.ITEM.names] == [0, 8, 16, 24, 32, 36]


def test_table_addresses_every_output_row_once():
    items = jobs.table(jobs.Problem(2, 1280, 4, 2)).reshape(-1)
    items = items[items["blocks"] > 0]
    assert len(items) == 2 * 4 * 5
    assert np.array_equal(np.sort(items["lse"]), np.arange(2 * 4 * 5) * 1024)
    assert np.array_equal(items["out"], 2 * items["q"])
    assert np.array_equal(items["blocks"], 2 * (items["tile"] + 1))


def test_jobs_are_as_many_as_the_table_has():
    for length in (256, 512, 1280):
        problem = jobs.Problem(2, length, 4, 2)
        assert problem.job_count == len(jobs.table(problem)) == len(jobs.order(problem))


@given(st.integers(1, 5000))
def test_padding_fills_the_last_tile(length):
    assert length <= jobs.padded(length) < length + 256
    assert jobs.padded(length) % 256 == 0


def test_kv_offset_follows_the_group_and_the_batch():
    items = jobs.table(jobs.Problem(2, 256, 4, 2))
    kv = items["kv"][:, 0]
    assert kv.tolist() == [0, 0, 128, 128, 65536, 65536, 65664, 65664]


def test_offsets_beyond_4_gib_do_not_wrap():
    items = jobs.table(jobs.Problem(1, 256 * 1024, 64, 64))
    assert items["out"].max() == 2 * (256 * 1024 - 256) * 64 * 128 + 63 * 256
