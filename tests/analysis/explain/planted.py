"""Loops whose every issue is planned, and the advice that they get."""

from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.checks.findings import Quality
from tracekit.analysis.explain.pages import pages

MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
LATER_LOAD = "global_load_dwordx4 v[20:23], v[8:9], off"
READ = "ds_read_b128 v[24:27], v28"
WAIT = "s_waitcnt vmcnt(0)"
MUL = "v_mul_f32_e32 v40, v4, v4"
LATER_MUL = "v_mul_f32_e32 v41, v20, v20"
PACKED = "v_pk_fma_f32 v[44:45], v[46:47], v[48:49], v[50:51]"
GOOD = Quality.of([])


def looped(folder, *steps, turns=6, simds=(0,), slots=(0,), begin=6000, judged=GOOD):
    """An analysis of ``turns`` of a loop; a step is (text, cycles after the one before) or
    (text, cycles after, cycles refused).  Slot 1 runs half an iteration behind slot 0."""
    texts = [text for text, *_ in steps]
    kernel = lines("s_nop 0", f"loop: {texts[0]}", *texts[1:], "s_cbranch_scc1 -> loop", "s_endpgm")
    period = sum(step[1] for step in steps) + 4
    plans = []
    for simd in simds:
        for slot in slots:
            plan = Plan(kernel, simd, slot, 6000).at(6400, 0)
            time = begin + 500 + slot * (period // 2 // 4 * 4)
            for turn in range(turns):
                for at, (_, after, *refused) in enumerate(steps):
                    time += after
                    plan.at(time, at + 1, stall=time - refused[0] if refused else None)
                time += 4
                plan.at(time, len(steps) + 1, taken=turn < turns - 1)
            plans.append(plan.at(time + 60, len(steps) + 2))
    return Analysis(planned.timeline(planned.write(folder, kernel, plans)), judged=judged)


def page(analysis):
    """Its only page."""
    (found,) = pages(analysis)
    return found


def fired(analysis):
    """{rule: advice}."""
    return {each.rule: each for each in page(analysis).advice}


def texts(advice):
    """The instructions that an advice names."""
    return [ref.instruction for ref in advice.places]
