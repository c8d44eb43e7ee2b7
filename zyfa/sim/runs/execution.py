"""Execution-driven timing: waves run on the CU model and compute as they issue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tracekit.isa.pipes import cost as pipe_cost
from zyfa.sim.errors import SimError
from zyfa.sim.isa.program import Program
from zyfa.sim.runs import functional
from zyfa.sim.state.wave import Wave
from zyfa.sim.state.workgroup import Launch, Workgroup
from zyfa.sim.timing.costs import Cost
from zyfa.sim.timing.cu import Cu
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.track import Driver, Track

WAVES_PER_SIMD = 8
VGPRS_PER_SIMD = 512
LDS_BYTES = 160 * 1024


def cost_of(text: str, parameters: Parameters) -> Cost:
    """The timing facts of `text`; MFMA cycles come from tracekit's pipe tables."""
    cycles = 0
    if text.startswith(("v_mfma", "v_smfmac")):
        cycles = pipe_cost(parameters.arch, text).cycles or 0
    return Cost(text, parameters, cycles)


class CostTable(dict[int, Cost]):
    """Row of a program to its cost under some parameters, found when first asked for."""

    def __init__(self, program: Program, parameters: Parameters):
        super().__init__()
        self.program, self.parameters = program, parameters

    def __missing__(self, row: int) -> Cost:
        self[row] = found = cost_of(self.program.instructions[row].text, self.parameters)
        return found


class Execution(Driver):
    """Instructions come from the wave's own program counter."""

    def __init__(self, program: Program, wave: Wave, costs: CostTable):
        self.program, self.wave, self.costs = program, wave, costs
        wave.next = program.index_of(program.kernel.entry)
        self.early: bool | None = None
        self.markers: list[tuple[int, int]] = []

    def current(self) -> tuple[int, Cost] | None:
        if self.wave.ended:
            return None
        row = self.wave.next
        return row, self.costs[row]

    def issue(self, now: int) -> bool:
        if self.early is not None:
            taken, self.early = self.early, None
            return taken
        wave = self.wave
        inst = self.program.instructions[wave.next]
        wave.clock = now
        functional.issue(wave, inst, now)
        kind = self.costs[inst.index].internal
        if kind == "end":
            functional.finish(wave)
        elif kind == "barrier":
            wave.epoch += 1
        elif kind == "wait":
            functional.wait(wave, inst)
        elif wave.executed > functional.LIMIT:
            raise SimError(f"wave {wave.index} does not end (at {inst.where})")
        elif inst.syntax.mnemonic == "s_ttracedata":
            self.markers.append((now, wave.s[124]))
        return wave.next != inst.index + 1

    def execute(self, now: int) -> None:
        """Execute the current instruction before `issue` accounts for it."""
        self.early = self.issue(now)


class ExecutionCu(Cu):
    """A CU whose LDS accesses have addresses, so that bank conflicts are counted and cost time."""

    def __init__(self, parameters: Parameters):
        super().__init__(parameters)
        self.conflict_passes = 0
        self.passes: dict[tuple[str, bytes], int] = {}
        p = parameters
        self.phase = {
            4: p.lds_phase_lanes_b32,
            8: p.lds_phase_lanes_b64,
            16: p.lds_phase_lanes_b128,
        }

    def conflict_cycles(self, track: Track, now: int) -> int:
        cost = track.cost
        driver = track.driver
        assert isinstance(driver, Execution)
        driver.execute(now)
        if not cost.width or driver.wave.addresses is None:
            return 0
        addresses = driver.wave.addresses
        # Conflicts do not change when the whole pattern moves by a multiple of all banks.
        span = 4 * self.p.lds_banks
        key = (cost.lds_class, ((addresses - addresses[:1] // span * span).tobytes()))
        extra = self.passes.get(key)
        if extra is None:
            tr = cost.lds_class == "ds_read_b64_tr"
            phase = self.p.lds_phase_lanes_b64_tr if tr else self.phase[cost.width]
            extra = conflicts(addresses, cost.width, phase, self.p.lds_banks)
            self.passes[key] = extra
        self.conflict_passes += extra
        return extra * self.p.lds_conflict_cycles


def conflicts(addresses: np.ndarray, width: int, phase: int, banks: int) -> int:
    """Extra passes of an LDS access over its conflict-free count.

    addresses: int64 byte addresses of the active lanes; width: bytes per lane; phase: lanes that
    are served together. Lanes that read the same dword share it.
    """
    extra = 0
    dwords = width // 4
    step = np.arange(dwords)
    for first in range(0, len(addresses), phase):
        words = np.unique((addresses[first : first + phase, None] >> 2) + step)
        load = np.bincount(words % banks, minlength=banks).max()
        ideal = -(-len(words) // banks)
        extra += max(int(load) - ideal, 0)
    return extra


@dataclass
class Timing:
    """Result of a timed run. Cycles are *simulated*.

    tracks: one per wave in launch order with its `log`; matrix: per SIMD (begin, end, track, row)
    of every MFMA on the pipe; costs: by row. conflicts: extra LDS passes by bank conflicts.
    """

    cycles: int
    tracks: list[Track]
    costs: CostTable
    matrix: list[list[tuple[int, int, Track, int]]]
    conflicts: int = 0
    groups: list[Workgroup] = field(default_factory=list)


def residents(launch: Launch, waves: int) -> int:
    """Workgroups that fit on one CU: by wave slots, registers and LDS."""
    kernel = launch.kernel
    by_registers = VGPRS_PER_SIMD // max(kernel.vgprs, 8)
    fit = 4 * min(WAVES_PER_SIMD, by_registers) // waves
    if launch.lds:
        fit = min(fit, LDS_BYTES // launch.lds)
    return max(fit, 1)


def run_timed(
    program: Program,
    launch: Launch,
    numbers: list[int],
    parameters: Parameters,
    progress: Callable[[int, int], None] | None = None,
) -> Timing:
    """Run workgroups on one CU: as many at a time as fit, the next when one ends."""
    cu = ExecutionCu(parameters)
    queue = list(numbers)
    tracks: list[Track] = []
    groups: list[Workgroup] = []
    alive: dict[int, int] = {}
    home: dict[Track, int] = {}
    costs = CostTable(program, parameters)
    load = [0] * 4

    def start(at: int) -> None:
        group = launch.workgroup(queue.pop(0))
        groups.append(group)
        members, places = [], []
        first = load.index(min(load))
        for wave in group.waves:
            driver = Execution(program, wave, costs)
            track = Track(driver, parameters, len(tracks), at + 4 * wave.index)
            tracks.append(track)
            members.append(track)
            places.append((first + wave.index) % 4)
            home[track] = group.number
            load[places[-1]] += 1
        alive[group.number] = len(members)
        cu.place(members, places)

    def ended(track: Track) -> None:
        number = home[track]
        load[track.simd] -= 1
        alive[number] -= 1
        if alive[number] == 0:
            if progress is not None:
                progress(sum(not n for n in alive.values()), len(numbers))
            if queue:
                start(track.finish + parameters.workgroup_launch)

    cu.on_end = ended
    with np.errstate(all="ignore"):
        count = residents(launch, -(-int(np.prod(launch.block)) // 64))
        for _ in range(min(count, len(queue))):
            start(0)
        cu.run()
    end = max(track.finish for track in tracks)
    return Timing(
        end, tracks, costs, [simd.matrix for simd in cu.simds], cu.conflict_passes, groups
    )
