"""Bubbles and maps: what must add up, and the planned bubble of a sample."""

import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.attribution.engine import charges
from tracekit.analysis.bubbles import CAUSE_COLUMNS, SHORT, bubbles
from tracekit.analysis.causes import CAUSES, MEANINGS, causes
from tracekit.analysis.maps import by_offset, by_time
from traces import generate


def test_every_cause_has_a_meaning():
    assert list(MEANINGS) == list(CAUSES)


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
@pytest.mark.parametrize("window", ["steady", "span", "20%:60%"])
def test_rows_sum_to_the_matrix_idle_time(name, window):
    timeline = tracekit.open(generate.ROOT / name).timeline()
    result = bubbles(timeline, window)
    rows, totals = result.rows, result.totals
    assert rows["cycles"].sum() == totals["matrix_idle_cycles"].sum()
    assert (rows[list(CAUSE_COLUMNS)].sum(axis=1) == rows["cycles"]).all()
    wide = rows[rows["cause"] != SHORT]
    assert (wide["cycles"] >= 16).all()
    assert result.places["cycles"].sum() == rows["cycles"].sum()
    bubble = result.places[result.places["place"] == "bubble"]
    assert bubble["cycles"].sum() == wide["cycles"].sum()
    found = causes(timeline, window)
    for cells in (by_offset(found), by_time(found)):
        assert (cells["idle_cycles"] <= cells["window_cycles"]).all()
    assert by_time(found)["idle_cycles"].sum() == rows["cycles"].sum()


def test_the_bubble_of_lockstep_is_where_both_waves_do_vector_work():
    result = bubbles(tracekit.open(generate.ROOT / "lockstep").timeline())
    wide = result.rows[result.rows["cause"] != SHORT]
    assert set(wide["cause"]) == {"vector_work"}
    assert set(wide["cycles"]) == {268}
    assert set(wide["offset"]) == {512}
    assert wide[wide["simd"] == 0]["iteration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert set(wide["waves"]) == {"slot 0: vector_work 140; slot 1: vector_work 160"}
    assert result.places["bubbles"].tolist() == [24]


def test_a_longer_minimum_moves_bubbles_to_short_gaps():
    timeline = tracekit.open(generate.ROOT / "lockstep").timeline()
    rows = bubbles(timeline, minimum=269).rows
    assert set(rows["cause"]) == {SHORT}
    assert rows["cycles"].sum() == bubbles(timeline).rows["cycles"].sum()


def test_a_selected_simd_keeps_the_causes_that_the_whole_gives_it():
    """A barrier is followed to waves of other SIMDs, which the part does not have."""
    timeline = tracekit.open(generate.ROOT / "zyfa_pingpong_lean").timeline()
    whole = Analysis(timeline).bubbles.totals
    part = Analysis(timeline).select(simd=2).bubbles.totals
    assert part.to_dict("records") == whole[whole["simd"] == 2].to_dict("records")


def test_charges_of_some_simds_are_those_of_all():
    found = charges(tracekit.open(generate.ROOT / "pingpong").timeline())
    assert [one.simd.simd for one in found.select(simd=3).simds] == [3]
    assert found.select(se=0).simds == found.simds
