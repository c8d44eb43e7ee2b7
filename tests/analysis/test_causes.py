"""Causes: one planted bubble of each, known to the cycle."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.bubbles import CAUSE_COLUMNS, SHORT, bubbles
from tracekit.analysis.causes import CAUSES, MEANINGS, causes
from tracekit.analysis.maps import by_offset, by_time

MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
TURNS, PERIOD, FIRST = 5, 200, 6500
#: Cycles in which the pipe is idle in each turn of the loop.
IDLE = PERIOD - 32


def loop(folder, text, place, *, head=MFMA, **options):
    """A loop of one MFMA and ``text`` (several: a list) that ``place(plan, time)`` executes;
    returns cycles per cause of one turn."""
    texts = [text] if isinstance(text, str) else text
    kernel = lines(f"loop: {head}", *texts, "s_cbranch_scc1 -> loop", "s_endpgm")
    branch = len(texts) + 1
    plan = Plan(kernel, 0, 0, 6000)
    for turn in range(TURNS):
        time = FIRST + PERIOD * turn
        plan.at(time, 0)
        place(plan, time)
        plan.at(time + PERIOD - 24, branch, taken=turn < TURNS - 1)
    plan.at(FIRST + PERIOD * TURNS, branch + 1)
    timeline = planned.timeline(planned.write(folder, kernel, [plan], **options))
    found = causes(timeline)
    (simd,) = found.simds
    assert simd.window.cycles == (TURNS - 2) * PERIOD
    totals = dict(zip(CAUSES, simd.totals().tolist(), strict=True))
    return {name: cycles / (TURNS - 2) for name, cycles in totals.items() if cycles}


#: cause, instruction, and (time, stall, release) after the MFMA's issue: 100 cycles of idle
#: time that it explains; the branch explains the rest.
PLANTED = [
    ("vmcnt_wait", ["global_load_dwordx4 v[4:7], v[8:9], off", "s_waitcnt vmcnt(0)"]),
    ("lgkmcnt_wait", ["ds_read_b128 v[4:7], v8", "s_waitcnt lgkmcnt(0)"]),
    ("lgkmcnt_wait", ["ds_read_b128 v[4:7], v8", "s_waitcnt vmcnt(0) lgkmcnt(0)"]),
    ("vmcnt_wait", ["global_load_dwordx4 v[4:7], v[8:9], off", "s_waitcnt vmcnt(0) lgkmcnt(0)"]),
]


@pytest.mark.parametrize(("cause", "texts"), PLANTED)
def test_waits_are_named_by_the_counter_that_can_be_outstanding(tmp_path, cause, texts):
    def place(plan, time):
        plan.at(time + 8, 1).at(time + 128, 2)

    assert loop(tmp_path, texts, place) == {cause: 100, "scalar_or_branch": 68}


def test_s_nop_is_a_hazard(tmp_path):
    found = loop(tmp_path, "s_nop 7", lambda plan, time: plan.at(time + 128, 1))
    assert found == {"nop_hazard": 100, "scalar_or_branch": 68}


def test_a_barrier_where_every_wave_waits(tmp_path):
    def place(plan, time):
        plan.at(time + 4, 1, release=time + 128)

    assert loop(tmp_path, "s_barrier", place) == {"barrier": 100, "scalar_or_branch": 68}


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        ("lds_backpressure", "ds_read_b128 v[4:7], v8"),
        ("vmem_backpressure", "global_load_dwordx4 v[4:7], v[8:9], off"),
    ],
)
def test_refused_memory_instructions_are_backpressure(tmp_path, cause, text):
    def place(plan, time):
        plan.at(time + 128, 1, stall=time + 32)

    assert loop(tmp_path, text, place) == {cause: 100, "scalar_or_branch": 68}


def test_vector_work_without_an_mfma_beside_it(tmp_path):
    texts = ["v_mul_f32_e32 v4, v4, v4"] * 25

    def place(plan, time):
        for i in range(25):
            plan.at(time + 32 + 4 * i, 1 + i)

    assert loop(tmp_path, texts, place) == {"valu_not_overlapped": 100, "scalar_or_branch": 68}


def test_an_mfma_that_is_refused_though_the_pipe_is_free(tmp_path):
    def place(plan, time):
        plan.at(time + 132, 1, stall=time + 8)

    assert loop(tmp_path, MFMA, place) == {"mfma_dependency": 100, "scalar_or_branch": 36}


def test_an_mfma_behind_a_long_valu_waits_for_the_port(tmp_path):
    kernel = lines(
        f"loop: {MFMA}", MFMA, "v_exp_f32_e32 v1, v2", "s_cbranch_scc1 -> loop", "s_endpgm"
    )
    plans = [Plan(kernel, 0, 0, 6000), Plan(kernel, 0, 1, 6016)]
    for plan, shift in zip(plans, (0, -68), strict=True):
        for turn in range(TURNS):
            time = FIRST + PERIOD * turn + shift
            plan.at(time, 0).at(time + 40, 1, stall=time + 4)
            plan.at(time + 100, 2).at(time + 176, 3, taken=turn < TURNS - 1)
        plan.at(FIRST + PERIOD * TURNS, 4)
    timeline = planned.timeline(planned.write(tmp_path, kernel, plans))
    start = FIRST + 2 * PERIOD
    (simd,) = causes(timeline, f"{start}:{start + 40}").simds
    found = [
        (first - start, last - start, CAUSES[cause])
        for first, last, cause in zip(simd.start, simd.end, simd.cause, strict=True)
    ]
    assert found == [(32, 36, "mfma_dependency"), (36, 40, "valu_not_overlapped")]


def test_packed_f32_waits_for_the_end_of_the_mfma_and_three_ticks(tmp_path):
    def place(plan, time):
        plan.at(time + 44, 1, stall=time + 4)

    assert loop(tmp_path, "v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[4:5]", place) == {
        "packed_f32_blocked": 12, "valu_not_overlapped": 4, "scalar_or_branch": IDLE - 16,
    }  # fmt: skip


def test_an_f32_mfma_keeps_valu_out_beyond_its_end(tmp_path):
    def place(plan, time):
        plan.at(time + 40, 1, stall=time + 4)

    head = "v_mfma_f32_16x16x4_f32 v[0:3], v64, v65, v[0:3]"
    assert loop(tmp_path, "v_mul_f32_e32 v4, v4, v4", place, head=head) == {
        "valu_blocked_by_matrix": 8, "valu_not_overlapped": 4, "scalar_or_branch": IDLE - 12,
    }  # fmt: skip


def test_a_valu_refused_for_no_known_reason(tmp_path):
    def place(plan, time):
        plan.at(time + 128, 1, stall=time + 32)

    assert loop(tmp_path, "v_mul_f32_e32 v4, v4, v4", place) == {
        "fetch_or_arbitration": 96, "valu_not_overlapped": 4, "scalar_or_branch": 68,
    }  # fmt: skip


def test_no_attempt_is_fetch_or_arbitration(tmp_path):
    found = loop(tmp_path, "v_mul_f32_e32 v4, v4, v4", lambda plan, time: plan.at(time + 128, 1))
    assert found == {
        "fetch_or_arbitration": 96, "valu_not_overlapped": 4, "scalar_or_branch": 68,
    }  # fmt: skip


LOOP = lines(f"loop: {MFMA}", "s_cbranch_scc1 -> loop", "s_endpgm")


def turns(simd, slot, begin, first, count, end):
    plan = Plan(LOOP, simd, slot, begin)
    for turn in range(count):
        plan.at(first + 100 * turn, 0).at(first + 100 * turn + 8, 1, taken=turn < count - 1)
    return plan.at(end, 2)


def test_between_waves_there_is_none_and_around_the_loop_is_prologue(tmp_path):
    plans = [turns(0, 0, 6000, 6500, 4, 7000), turns(0, 0, 7400, 7600, 4, 8100)]
    timeline = planned.timeline(planned.write(tmp_path, LOOP, plans))
    died, born = int(timeline.waves["end"].iloc[0]), int(timeline.waves["begin"].iloc[1])
    (simd,) = causes(timeline, "span").simds
    totals = dict(zip(CAUSES, simd.totals().tolist(), strict=True))
    # The last iteration ends with its branch, 12 cycles after its MFMA issued.
    outside = (died - 6812) + (7600 - born) + (8100 - 7912) - 2 * (32 - 12)
    assert totals["no_wave"] == born - died + 4  # s_endpgm outlives its wave
    assert totals["prologue_epilogue"] == outside
    assert totals["scalar_or_branch"] == 2 * 3 * (100 - 32)
    assert sum(totals.values()) == 8104 - 6500 - 8 * 32


def test_a_wave_in_its_loop_decides_before_one_outside(tmp_path):
    plans = [turns(0, 0, 6000, 6500, 6, 7200), turns(0, 1, 6016, 6440, 1, 6448 + 20)]
    timeline = planned.timeline(planned.write(tmp_path, LOOP, plans))
    (simd,) = causes(timeline, "6600:6700").simds
    totals = dict(zip(CAUSES, simd.totals().tolist(), strict=True))
    assert totals["scalar_or_branch"] == 68


def test_lost_tokens_are_said_to_be_lost(tmp_path):
    # Something is missing after 6688: from there on no program counter is certain.
    plan = Plan(LOOP, 0, 0, 6000)
    for time in (6500, 6560, 6620, 6680, 6900, 6960):
        plan.at(time, 0).at(time + 8, 1, taken=time < 6960)
    plan.at(7020, 2)
    path = planned.write(
        tmp_path, LOOP, [plan], after_waves=lambda writer: writer.packet_lost(6800)
    )
    found = causes(planned.timeline(path), "6560:7000")
    (simd,) = found.simds
    totals = {n: c for n, c in zip(CAUSES, simd.totals().tolist(), strict=True) if c}
    assert totals == {
        "scalar_or_branch": 2 * (60 - 32),
        "data_lost": 7000 - 6712,
    }
    assert "lost tokens" in found.notes[0]


def test_every_cause_has_a_meaning():
    assert list(MEANINGS) == list(CAUSES)


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
@pytest.mark.parametrize("window", ["steady", "span", "20%:60%"])
def test_rows_sum_to_the_matrix_idle_time(name, window):
    from traces import generate

    timeline = tracekit.open(generate.ROOT / name).timeline()
    result = bubbles(timeline, window)
    rows, totals = result.rows, result.totals
    assert rows["cycles"].sum() == totals["matrix_idle_cycles"].sum()
    assert (rows[list(CAUSE_COLUMNS)].sum(axis=1) == rows["cycles"]).all()
    wide = rows[rows["cause"] != SHORT]
    assert (wide["cycles"] >= 16).all()
    assert result.sites["cycles"].sum() == wide["cycles"].sum()
    found = causes(timeline, window)
    for cells in (by_offset(found), by_time(found)):
        assert (cells["idle_cycles"] <= cells["window_cycles"]).all()
    assert by_time(found)["idle_cycles"].sum() == rows["cycles"].sum()


def test_the_bubble_of_lockstep_is_where_both_waves_do_vector_work():
    from traces import generate

    result = bubbles(tracekit.open(generate.ROOT / "lockstep").timeline())
    wide = result.rows[result.rows["cause"] != SHORT]
    assert set(wide["cause"]) == {"valu_not_overlapped"}
    assert set(wide["cycles"]) == {268}
    assert set(wide["offset"]) == {512}
    assert wide[wide["simd"] == 0]["iteration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert set(wide["waves"]) == {"slot 0: VALU 140; slot 1: VALU 160"}
    assert result.sites["bubbles"].tolist() == [24]


def test_a_longer_minimum_moves_bubbles_to_short_gaps():
    from traces import generate

    timeline = tracekit.open(generate.ROOT / "lockstep").timeline()
    rows = bubbles(timeline, minimum=269).rows
    assert set(rows["cause"]) == {SHORT}
    assert rows["cycles"].sum() == bubbles(timeline).rows["cycles"].sum()
