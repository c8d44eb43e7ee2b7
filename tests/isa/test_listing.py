import numpy as np
import pytest

from tracekit.isa.classify import Expect
from tracekit.isa.costs import Pipe
from tracekit.isa.listing import Listing, Symbol, branch_operand
from tracekit.isa.listing_costs import Costs

LOOP = ["s_mov_b32 s0, 4", "v_exp_f32_e32 v0, v1", "ds_read_b128 v[0:3], v4", "s_branch 65532"]


def loop(code_object=1, base=0x1000, **columns):
    return Listing.build(code_object, [base, base + 4, base + 8, base + 16], LOOP, **columns)


def test_build_derives_the_columns():
    listing = loop()
    assert listing.size.tolist() == [4, 4, 8, 4]
    assert listing.next.tolist() == [1, 2, 3, -1]
    assert listing.target.tolist() == [-1, -1, -1, 1]
    assert listing.line.tolist() == [-1] * 4
    assert listing.expect.tolist() == [Expect.SALU, Expect.VALU, Expect.LDS, Expect.BRANCH]
    assert listing.accept.dtype == np.uint64
    assert listing.accept[2] == 1 << 6
    assert listing.hits is None


def test_rows_are_sorted_and_repeated_ones_dropped():
    listing = Listing.build(
        [2, 1, 1, 2],
        [8, 4, 0, 8],
        ["s_endpgm", "s_nop 1", "s_nop 0", "s_nop 9"],
        line=[9, 2, 1, 4],
        sums=([1, 2, 3, 4], None, None, None),
    )
    assert listing.text == ["s_nop 0", "s_nop 1", "s_endpgm"]
    assert listing.code_object.tolist() == [1, 1, 2]
    assert listing.line.tolist() == [1, 2, 9]
    assert listing.hits.tolist() == [3, 2, 1]


def test_lookups():
    listing = Listing.concat([loop(3, line=[5, 6, 7, 8]), loop(1, 0x40)])
    assert listing.row_of(3, 0x1004) == 5
    assert listing.row_of(3, 0x1005) == -1
    assert listing.row_of(2, 0x1004) == -1
    assert listing.row_of_line(6) == 5
    assert listing.row_of_line(99) == -1
    rows = listing.rows_of([3, 1, 3, 9, 0], [0x1004, 0x44, 0x1005, 0, -1])
    assert rows.tolist() == [5, 1, -1, -1, -1]
    assert Listing.build([], [], []).rows_of([1, 2], 0).tolist() == [-1, -1]


def test_branches_stay_inside_their_code_object():
    listing = Listing.concat([loop(2), loop(1)])
    assert listing.target.tolist() == [-1, -1, -1, 1, -1, -1, -1, 5]


def test_concat():
    one = loop(1, symbols=[Symbol(1, 0x1000, "a")], sums=([1, 2, 3, 4], None, None, None))
    both = Listing.concat([one, loop(2, arch="gfx950"), one])
    assert len(both) == 8
    assert both.hits.tolist() == [1, 2, 3, 4, -1, -1, -1, -1]
    assert both.symbols == [Symbol(1, 0x1000, "a")]
    assert both.arch is None
    assert Listing.concat([loop(2, arch="gfx950")]).arch == "gfx950"
    assert len(Listing.concat([])) == 0


def test_without_addresses_the_order_is_the_program():
    listing = Listing.build(
        0, -1, [*LOOP[:3], "s_cbranch_scc0 .L1"], labels={".L1": 1}, alt_index=[4, 5, 6, 9]
    )
    assert listing.next.tolist() == [1, 2, 3, -1]
    assert listing.target.tolist() == [-1, -1, -1, 1]
    assert listing.row_of(0, -1) == -1
    joined = Listing.concat([loop(1), listing])
    assert joined.text[:4] == listing.text
    assert joined.target.tolist() == [-1, -1, -1, 1, -1, -1, -1, 5]
    assert joined.alt_index.tolist() == [4, 5, 6, 9, -1, -1, -1, -1]


def test_distance_tells_a_literal_that_does_not_show():
    listing = Listing.build(1, [0, 8], ["s_mov_b32 s0, 0", "s_endpgm"])
    assert listing.size.tolist() == [8, 4]
    assert listing.next.tolist() == [1, -1]


def test_costs():
    listing = loop()
    costs = Costs.of(listing.text, "gfx950")
    assert costs.pipe.tolist() == [Pipe.SCALAR, Pipe.VECTOR, Pipe.LDS, Pipe.BRANCH]
    assert costs.cycles.tolist() == [4, 8, 4, 4]
    assert costs.klass.tolist() == ["salu", "transcendental", "read", "branch"]
    assert Costs.of(listing.text, "gfx942").cycles.tolist() == [4, 16, 4, 4]


def test_unknown_cost_is_minus_one():
    listing = Listing.build(1, [0], ["v_mfma_f32_64x64x64_fp2 a[0:3], v0, v1"])
    costs = Costs.of(listing.text, "gfx950")
    assert (costs.pipe[0], costs.cycles[0]) == (Pipe.MATRIX, -1)


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("s_branch 65401", -135),
        ("s_cbranch_scc0 26", 26),
        ("s_cbranch_scc0 0xfff0", -16),
        ("s_call_b64 s[4:5], 65524", -12),
        ("s_cbranch_execz .LBB0_3", ".LBB0_3"),
        ("s_branch", None),
        ("s_setpc_b64 s[0:1]", None),
        ("s_mov_b32 s0, 5", None),
    ],
)
def test_branch_operand(text, operand):
    assert branch_operand(text) == operand
