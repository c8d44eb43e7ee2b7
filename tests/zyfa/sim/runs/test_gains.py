"""Gains of ``explain`` against simulated kernels in which the cause is really gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import tracekit
from tests.support.causes import kernel, loads, pairs, reads, vector
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.explain.edits import Edit, NoReplay
from tracekit.analysis.explain.gains import gains as explained
from tracekit.analysis.explain.gains import zeroed
from tracekit.analysis.explain.pages import ordered
from tracekit.analysis.explain.whatif import asked
from zyfa.sim import run
from zyfa.sim.runs.gains import gains

TRACES = Path(__file__).parents[4] / "traces"
LONG = "v_mfma_f32_32x32x2_f32 v[32:47], v0, v8, v[32:47]"
LOOP = "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[8:11], v[32:47]"


@pytest.fixture
def simulated(assemble, tmp_path):
    """`simulated(body, waves)` -> what is known of the loop around the body."""

    def simulate(body, waves=4):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        code = assemble(kernel(body), buffers=1, lds=65536)
        run(code, None, [np.zeros(1 << 16, np.uint32)], block=64 * waves, capture=folder)
        (found,) = ordered(Analysis(tracekit.open(folder).timeline()))
        return found

    return simulate


def iteration(evidence):
    """Mean cycles."""
    return evidence.iteration


def header(evidence):
    loops = evidence.analysis.causes.loops
    return loops.bodies[loops.dominant[evidence.dispatches[0]]][0]


@pytest.mark.slow
def test_a_cause_gains_what_the_kernel_without_it_gains(simulated):
    """At most 2 % of an iteration more than is said, and not half of it."""
    over, ratios, all_pairs = [], [], pairs()
    for pair in all_pairs:
        evidence = simulated(pair.with_cause, pair.waves)
        before, after = iteration(evidence), iteration(simulated(pair.without, pair.waves))
        said = explained(evidence).causes[pair.cause].gain_cycles
        if before - after > said + 0.02 * before:
            over.append(pair.name)
        if evidence.share(pair.cause) >= 0.1 and before > after:
            ratios.append(said / (before - after))
    assert len(all_pairs) >= 50
    assert len(over) <= 0.04 * len(all_pairs), over
    assert len(ratios) >= 30
    assert median(ratios) <= 2


def test_a_wait_that_ended_before_the_bubble_is_a_gain_without_a_share(simulated):
    body = f"{LONG}\n{reads(1)}\n{{}}\n{vector(20)}"
    evidence = simulated(body.format("s_waitcnt lgkmcnt(0)"))
    assert evidence.share("lgkmcnt_wait") < 0.02
    saved = iteration(evidence) - iteration(simulated(body.format("")))
    said = explained(evidence).causes["lgkmcnt_wait"].gain_cycles
    assert saved > 0.2 * iteration(evidence)
    assert said == pytest.approx(saved, abs=0.05 * iteration(evidence))


@pytest.mark.parametrize("name", ["zyfa_gap_exact", "zyfa_pingpong_lean"])
def test_an_edit_of_nothing_changes_nothing(name):
    (evidence,) = ordered(Analysis(tracekit.open(TRACES / name).timeline()))
    found = gains(evidence.timeline, evidence.dispatches, header(evidence), [Edit()])
    assert found.changed[0] == found.unchanged
    assert found.unchanged.cycles == pytest.approx(found.recorded_cycles, rel=0.001)
    assert found.error < 0.001


@pytest.mark.parametrize("change", ["loads of {wait} one iteration earlier", "vmcnt(1) at {wait}"])
def test_a_load_an_iteration_earlier_gains_what_the_kernel_that_does_so_gains(simulated, change):
    body = f"{LOOP}\n{loads(1)}\ns_waitcnt vmcnt({{}})\n{vector(8)}"
    evidence, ahead = simulated(body.format(0)), simulated(body.format(1))
    listing = evidence.timeline.listing
    wait = next(row for row in range(len(listing)) if listing.text[row] == "s_waitcnt vmcnt(0)")
    wish = asked(evidence, change.format(wait=hex(listing.vaddr[wait])), zeroed)
    said = explained(evidence, [wish]).what_if[0].gain
    saved = iteration(evidence) - iteration(ahead)
    assert saved > 100
    assert said.gain_cycles == pytest.approx(saved, abs=0.1 * iteration(evidence))


def test_an_s_nop_is_taken_out(simulated):
    body = f"{LOOP}\n{{}}\n{vector(4)}"
    evidence, without = simulated(body.format("s_nop 15")), simulated(body.format(""))
    listing = evidence.timeline.listing
    nop = next(row for row in range(len(listing)) if listing.text[row] == "s_nop 15")
    wish = asked(evidence, f"no s_nop at {listing.vaddr[nop]:#x}", zeroed)
    said = explained(evidence, [wish]).what_if[0].gain
    assert said.gain_cycles == pytest.approx(iteration(evidence) - iteration(without), abs=4)


def test_without_a_loop_waves_are_compared(simulated):
    evidence = simulated(LOOP)
    found = gains(evidence.timeline, evidence.dispatches, -1, [Edit()])
    assert (found.unit, found.units) == ("wave", 4)


def test_an_architecture_without_a_model_is_refused():
    timeline = tracekit.open(TRACES / "pingpong").timeline()
    other = timeline.with_costs(replace(timeline.arch, name="gfx90a"))
    with pytest.raises(NoReplay, match="no timing model of gfx90a"):
        gains(other, [0], -1, [])


def test_waves_of_other_dispatches_are_not_replayed():
    timeline = tracekit.open(TRACES / "pingpong").timeline()
    with pytest.raises(NoReplay, match="no wave"):
        gains(timeline, [99], -1, [])
