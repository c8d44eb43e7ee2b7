"""Barriers, fetch, banks, and waits that do or do not fall as leads grow."""

from dataclasses import replace

import pandas as pd

from tests.analysis.explain.planted import (
    GOOD,
    LOAD,
    MFMA,
    MUL,
    READ,
    WAIT,
    fired,
    looped,
    texts,
)
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.analysis import Analysis

LGKM = "s_waitcnt lgkmcnt(0)"


def meeting(folder, late):
    """Two waves on two SIMDs meet at a barrier in each of six iterations; the second one does
    vector instruction is refused for ``late`` cycles before it."""
    kernel = lines(f"loop: {MFMA}", MUL, "s_barrier", "s_cbranch_scc1 -> loop", "s_endpgm")
    plans = [Plan(kernel, simd, 0, 6000 + 8 * simd) for simd in (0, 1)]
    time = 6400
    for turn in range(6):
        for plan, work in zip(plans, (8, late), strict=True):
            plan.at(time, 0).at(time + work, 1, stall=time + 4)
            arrival = time + work + 4
            plan.at(arrival, 2, release=time + late + 8)
            plan.at(time + late + 12, 3, taken=turn < 5)
        time += late + 32
    for plan in plans:
        plan.at(time + 60, 4)
    return Analysis(planned.timeline(planned.write(folder, kernel, plans)), judged=GOOD)


def test_a_late_wave_is_a_skew(tmp_path):
    advice = fired(meeting(tmp_path, 200))["barrier_skew"]
    assert texts(advice) == ["s_barrier"]
    assert advice.numbers["skew_median"] == 192
    assert advice.numbers["vector_refused_share"] > 0.8


def test_waves_that_arrive_together_have_no_skew(tmp_path):
    assert "barrier_skew" not in fired(meeting(tmp_path, 8))


def test_gaps_in_which_nothing_is_attempted_are_fetch(tmp_path):
    advice = fired(looped(tmp_path / "gap", (MFMA, 4), (MUL, 120), (MUL, 4)))["instruction_fetch"]
    assert texts(advice)[0] == MUL
    refused = looped(tmp_path / "refused", (MFMA, 4), (MUL, 120, 116), (MUL, 4))
    assert "instruction_fetch" not in fired(refused)


def counted(analysis, **sums):
    """The analysis with counters of these names."""
    columns = {f"c{at}": [sums[name]] for at, name in enumerate(sums)}
    columns |= {f"c{at}": [0] for at in range(len(sums), 4)}
    table = pd.DataFrame({"time": [9000], "se": [0], "cu": [1], "bank": [0], **columns})
    timeline = replace(analysis.timeline, counters=table, counter_names=tuple(sums))
    return Analysis(timeline, judged=GOOD)


def test_bank_conflicts_are_told_by_counters_alone(tmp_path):
    steps = [(MFMA, 4), (READ, 40, 36), (LGKM, 100), (MUL, 4)]
    plain = looped(tmp_path, *steps)
    assert "bank_conflicts" not in fired(plain)
    many = {"SQ_LDS_BANK_CONFLICT": 600, "SQ_LDS_IDX_ACTIVE": 1000}
    advice = fired(counted(plain, **many))["bank_conflicts"]
    assert advice.numbers["conflict_share"] == 0.6
    assert texts(advice) == [READ]
    few = {"SQ_LDS_BANK_CONFLICT": 60, "SQ_LDS_IDX_ACTIVE": 1000}
    assert "bank_conflicts" not in fired(counted(plain, **few))
    alone = fired(counted(plain, SQ_LDS_BANK_CONFLICT=60))["bank_conflicts"]
    assert alone.numbers["conflict_share"] is None


def leads(folder, waited):
    """Ten iterations whose load issues 40, 120, 40, ... cycles before its wait."""
    between = MUL.replace("v4", "v50")
    kernel = lines(f"loop: {MFMA}", LOAD, between, WAIT, MUL, "s_cbranch_scc1 -> loop", "s_endpgm")
    plan, time = Plan(kernel, 0, 0, 6000), 6400
    for turn in range(10):
        lead = 40 if turn % 2 else 120
        plan.at(time, 0).at(time + 8, 1).at(time + 4 + lead, 2, stall=time + 12)
        end = time + 8 + lead + waited(lead)
        plan.at(end, 3).at(end + 4, 4).at(end + 8, 5, taken=turn < 9)
        time = end + 12
    plan.at(time + 60, 6)
    return Analysis(planned.timeline(planned.write(folder, kernel, [plan])), judged=GOOD)


def test_where_waits_do_not_fall_as_leads_grow_no_distance_is_advised(tmp_path):
    assert "prefetch_distance" in fired(leads(tmp_path / "falls", lambda lead: 400 - lead))
    assert "prefetch_distance" not in fired(leads(tmp_path / "flat", lambda lead: 300))
