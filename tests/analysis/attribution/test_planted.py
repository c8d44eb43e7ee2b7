"""Each cause planted between two MFMAs, known to the cycle, with a counter-example."""

import pytest

from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.attribution.engine import charges
from tracekit.analysis.attribution.names import CAUSES, OTHERS, PHASES, SPLITS
from tracekit.analysis.attribution.tables import gaps
from tracekit.analysis.attribution.view import views
from tracekit.analysis.model.window import Windows
from tracekit.gfx9 import Inst
from traces.sample_model import OPCODES, Kind, Opcode

OPCODES.setdefault("flat_load_dword", Opcode(8, Inst.FLAT_RD, Kind.VMEM))
MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
NARROW = "v_mfma_f32_16x16x16_bf16 v[0:3], v[64:65], v[68:69], v[0:3]"
FIRST, LAST = 6500, 6700
#: The bubble: from the end of the first MFMA to the issue of the second.
IDLE = LAST - FIRST - 32
MUL = "v_mul_f32_e32 v4, v4, v4"
LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
LDS = "ds_read_b128 v[4:7], v8"


def names(view, *columns):
    """{name: cycles} of the pieces by cause (and split), or by the columns asked for."""
    columns = columns or ("cause", "split")
    texts = {"cause": CAUSES, "split": SPLITS, "phase": PHASES, "others": OTHERS}
    found = {}
    for i, cycles in enumerate(view.pieces.cycles.tolist()):
        key = " ".join(texts[c][getattr(view.pieces, c)[i]] for c in columns).strip()
        found[key] = found.get(key, 0) + cycles
    return found


def seen(folder, kernel, plans, window=f"{FIRST}:{LAST}", simd=0):
    """The View of one SIMD."""
    timeline = planned.timeline(planned.write(folder, kernel, plans))
    every = views(charges(timeline), Windows(timeline, window))
    (one,) = [view for view in every if view.charges.simd.simd == simd]
    return one


