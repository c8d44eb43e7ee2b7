"""The window cut at iterations: nothing is lost, and an iteration counts by its work."""

import numpy as np
import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.causes import CAUSES
from tracekit.analysis.comparison.pieces import pieces
from tracekit.analysis.turns import SHARES
from traces import generate


@pytest.fixture(scope="module", params=["lockstep", "zyfa_gap_exact"])
def analysis(request):
    return Analysis(tracekit.open(generate.ROOT / request.param).timeline())


def test_pieces_sum_to_the_window_and_its_causes(analysis):
    found = analysis.causes
    cut = pieces(found.simds, found)
    assert cut.cycles.sum() == sum(one.window.cycles for one in found.simds)
    values = dict(zip([*SHARES, *CAUSES], cut.values.sum(0), strict=True))
    assert values["matrix"] + values["matrix_idle"] == cut.cycles.sum()
    totals = sum(one.totals() for one in found.simds)
    assert [values[name] for name in CAUSES] == totals.tolist()
    assert (np.diff(cut.edges) > 0).all()


def test_the_work_done_is_the_matrix_cycles_of_so_many_iterations(analysis):
    found = analysis.causes
    cut = pieces(found.simds, found)
    (each,) = set(analysis.budget.iterations["matrix"])
    assert cut.iterations.sum() == pytest.approx(cut.values[:, 0].sum() / each)


def loop(folder, texts, issued, *, count=6, step=100):
    """One wave that runs a loop ``count`` times, its instructions at ``issued`` of each."""
    kernel = lines(*texts, "s_cbranch_scc1 -> loop", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000)
    for turn in range(count):
        start = 7000 + turn * step
        for line, at in enumerate(issued):
            plan.at(start + at, line)
        plan.at(start + step - 20, len(issued), taken=turn + 1 < count)
    plan.at(7000 + count * step, len(issued) + 1)
    return planned.timeline(planned.write(folder, kernel, [plan]))


def test_an_iteration_that_the_window_cuts_counts_by_its_matrix_cycles(tmp_path):
    timeline = loop(tmp_path, ["loop: v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], "
                               "v[0:15]"], [0])  # fmt: skip
    # One iteration, and 12 of the 32 matrix cycles of the next.
    found = Analysis(timeline, "7100:7212").causes
    cut = pieces(found.simds, found)
    assert cut.iterations.sum() == pytest.approx(1 + 12 / 32)
    assert cut.in_loop.sum() == 112


def test_an_iteration_without_an_mfma_counts_by_time(tmp_path):
    timeline = loop(tmp_path, ["loop: v_mul_f32_e32 v0, v1, v2"], [0])
    found = Analysis(timeline, "7100:7250").causes
    cut = pieces(found.simds, found)
    assert cut.iterations.sum() == pytest.approx(1.5)


def test_without_a_loop_the_window_is_cut_evenly(tmp_path):
    kernel = lines("v_mul_f32_e32 v0, v1, v2", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(7000, 0).at(8000, 1)
    found = Analysis(planned.timeline(planned.write(tmp_path, kernel, [plan])), "span").causes
    cut = pieces(found.simds, found)
    assert len(cut.cycles) == 32
    assert cut.cycles.sum() == 1004
    assert cut.iterations.sum() == 0
