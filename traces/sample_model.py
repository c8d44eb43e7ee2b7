"""A small issue model of one gfx950 CU: when do the instructions of a sample issue?

It knows as much as the samples need, by rules measured on public gfx950 captures:

- one instruction a wave and tick (4 cycles); older waves first; an MFMA beats a VALU;
- an MFMA holds the matrix pipe for its cycles, and vector, LDS and VMEM instructions of
  any wave wait until 8 cycles after its issue, packed F32 until its end + 12;
- a transcendental holds the vector port for 8 cycles, any other VALU and an MFMA for 4;
- two plain F32 VALUs of different waves pair up in one tick, unless an MFMA is running;
- one LDS, one VMEM, one scalar (SALU or SMEM) and one branch a tick and SIMD;
- inside a wave: VALU to LDS or VMEM 12, VALU that writes an SGPR to SALU 20, SALU to the
  branch that reads it 8, taken branch to the next instruction 20, s_nop N 4 * (N + 1);
- s_barrier releases all waves 4 cycles after the last arrival, the next instruction
  issues 4 later.

Not modelled, so not to be planted: instruction fetch, bank conflicts, queues, hazards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from tracekit.gfx9 import TICK, Inst
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate

SIMDS = 4
LONGEST_RUN = 200_000


class Kind(Enum):
    """What an instruction competes for."""

    MFMA = auto()
    PLAIN = auto()  # VALU that may pair with one of another wave
    ALONE = auto()  # VALU that may not
    PACKED = auto()
    TRANSCENDENTAL = auto()
    LDS = auto()
    VMEM = auto()
    SMEM = auto()
    SALU = auto()
    BRANCH = auto()
    INTERNAL = auto()  # s_nop, s_waitcnt, s_setprio: seen by their completion alone
    BARRIER = auto()
    ENDPGM = auto()


VALU = (Kind.PLAIN, Kind.ALONE, Kind.PACKED, Kind.TRANSCENDENTAL)


@dataclass(frozen=True)
class Opcode:
    """``busy``: cycles of its pipe; ``cost``: cycles until the wave goes on."""

    size: int
    type: Inst
    kind: Kind
    busy: int = TICK
    cost: int = TICK
    writes_sgpr: bool = False


OPCODES = {
    "v_mfma_f32_32x32x16_bf16": Opcode(8, Inst.VALU_MAI, Kind.MFMA, busy=32),
    "v_exp_f32_e32": Opcode(4, Inst.VALU_32, Kind.TRANSCENDENTAL, busy=8, cost=8),
    "v_fma_f32": Opcode(8, Inst.VALU_64, Kind.PLAIN),
    "v_mul_f32_e32": Opcode(4, Inst.VALU_32, Kind.PLAIN),
    "v_pk_fma_f32": Opcode(8, Inst.VALU_64, Kind.PACKED),
    "v_lshrrev_b32_e32": Opcode(4, Inst.VALU_32, Kind.ALONE),
    "v_readfirstlane_b32": Opcode(4, Inst.VALU_32, Kind.ALONE, writes_sgpr=True),
    "ds_read_b128": Opcode(8, Inst.LDS, Kind.LDS),
    "global_load_dwordx4": Opcode(8, Inst.FLAT_RD, Kind.VMEM),
    "global_store_dwordx4": Opcode(8, Inst.FLAT_WR, Kind.VMEM),
    "s_load_dwordx2": Opcode(8, Inst.SMEM_RD, Kind.SMEM),
    "s_mov_b32": Opcode(4, Inst.SALU_32, Kind.SALU),
    "s_sub_u32": Opcode(4, Inst.SALU_32, Kind.SALU),
    "s_cmp_lt_u32": Opcode(4, Inst.SALU_32, Kind.SALU),
    "s_cmp_lg_u32": Opcode(4, Inst.SALU_32, Kind.SALU),
    "s_cbranch_scc1": Opcode(4, Inst.JUMP, Kind.BRANCH),
    "s_cbranch_scc0": Opcode(4, Inst.JUMP, Kind.BRANCH),
    "s_waitcnt": Opcode(4, Inst.OTHER_MSG, Kind.INTERNAL),
    "s_nop": Opcode(4, Inst.OTHER_MSG, Kind.INTERNAL),
    "s_setprio": Opcode(4, Inst.OTHER_MSG, Kind.INTERNAL),
    "s_barrier": Opcode(4, Inst.OTHER_MSG, Kind.BARRIER),
    "s_endpgm": Opcode(4, Inst.OTHER_MSG, Kind.ENDPGM),
}

#: (slot of the wave, how often it came here before) -> is the branch taken?
Decision = Callable[[int, int], bool]


@dataclass(frozen=True)
class Line:
    """One instruction of a kernel, with what the model cannot know.

    ``label`` names it; ``target`` is the label that its branch goes to and ``taken``
    decides.  ``latency``: cycles from the issue of a load or store until s_waitcnt sees
    it done.  ``refused``: cycles for which it is refused although its port is free.
    """

    text: str
    label: str = ""
    target: str = ""
    taken: Decision | None = None
    latency: int = 0
    refused: int = 0

    @property
    def opcode(self) -> Opcode:
        return OPCODES[self.text.split()[0]]


@dataclass
class Step:
    """One executed instruction: which line of the kernel, and its record."""

    line: int
    record: Executed


@dataclass
class Wave:
    simd: int
    slot: int
    begin: int
    ready: int
    steps: list[Step] = field(default_factory=list)
    at: int = 0
    stall: int | None = None
    visits: dict[int, int] = field(default_factory=dict)
    issued: dict[Kind, int] = field(default_factory=dict)
    pending: dict[str, list[int]] = field(default_factory=lambda: {"vmcnt": [], "lgkmcnt": []})
    arrived: int | None = None
    done: bool = False


@dataclass
class Ports:
    """One SIMD's."""

    matrix_free: int = 0
    vector_free: int = 0
    last_mfma: int = -1000
    last_cycles: int = 0