def bubble(folder, texts, steps, *, head=MFMA, tail=None):
    """{cause: cycles} between two MFMAs of one wave; ``steps``: (issue, first attempt)."""
    kernel = lines(head, *texts, MFMA, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(FIRST, 0)
    for i, (time, stall) in enumerate(steps):
        plan.at(time, i + 1, stall=stall, taken=False)
    plan.at(LAST, len(texts) + 1, stall=tail).at(LAST + 60, len(texts) + 2)
    return names(seen(folder, kernel, [plan]))


#: What is planted -> (instructions, (issue, first attempt), cycles by cause); the rest of the
#: bubble is no_attempt.
PLANTED = {
    "transcendental work takes 8": (["v_exp_f32_e32 v1, v2"], [(6600, None)], {"vector_work": 8}),
    "plain work takes 4": ([MUL], [(6600, None)], {"vector_work": 4}),
    "a refused vector instruction": (
        [MUL], [(6640, 6600)], {"vector_refused rest": 40, "vector_work": 4}),
    "packed F32 within 12 cycles of the end": (
        ["v_pk_fma_f32 v[4:5], v[4:5], v[4:5], v[4:5]"], [(6544, 6536)],
        {"vector_refused packed": 8, "vector_work": 4}),
    "packed F32 beyond 12 cycles is for another reason": (
        ["v_pk_fma_f32 v[4:5], v[4:5], v[4:5], v[4:5]"], [(6552, 6536)],
        {"vector_refused packed": 8, "vector_refused rest": 8, "vector_work": 4}),
    "a plain one there is not packed": (
        [MUL], [(6544, 6536)], {"vector_refused rest": 8, "vector_work": 4}),
    "LDS refused and issuing": ([LDS], [(6640, 6600)], {"lds_refused_or_issue": 44}),
    "LDS that issues at once": ([LDS], [(6640, None)], {"lds_refused_or_issue": 4}),
    "vector memory refused": ([LOAD], [(6640, 6600)], {"vmem_refused_or_issue": 44}),
    "FLAT counts as vector memory": (
        ["flat_load_dword v4, v[8:9]"], [(6640, 6600)], {"vmem_refused_or_issue": 44}),
    "a wait for vector memory": (
        [LOAD, "s_waitcnt vmcnt(0)"], [(6540, None), (6640, None)],
        {"vmem_refused_or_issue": 4, "vmcnt_wait": 100}),
    "a wait for LDS": (
        [LDS, "s_waitcnt lgkmcnt(0)"], [(6540, None), (6640, None)],
        {"lds_refused_or_issue": 4, "lgkmcnt_wait": 100}),
    "of two counters vmcnt where it must": (
        [LOAD, LDS, "s_waitcnt vmcnt(0) lgkmcnt(0)"], [(6540, None), (6552, None), (6640, None)],
        {"vmem_refused_or_issue": 4, "lds_refused_or_issue": 4, "vmcnt_wait": 88}),
    "of two counters lgkmcnt where nothing vector is outstanding": (
        [LDS, "s_waitcnt vmcnt(0) lgkmcnt(0)"], [(6540, None), (6640, None)],
        {"lds_refused_or_issue": 4, "lgkmcnt_wait": 100}),
    "a wait for neither": (
        ["s_nop 0", "s_waitcnt expcnt(0)"], [(6540, None), (6640, None)], {"nop": 12}),
    "s_nop": (["s_nop 7"], [(6640, None)], {"nop": 112}),
    "a scalar one that waits for a vector result": (
        ["v_readfirstlane_b32 s4, v1", "s_mov_b32 s5, s4"], [(6600, None), (6624, None)],
        {"vector_work": 4, "scalar_waits_for_vector": 20, "scalar_or_branch": 4}),
    "beyond 24 cycles it waits for something else": (
        ["v_readfirstlane_b32 s4, v1", "s_mov_b32 s5, s4"], [(6600, None), (6628, None)],
        {"vector_work": 4, "scalar_or_branch": 28}),
    "with a scalar one between": (
        ["v_readfirstlane_b32 s4, v1", "s_mov_b32 s5, 0", "s_mov_b32 s6, s4"],
        [(6600, None), (6604, None), (6624, None)],
        {"vector_work": 4, "scalar_or_branch": 24}),
    "a vector one that writes no SGPR": (
        [MUL, "s_mov_b32 s5, s4"], [(6600, None), (6624, None)],
        {"vector_work": 4, "scalar_or_branch": 24}),
    "the gap after a branch": (
        ["s_cbranch_scc1 -> end", MUL], [(6600, None), (6640, None)],
        {"scalar_or_branch": 108, "vector_work": 4}),
    "nothing at all": ([], [], {}),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANTED)
def test_planted(tmp_path, what):
    texts, steps, wanted = PLANTED[what]
    texts = [text.replace(" -> end", " -> last") for text in texts]
    if any("-> last" in text for text in texts):
        texts[-1] = f"last: {texts[-1]}"
    found = bubble(tmp_path, texts, steps)
    rest = IDLE - sum(wanted.values())
    assert found == {**wanted, **({"no_attempt": rest} if rest else {})}


def test_an_mfma_refused_though_the_pipe_is_free(tmp_path):
    assert bubble(tmp_path, [], [], tail=6660) == {"no_attempt": 128, "mfma_refused": 40}


def test_an_mfma_refused_by_a_busy_pipe_is_no_bubble(tmp_path):
    kernel = lines(MFMA, MFMA, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(FIRST, 0).at(FIRST + 32, 1, stall=FIRST + 4)
    assert names(seen(tmp_path, kernel, [plan.at(6700, 2)], "6500:6564")) == {}


def test_packed_f32_waits_8_cycles_after_a_narrow_mfma(tmp_path):
    packed = "v_pk_fma_f32 v[4:5], v[4:5], v[4:5], v[4:5]"
    found = bubble(tmp_path, [packed], [(6532, 6520)], head=NARROW)
    assert found["vector_refused packed"] == 4
    assert found["vector_refused rest"] == 8


def two(folder, first, second, window=f"{FIRST}:{LAST}", simds=(0, 0), begin=(6000, 6016)):
    """A View of SIMD 0 with two waves that execute (time, text, options) each, and end 200
    cycles (option "after") after that.

    Both enter the kernel at a branch 100 cycles after their begin; the second takes it.
    """
    texts = [[text for _, text, _ in steps] + ["s_endpgm"] for steps in (first, second)]
    texts[1][0] = f"second: {texts[1][0]}"
    kernel = lines("s_cbranch_scc1 -> second", *texts[0], *texts[1])
    plans = []
    for slot, steps in enumerate((first, second)):
        plan = Plan(kernel, simds[slot], slot, begin[slot])
        plan.at(begin[slot] + 20, 0, taken=slot == 1)
        line = 1 + slot * len(texts[0])
        for i, (time, _, options) in enumerate(steps):
            plan.at(time, line + i, **{k: v for k, v in options.items() if k != "after"})
        after = steps[-1][0] + steps[-1][2].get("after", 200)
        plans.append(plan.at(after, line + len(steps)))
    return seen(folder, kernel, plans, window)


def step(time, text, **options):
    return time, text, options


#: The wave that runs both MFMAs of the bubble and nothing between.
BOTH = [step(FIRST, MFMA), step(LAST, MFMA)]


def test_refused_while_another_wave_holds_the_vector_port(tmp_path):
    waits = [step(FIRST, MFMA), step(6608, MUL, stall=6596), step(LAST, MFMA)]
    found = names(two(tmp_path, waits, [step(6600, "v_exp_f32_e32 v1, v2")]))
    assert found["vector_refused port"] == 8
    assert found["vector_refused rest"] == 4


def test_the_wave_that_issues_first_decides_and_the_other_is_a_column(tmp_path):
    near = [step(FIRST, MFMA), step(6540, LDS), step(6640, "s_waitcnt lgkmcnt(0)"), BOTH[1]]
    far = [step(6512, MUL), step(6660, "s_nop 7"), step(6780, MFMA)]
    view = two(tmp_path, near, far)
    assert names(view)["lgkmcnt_wait"] == 100
    assert names(view, "others") == {"waiting": 6664 - 6532, "working": 6700 - 6664}


def test_a_wave_without_an_mfma_to_come_is_no_other(tmp_path):
    view = two(tmp_path, BOTH, [step(6640, "s_nop 7")])
    assert names(view, "others") == {"none": IDLE}


def test_before_the_start_of_the_wave_that_ends_it_the_best_of_those_there(tmp_path):
    """A later wave ends the bubble; until it starts, the one that issues its MFMA after it."""
    there = [step(FIRST, MFMA), step(6688, "s_nop 7"), step(6780, MFMA)]
    view = two(tmp_path, there, [step(LAST, MFMA)], begin=(6000, 6600))
    found = names(view, "cause", "phase")
    assert found.pop("nop main") == 68
    assert {name.split()[-1] for name in found} == {"prologue"}
    assert sum(found.values()) == 100


def test_of_two_that_are_equally_near_the_runner_up_is_a_near_tie(tmp_path):
    view = two(tmp_path, BOTH, [step(6600, MUL), step(6732, MFMA, stall=6704)])
    assert gaps(view).tolist() == [4]
    view = two(tmp_path / "far", BOTH, [step(6600, MUL), step(6832, MFMA)])
    assert gaps(view).tolist() == [132]


def test_drain_no_wave_and_after_the_last_mfma(tmp_path):
    gone, late = [step(FIRST, MFMA, after=60)], [step(LAST, MFMA, after=100)]
    view = two(tmp_path, gone, late, "6500:6900", begin=(6000, 6652))
    found = names(view, "cause", "phase")
    ended = int(view.charges.pieces.end[names_at(view, "drain")].max())
    assert found["drain epilogue"] == ended - 6532
    assert found["no_wave"] == 6652 - ended > 0
    assert found["after_last_mfma"] == 6900 - 6732


def names_at(view, cause):
    return view.charges.pieces.cause == CAUSES.index(cause)


def at_barrier(folder, other, *, release=6640, apart=0):
    """SIMD 0's wave waits at a barrier from 6544; a wave of SIMD 1 arrives last, at 6636."""
    first = [BOTH[0], step(6544, "s_barrier", release=release), BOTH[1]]
    second = [*other, step(release - 4, "s_barrier", release=release + apart)]
    return names(two(folder, first, second, simds=(0, 1)))


def test_a_barrier_is_followed_to_the_last_arriver_on_another_simd(tmp_path):
    found = at_barrier(tmp_path, [step(6600 + 4 * i, MUL) for i in range(5)])
    assert found["vector_work"] == 20
    assert found["barrier"] == 6644 - 6636
    assert sum(found.values()) == IDLE


def test_the_last_arriver_itself_is_not_followed(tmp_path):
    last = [BOTH[0], step(6600, "s_barrier", release=6604), BOTH[1]]
    early = [step(6300, "s_barrier", release=6604, after=400)]
    found = names(two(tmp_path, last, early, simds=(0, 1)))
    assert set(found) == {"barrier", "no_attempt"}
    assert sum(found.values()) == IDLE


def test_waves_that_are_released_apart_are_no_workgroup(tmp_path):
    work = [step(6600 + 4 * i, MUL) for i in range(5)]
    assert "vector_work" in at_barrier(tmp_path, work, apart=8)
    found = at_barrier(tmp_path / "apart", work, apart=12)
    assert "vector_work" not in found
    assert found["barrier"] >= 6644 - 6544


def test_an_mfma_of_the_last_arriver_is_matrix_elsewhere_while_that_pipe_is_busy(tmp_path):
    """On SIMD 1 one MFMA runs to 6592; the next is refused from 6584 to 6612."""
    found = at_barrier(tmp_path, [step(6560, MFMA), step(6612, MFMA, stall=6584)])
    assert found["matrix_elsewhere"] == 4 + (6592 - 6584) + 4
    assert found["mfma_refused"] == 6612 - 6592


def test_cycles_before_the_last_arrivers_start_are_barrier(tmp_path):
    waits = [BOTH[0], step(6544, "s_barrier", release=6640), BOTH[1]]
    late = [step(6636, "s_barrier", release=6640)]
    found = names(two(tmp_path, waits, late, simds=(0, 1), begin=(6000, 6600)))
    assert found["barrier"] == 6600 - 6544 + 6644 - 6636


def test_a_row_without_an_instruction_is_lost_and_so_is_its_gap(tmp_path):
    kernel = lines(MFMA, "s_mov_b32 s4, 0", MFMA, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(FIRST, 0).at(6600, 1).at(LAST, 2).at(6800, 3)
    timeline = planned.timeline(planned.write(tmp_path, kernel, [plan]))
    table = timeline.executed
    table.loc[table["time"] == 6600, "row"] = -1
    (view,) = views(charges(timeline), Windows(timeline, f"{FIRST}:{LAST}"))
    found = names(view)
    assert found["data_lost"] == 6604 - 6504 - 28
    assert found["no_attempt"] == LAST - 6604


def test_a_simd_without_an_mfma_has_no_cause(tmp_path):
    kernel = lines(MUL, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6600, 1)
    timeline = planned.timeline(planned.write(tmp_path, kernel, [plan]))
    found = charges(timeline)
    (view,) = views(found, Windows(timeline, "span"))
    assert set(names(view)) == {"after_last_mfma"}
    assert any("no MFMA was executed" in note for note in found.notes)
