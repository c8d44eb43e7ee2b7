"""Windows: the steady state of planned loops, and where there is none."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.simds import each_simd
from tracekit.analysis.model.window import UnknownWindow, Windows, check
from tracekit.analysis.occupancy import occupancy
from traces import generate

LOOP = lines(
    "loop: v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "s_cbranch_scc1 -> loop",
    "s_endpgm",
)


def turns(slot, begin, first, count, period=100, end=None):
    """A wave that runs ``count`` turns of LOOP from ``first`` on."""
    plan = Plan(LOOP, 0, slot, begin)
    for turn in range(count):
        time = first + period * turn
        plan.at(time, 0).at(time + 8, 1, taken=turn < count - 1)
    return plan.at(end or first + period * count, 2)


def steady(folder, *plans):
    timeline = planned.timeline(planned.write(folder, LOOP, plans))
    (simd,) = each_simd(timeline)
    return Windows(timeline, "steady").of(simd)


def pairs(window):
    return list(zip(window.intervals.start.tolist(), window.intervals.end.tolist(), strict=True))


def test_one_wave_is_steady_from_its_second_to_its_last_iteration(tmp_path):
    window = steady(tmp_path, turns(0, 6000, 6500, 5))
    assert (window.label, window.note) == ("steady", "")
    assert pairs(window) == [(6600, 6900)]
    assert window.cycles == 300


def test_every_resident_wave_must_be_steady(tmp_path):
    window = steady(tmp_path, turns(0, 6000, 6500, 8), turns(1, 6016, 6740, 5))
    assert pairs(window) == [(6840, 7140)]


def test_waves_after_each_other_leave_a_gap(tmp_path):
    window = steady(tmp_path, turns(0, 6000, 6500, 4), turns(0, 7100, 7500, 5))
    assert pairs(window) == [(6600, 6800), (7600, 7900)]
    assert (window.start, window.end, window.cycles) == (6600, 7900, 500)


@pytest.mark.parametrize(("count", "label"), [(2, "span"), (3, "steady")])
def test_below_three_iterations_it_is_the_span_and_says_so(tmp_path, count, label):
    window = steady(tmp_path, turns(0, 6000, 6500, count))
    assert window.label == label
    assert ("needs 3 iterations" in window.note) == (label == "span")


def test_waves_that_are_never_steady_together_fall_back_too(tmp_path):
    window = steady(tmp_path, turns(0, 6000, 6500, 4, end=8200), turns(1, 6016, 7500, 4, end=8300))
    assert window.label == "span"
    assert "never all in the middle" in window.note


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
def test_the_samples_are_steady_between_second_and_last_header(name):
    sample = generate.build(name)
    head = [line.label for line in sample.kernel].index("loop")
    timeline = tracekit.open(generate.ROOT / name).timeline()
    for simd in each_simd(timeline):
        heads = [
            [s.record.time for s in wave.steps if s.line == head]
            for wave in sample.waves
            if wave.simd == simd.simd
        ]
        window = Windows(timeline, "steady").of(simd)
        assert window.start == max(times[1] for times in heads)
        assert window.end == min(times[-1] for times in heads)


@pytest.mark.parametrize("name", ["", "spam", "12", "5:", "marker"])
def test_what_is_no_window_is_refused(name):
    with pytest.raises(UnknownWindow, match="unknown window"):
        check(name)


@pytest.mark.parametrize(("name", "edges"), [("6600:6700", (6600, 6700)), ("0%:50%", (6500, 6752))])
def test_ranges_are_cycles_or_shares_of_the_span(tmp_path, name, edges):
    timeline = planned.timeline(planned.write(tmp_path, LOOP, [turns(0, 6000, 6500, 5)]))
    (simd,) = each_simd(timeline)
    window = Windows(timeline, name).of(simd)
    assert (window.start, window.end) == edges


def test_a_range_beyond_the_trace_is_told(tmp_path):
    timeline = planned.timeline(planned.write(tmp_path, LOOP, [turns(0, 6000, 6500, 5)]))
    inside = occupancy(timeline, "10%:90%")
    assert not any("beyond" in note for note in inside.notes)
    outside = occupancy(timeline, "99999999:999999999")
    assert any("reaches beyond what some SIMD ran" in note for note in outside.notes)
    assert any("no MFMA was issued in the window (of " in note for note in outside.notes)