class Machine:
    """Runs ``kernel`` on waves (simd, slot) that start at the given times."""

    def __init__(
        self, kernel: list[Line], starts: dict[tuple[int, int], int], first_issue: int
    ) -> None:
        self.kernel = kernel
        self.labels = {line.label: i for i, line in enumerate(kernel) if line.label}
        self.waves = [
            Wave(simd, slot, begin, begin + first_issue) for (simd, slot), begin in starts.items()
        ]
        self.ports = [Ports() for _ in range(SIMDS)]

    def run(self) -> list[Wave]:
        """All waves with their steps; raises RuntimeError after LONGEST_RUN cycles."""
        time = min(wave.ready for wave in self.waves)
        limit = time + LONGEST_RUN
        while not all(wave.done for wave in self.waves):
            if time > limit:
                raise RuntimeError(f"the kernel does not end within {LONGEST_RUN} cycles")
            for simd in range(SIMDS):
                self._tick(simd, time)
            self._release()
            time += TICK
        return self.waves

    def _tick(self, simd: int, time: int) -> None:
        ports = self.ports[simd]
        waiting = [w for w in self.waves if w.simd == simd and not w.done and w.arrived is None]
        for wave in waiting:
            self._internal(wave, time)
        ready = sorted((w for w in waiting if not w.done and w.ready <= time), key=_age)
        taken: dict[str, Wave] = {}
        for wave in sorted(ready, key=lambda w: self._line(w).opcode.kind is not Kind.MFMA):
            port = self._port(wave, time, ports, taken)
            if port:
                taken[port] = wave
                self._issue(wave, time, ports)
            elif wave.stall is None:
                wave.stall = time

    def _line(self, wave: Wave) -> Line:
        return self.kernel[wave.at]

    def _port(self, wave: Wave, time: int, ports: Ports, taken: dict[str, Wave]) -> str:
        """The port that the wave gets in this tick, or none."""
        line = self._line(wave)
        kind = line.opcode.kind
        if time < wave.ready + line.refused:
            return ""
        after_mfma = time - ports.last_mfma
        if kind is Kind.MFMA:
            free = time >= max(ports.matrix_free, ports.vector_free)
            return "vector" if free and "vector" not in taken else ""
        if kind in VALU:
            block = ports.last_cycles + 12 if kind is Kind.PACKED else 8
            if after_mfma < block:
                return ""
            if "vector" not in taken:
                return "vector" if time >= ports.vector_free else ""
            partner = taken["vector"].steps[-1]
            pair = kind is Kind.PLAIN and self.kernel[partner.line].opcode.kind is Kind.PLAIN
            return "pair" if pair and time >= ports.matrix_free and "pair" not in taken else ""
        if kind in (Kind.LDS, Kind.VMEM) and after_mfma < 8:
            return ""
        if kind in (Kind.BARRIER, Kind.ENDPGM):
            return f"wave {wave.slot}"
        port = "scalar" if kind in (Kind.SALU, Kind.SMEM) else kind.name
        return "" if port in taken else port

    def _issue(self, wave: Wave, time: int, ports: Ports) -> None:
        line = self._line(wave)
        opcode = line.opcode
        kind, stall = opcode.kind, wave.stall
        wave.stall = None
        wave.issued[kind] = time
        if kind is Kind.MFMA:
            ports.last_mfma, ports.last_cycles = time, opcode.busy
            ports.matrix_free, ports.vector_free = time + opcode.busy, time + TICK
        elif kind in VALU:
            ports.vector_free = time + opcode.busy
        if kind is Kind.BARRIER:
            wave.arrived = time
            wave.steps.append(Step(wave.at, barrier(time, time, stall)))
            return
        if kind is Kind.ENDPGM:
            wave.steps.append(Step(wave.at, endpgm(time, stall)))
            wave.done = True
            return
        if line.latency:
            counter = "vmcnt" if kind is Kind.VMEM else "lgkmcnt"
            wave.pending[counter].append(time + line.latency)
        inst, after, next_at = opcode.type, opcode.cost, wave.at + 1
        if kind is Kind.BRANCH:
            visit = wave.visits.get(wave.at, 0)
            wave.visits[wave.at] = visit + 1
            assert line.taken is not None
            if line.taken(wave.slot, visit):
                after, next_at = 20, self.labels[line.target]
            else:
                inst = Inst.NEXT
        wave.steps.append(Step(wave.at, Executed(inst, time, opcode.cost, stall)))
        self._advance(wave, next_at, time + after)

    def _internal(self, wave: Wave, time: int) -> None:
        """Finish s_nop, s_waitcnt and s_setprio: they need no port, only time."""
        while self._line(wave).opcode.kind is Kind.INTERNAL and wave.ready <= time:
            text = self._line(wave).text
            done = wave.ready
            if nop := re.fullmatch(r"s_nop (\d+)", text):
                done += TICK * int(nop[1])
            for counter, left in re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", text):
                ends = wave.pending[counter]
                finished = len(ends) - int(left)
                if finished > 0:
                    done = max(done, *ends[:finished])
                    del ends[:finished]
            wave.steps.append(Step(wave.at, immediate(done)))
            self._advance(wave, wave.at + 1, done + TICK)

    def _advance(self, wave: Wave, at: int, ready: int) -> None:
        """Go to line ``at``; own-wave distances may keep it longer than the issue cost."""
        last = self.kernel[wave.at].opcode
        wave.at = at
        kind = self.kernel[at].opcode.kind
        valu = max((wave.issued.get(k, -1000) for k in VALU), default=-1000)
        if kind in (Kind.LDS, Kind.VMEM):
            ready = max(ready, valu + 12, wave.issued.get(Kind.SALU, -1000) + 8)
        elif kind is Kind.BRANCH:
            ready = max(ready, wave.issued.get(Kind.SALU, -1000) + 8)
        elif kind is Kind.SALU and last.writes_sgpr:
            ready = max(ready, valu + 20)
        wave.ready = ready

    def _release(self) -> None:
        """A barrier opens when every wave that has not ended has arrived."""
        alive = [wave for wave in self.waves if not wave.done]
        if not alive or any(wave.arrived is None for wave in alive):
            return
        release = max(wave.arrived for wave in alive if wave.arrived is not None) + TICK
        for wave in alive:
            step = wave.steps[-1]
            step.record = step.record._replace(release=release)
            wave.arrived = None
            self._advance(wave, wave.at + 1, release + TICK)


def _age(wave: Wave) -> tuple[int, int]:
    return wave.begin, wave.slot
