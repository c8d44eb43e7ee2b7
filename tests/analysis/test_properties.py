"""Identities that hold for every capture: drawn waves on the samples' issue model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support import planned
from tests.support.examples import examples
from tracekit.analysis.bubbles import CAUSE_COLUMNS, bubbles
from tracekit.analysis.budget import budget
from tracekit.analysis.causes import causes
from tracekit.analysis.compare import compare
from tracekit.analysis.maps import by_offset, by_time
from tracekit.analysis.model.loops import loops
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.overlap import overlap
from traces import generate
from traces.sample_model import Line, Machine

BODY = (
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_mul_f32_e32 v80, v80, v80",
    "v_fma_f32 v81, v81, v72, v73",
    "v_exp_f32_e32 v82, v82",
    "v_pk_fma_f32 v[84:85], v[86:87], v[88:89], v[90:91]",
    "ds_read_b128 v[92:95], v96",
    "global_load_dwordx4 v[100:103], v[104:105], off",
    "s_waitcnt lgkmcnt(0)",
    "s_waitcnt vmcnt(0)",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_nop 3",
    "s_mov_b32 s5, s6",
    "s_barrier",
)
LATENCY = {"ds_read_b128": 64, "global_load_dwordx4": 400}


def line(text, refused=0):
    return Line(text, latency=LATENCY.get(text.split()[0], 0), refused=refused)


@st.composite
def kernels(draw):
    """A loop of drawn instructions with one MFMA at least, run by one to three waves a SIMD."""
    drawn = draw(st.lists(st.sampled_from(BODY), min_size=1, max_size=12))
    refused = draw(st.lists(st.sampled_from((0, 0, 0, 24)), min_size=13, max_size=13))
    texts = [BODY[0], *drawn]
    body = [line(text, wait) for text, wait in zip(texts, refused, strict=False)]
    body = [
        replace(each, refused=0) if each.opcode.kind.name in ("BARRIER", "INTERNAL") else each
        for each in body
    ]
    count = draw(st.integers(1, 6))
    head = Line(body[0].text, label="loop", refused=body[0].refused)
    kernel = [
        line("s_mov_b32 s4, 8"),
        head,
        *body[1:],
        Line("s_cbranch_scc1", target="loop", taken=planned.loop_taken(count)),
        line("s_endpgm"),
    ]
    slots = draw(st.integers(1, 3))
    starts = {(0, slot): 6000 + 4 * draw(st.integers(0, 60)) for slot in range(slots)}
    return kernel, starts


def run(folder, kernel, starts, order=None, shift=0):
    starts = {key: time + shift for key, time in starts.items()}
    waves = Machine(kernel, starts, generate.LAUNCH).run()
    waves = [waves[i] for i in order] if order else waves
    return planned.timeline(planned.write(folder, kernel, waves))


timelines = examples(25, (HealthCheck.function_scoped_fixture,))


@pytest.mark.slow
@timelines
@given(kernels(), st.sampled_from(["steady", "span", "25%:75%"]))
def test_cycles_add_up_in_every_view(tmp_path, kernel, window):
    timeline = run(tmp_path, *kernel)
    busy = occupancy(timeline, window).rows
    assert (busy["matrix_busy_cycles"] + busy["matrix_idle_cycles"]).equals(busy["window_cycles"])
    either = busy["matrix_busy_cycles"] + busy["vector_busy_cycles"] - busy["overlap_cycles"]
    assert (either + busy["neither_cycles"]).equals(busy["window_cycles"])
    for name in ("matrix", "vector"):
        assert busy[f"{name}_occupancy"].between(0, 1).all()
    assert (busy["coissued_cycles"] <= busy["vector_busy_cycles"]).all()
    found = causes(timeline, window)
    result = bubbles(timeline, window)
    assert result.rows["cycles"].sum() == busy["matrix_idle_cycles"].sum()
    assert (result.rows[list(CAUSE_COLUMNS)].sum(axis=1) == result.rows["cycles"]).all()
    assert by_time(found)["idle_cycles"].sum() == busy["matrix_idle_cycles"].sum()
    folded = by_offset(found)
    assert folded["idle_cycles"].sum() <= busy["matrix_idle_cycles"].sum()
    turns = overlap(timeline, window)
    assert turns.simds["overlap_cycles"].tolist() == busy["overlap_cycles"].tolist()
    shares = turns.rows[["a_shadow_filled", "b_shadow_filled"]].astype(float)
    assert ((shares >= 0) & (shares <= 1) | shares.isna()).all(axis=None)
    score = turns.rows["alternation"].astype(float)
    assert (score.between(-1, 1) | score.isna()).all()


@timelines
@given(kernels())
def test_iterations_tile_the_loop(tmp_path, kernel):
    timeline = run(tmp_path, *kernel)
    found = loops(timeline)
    for _, part in found.iterations.groupby(["loop", "slot", "wave"]):
        assert (part["end"].to_numpy()[:-1] == part["begin"].to_numpy()[1:]).all()
        assert part["iteration"].tolist() == list(range(len(part)))
        assert (part["end"] > part["begin"]).all()
    assert (found.phases[["prologue_cycles", "loop_cycles", "epilogue_cycles"]] >= 0).all(axis=None)


def numbers(timeline, shift=0):
    """Every result that must not depend on where time begins or how waves are listed."""
    rows = occupancy(timeline).rows
    rows[["start", "end"]] -= shift
    wide = bubbles(timeline).rows
    wide["start"] -= np.where(wide["start"] >= 0, shift, 0)
    return [
        rows.to_csv(),
        wide.to_csv(),
        budget(timeline).rows.to_csv(),
        overlap(timeline).rows.drop(columns=["start", "end"]).round(9).to_csv(),
        loops(timeline).rows.to_csv(),
    ]


@pytest.mark.slow
@timelines
@given(kernels(), st.integers(1, 4000), st.randoms(use_true_random=False))
def test_neither_time_nor_order_of_the_waves_matters(tmp_path, kernel, shift, random):
    code, starts = kernel
    timeline = run(tmp_path, code, starts)
    expected = numbers(timeline)
    order = list(range(len(starts)))
    random.shuffle(order)
    assert numbers(run(tmp_path, code, starts, order=order)) == expected
    # Whole turns of the tick phase, so that the stream tells the same times.
    assert numbers(run(tmp_path, code, starts, shift=16 * shift), 16 * shift) == expected


@pytest.mark.slow
@timelines
@given(kernels())
def test_nothing_changed_is_no_change(tmp_path, kernel):
    timeline = run(tmp_path, *kernel)
    rows = compare(timeline, timeline).rows
    assert (rows["difference"] == 0).all()


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_achieved_is_at_most_the_best(tmp_path, slots):
    kernel = [
        Line(BODY[0], label="loop"), line(BODY[0]), *[line(BODY[2])] * 8,
        Line("s_cbranch_scc1", target="loop", taken=planned.loop_taken(6)), line("s_endpgm"),
    ]  # fmt: skip
    path, _ = planned.run(tmp_path, kernel, slots=slots, simds=1)
    (row,) = budget(planned.timeline(path)).simds.to_dict("records")
    assert 0 < row["achieved"] <= row["best_paired"] <= 1
    assert row["best_1"] <= row["best_2"] <= row["best_4"] <= 1
