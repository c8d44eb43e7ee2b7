"""Repeated runs of one kernel whose memory latency varies: equal but for noise."""

import random

from tests.support import planned
from traces import generate
from traces.sample_model import Kind, Line, Machine

ITERATIONS = 40


class _Jittery(Machine):
    """Each load takes longer by an exponential time; ``random`` is its source."""

    def __init__(self, kernel, starts, first_issue, source, mean):
        super().__init__(kernel, starts, first_issue)
        self._random, self._mean = source, mean

    def _issue(self, wave, time, ports):
        line = self._line(wave)
        super()._issue(wave, time, ports)
        if line.latency and line.opcode.kind is Kind.VMEM:
            late = 4 * round(self._random.expovariate(1 / self._mean) / 4)
            wave.pending["vmcnt"][-1] += late


def kernel(*, latency=300):
    """A load, its wait, four MFMAs with vector work, a barrier: 40 times."""
    taken = planned.loop_taken(ITERATIONS)
    return [
        Line("s_mov_b32 s0, s1"),
        Line("global_load_dwordx4 v[0:3], v4, s[0:1]", label="loop", latency=latency),
        Line("s_waitcnt vmcnt(0)"),
        *[Line("v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[4:7], v[16:31]")] * 4,
        Line("v_mul_f32_e32 v8, v9, v10"),
        Line("s_barrier"),
        Line("s_sub_u32 s0, s0, 1"),
        Line("s_cbranch_scc1 loop", target="loop", taken=taken),
        Line("s_endpgm"),
    ]


def run(folder, seed, *, latency=300, mean=120):
    """A capture of one run: two waves on each of two SIMDs."""
    lines = kernel(latency=latency)
    starts = {
        (simd, slot): generate.FIRST_START + generate.START_GAP * (slot * 2 + simd)
        for slot in range(2)
        for simd in range(2)
    }
    waves = _Jittery(lines, starts, generate.LAUNCH, random.Random(seed), mean).run()
    return planned.write(folder, lines, waves, name="jitter")
