"""Comparison: the two samples, noise, requirements, and changes of loop bodies."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.compare import compare
from tracekit.analysis.model.bodies import Body, differences, shared
from tracekit.analysis.requirements import NotComparable
from tracekit.isa.listing import Listing
from traces import generate


def sample(name):
    return tracekit.open(generate.ROOT / name).timeline()


@pytest.fixture(scope="module")
def result():
    return compare(sample("lockstep"), sample("pingpong"))


def total(result, metric):
    rows = result.rows[(result.rows["se"] < 0) & (result.rows["metric"] == metric)]
    (row,) = rows.to_dict("records")
    return row


def test_what_pingpong_changed(result):
    cycles = total(result, "cycles")
    # 22 of the iterations' work in 8,848 wave cycles of the steady window.
    assert cycles["base_value"] == pytest.approx(2 * 4424 / 11)
    assert cycles["new_value"] == 536
    assert not cycles["within_noise"]
    median = total(result, "median_cycles")
    assert (median["base_value"], median["new_value"], median["difference"]) == (780, 536, -244)
    overlap = total(result, "overlap")
    assert overlap["base_value"] == pytest.approx(100 * 120 / 4424)
    assert overlap["new_value"] == pytest.approx(100 * 1628 / 2948)
    assert overlap["low"] <= overlap["difference"] <= overlap["high"]
    assert total(result, "budget:matrix_cycles")["difference"] == 0
    assert len(result.bodies) == 0


def test_shares_and_causes_add_up(result):
    rows = result.rows[result.rows["se"] < 0].set_index("metric")
    for side in ("base_value", "new_value"):
        assert rows.loc["matrix", side] + rows.loc["matrix_idle", side] == pytest.approx(100)
        causes = rows[rows.index.str.startswith("cause:")][side].sum()
        assert causes == pytest.approx(rows.loc["matrix_idle", side])


def test_the_pieces_of_an_iteration_sum_to_its_mean(result):
    for _, rows in result.rows.groupby(["se", "simd"]):
        pieces = rows[rows["metric"].str.startswith("iteration:")]
        (mean,) = rows[rows["metric"] == "cycles"].to_dict("records")
        for value in ("base_value", "new_value", "difference"):
            assert pieces[value].sum() == pytest.approx(mean[value])


def test_a_capture_against_itself_is_within_noise():
    rows = compare(sample("lockstep"), sample("lockstep")).rows
    assert (rows["difference"] == 0).all()
    assert rows["within_noise"].all()


def test_every_simd_has_its_own_rows(result):
    assert sorted(set(result.rows["simd"])) == [-1, 0, 1, 2, 3]


def test_different_kernels_are_told_in_every_row(result):
    assert result.warnings == ["different kernels: lockstep and pingpong"]
    assert set(result.rows["warning"]) == set(result.warnings)
    same = compare(sample("lockstep"), sample("lockstep"))
    assert same.warnings == []
    assert set(same.rows["warning"]) == {""}


def test_a_relative_change_has_an_interval_of_its_own(result):
    change = result.change("cycles", relative=True)
    assert change.difference == pytest.approx(100 * (536 * 11 / (2 * 4424) - 1))
    assert change.low <= change.difference <= change.high


def test_known_chips_must_be_the_same(tmp_path):
    kernel = lines("s_mov_b32 s0, s1", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)
    other = planned.timeline(planned.write(tmp_path, kernel, [plan], arch="gfx942"))
    with pytest.raises(NotComparable, match="different chips") as error:
        compare(sample("lockstep"), other)
    assert error.value.exit_code == 2


def body(*texts, rows=None):
    listing = Listing.build(1, range(0, 8 * len(texts), 8), list(texts), size=8)
    return Body.of(listing, range(len(texts)) if rows is None else rows)


def test_bodies_show_what_was_added_removed_and_moved():
    base = body("s_nop 1", "v_mul_f32_e32 v0, v1, v2", "s_barrier", "s_setprio 0")
    new = body("s_barrier", "v_mul_f32_e32 v7, v8, v9", "s_nop 1", "s_waitcnt vmcnt(0)")
    table = differences(base, new)
    changes = sorted(zip(table["change"], table["instruction"], strict=True))
    assert ("removed", "s_setprio 0") in changes
    assert ("added", "s_waitcnt vmcnt(0)") in changes
    assert sum(change == "moved" for change, _ in changes) == 2


def test_registers_and_branch_distances_do_not_count():
    base = body("v_add_f32_e32 v1, v2, v3", "s_cbranch_scc1 65458")
    new = body("v_add_f32_e32 v4, v5, v6", "s_cbranch_scc1 65000")
    assert len(differences(base, new)) == 0
    wider = body("v_add_f32_e32 v[4:5], v5, v6", "s_cbranch_scc1 65000")
    assert len(differences(base, wider)) == 2


def test_the_budget_s_interval_covers_which_iterations_ran(captures):
    """One SE's waves against another's: a causal mask gives them other mixes of iterations."""
    (path,) = captures.glob("flash_attn_bf16_gfx950/ui_output_agent_58550_*")
    timeline = tracekit.open(path).timeline()
    rows = compare(timeline.select(se=2), timeline.select(se=3)).rows
    budget = rows[rows["metric"].str.startswith("budget:")]
    assert len(budget) > 0
    moved = budget[budget["difference"] != 0]
    assert (moved["low"] < moved["high"]).all()
    assert ((moved["low"] <= moved["difference"]) & (moved["difference"] <= moved["high"])).all()


def test_bodies_share_what_both_have_wherever_it_stands():
    base = body("s_nop 1", "v_mul_f32_e32 v0, v1, v2", "s_barrier", "s_setprio 0")
    moved = body("s_barrier", "v_mul_f32_e32 v7, v8, v9", "s_nop 1", "s_waitcnt vmcnt(0)")
    assert shared(base, moved) == 0.75
    assert shared(base, base) == 1
    assert shared(body("s_nop 1"), body("s_waitcnt vmcnt(0)")) == 0
    # Unrolled twice, it is the same code.
    twice = body("s_nop 1", "s_barrier", rows=[0, 1, 0, 1])
    assert shared(body("s_nop 1", "s_barrier"), twice) == pytest.approx(2 / 3)
