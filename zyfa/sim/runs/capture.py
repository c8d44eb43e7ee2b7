"""Write a timed run as rocprofv3 would leave it, and the ground truth beside it.

Files: `<pid>_<agent>_shader_engine_<se>_<dispatch>.att`, the code object, `meta.json` with
`simulated: true` and the parameters' hash, `ground_truth.csv` (every instruction, and its interval
on the matrix or vector pipe).
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tracekit.gfx9 import INST_IMMED, REALTIME_HZ, Inst
from tracekit.isa.classify import Expect, expected, strict_mask
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter
from zyfa.sim.isa.program import Program
from zyfa.sim.runs.execution import Timing
from zyfa.sim.state.workgroup import Launch
from zyfa.sim.timing.costs import BRANCH, INTERNAL, MATRIX, VALU, Cost
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.track import Issue, Track

PID, AGENT, DISPATCH, SE, CU = 1, 1, 1, 0, 1
CODE_OBJECT = 1
ORIGIN = 4096
"""Stream time of cycle 0, so that the dispatch records fit before it."""

SHADER_HZ = 2_400_000_000
REALTIME_EVERY = 24_000
FIELDS = ("simd", "slot", "wave", "row", "pc", "instruction", "attempt", "issue", "end", "pipe",
          "pipe_begin", "pipe_end")  # fmt: skip


def write(
    folder: str | Path, program: Program, launch: Launch, timing: Timing, parameters: Parameters
) -> Path:
    """Write the capture into `folder` (made if absent); returns the folder.

    Raises ValueError when the run does not fit the format (more than 10 waves in a SIMD's slots).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    slots = wave_slots(timing.tracks)
    writer = StreamWriter(target_cu=CU, se=SE)
    _preamble(writer, program, launch)
    for track in timing.tracks:
        records = [_executed(program, timing.costs[issue.row], issue) for issue in track.executed()]
        begin = ORIGIN + track.start
        write_wave(writer, track.simd, slots[track.number], begin, records)
        for when, value in track.driver.markers:
            writer.userdata(ORIGIN + when, track.simd, slots[track.number], value)
    last = ORIGIN + timing.cycles + 256
    for time in range(ORIGIN, last + REALTIME_EVERY, REALTIME_EVERY):
        writer.realtime_pair(time, 1_000_000 + time * REALTIME_HZ // SHADER_HZ)
    stem = f"{PID}_{AGENT}_shader_engine_{SE}_{DISPATCH}.att"
    (folder / stem).write_bytes(writer.finish())
    (folder / f"{PID}_gfx950_code_object_id_{CODE_OBJECT}.out").write_bytes(program.code.data)
    (folder / "meta.json").write_text(json.dumps(metadata(program, parameters), indent=1) + "\n")
    _ground_truth(folder / "ground_truth.csv", program, timing, slots)
    return folder


def metadata(program: Program, parameters: Parameters) -> dict[str, object]:
    """What meta.json says about the run."""
    return {
        "simulated": True,
        "simulator": "zyfa.sim",
        "arch": parameters.arch,
        "kernel": program.kernel.name,
        "parameters": parameters.digest,
        "load_base": {str(CODE_OBJECT): program.bias},
    }


def _preamble(writer: StreamWriter, program: Program, launch: Launch) -> None:
    size = max(address + len(data) for address, data in program.code.segments)
    writer.agent_info(ORIGIN - 1024, realtime_khz=REALTIME_HZ // 1000)
    writer.code_object_load(
        ORIGIN - 960, CODE_OBJECT, address=program.bias, size=size, from_start=True
    )
    writer.dispatch(ORIGIN - 512, entry=program.bias + program.kernel.entry, threads=launch.block)


def wave_slots(tracks: list[Track]) -> dict[int, int]:
    """Wave slot of each track: the lowest free one of its SIMD at its start."""
    free_at: dict[tuple[int, int], int] = {}
    slots = {}
    for track in sorted(tracks, key=lambda t: t.age):
        slot = 0
        while free_at.get((track.simd, slot), -1) >= track.start:
            slot += 1
        free_at[track.simd, slot] = track.finish + 64
        slots[track.number] = slot
    return slots


def _executed(program: Program, cost: Cost, issue: Issue) -> Executed:
    inst = program.instructions[issue.row]
    time = ORIGIN + issue.issued
    stall = ORIGIN + issue.ready if issue.issued > issue.ready else None
    if cost.port == INTERNAL:
        if cost.internal == "barrier":
            return barrier(ORIGIN + issue.ready, ORIGIN + issue.end - 4)
        if cost.internal == "end":
            return endpgm(time)
        if strict_mask(expected(inst.text), inst.size, inst.text) >> INST_IMMED & 1:
            return immediate(ORIGIN + issue.end - 4)
        return Executed(Inst.OTHER_MSG, time)
    next_pc = None
    if cost.port == BRANCH:
        kind = Inst.JUMP if issue.taken else Inst.NEXT
        if expected(inst.text) is Expect.PC:
            kind = Inst.PC
        return Executed(kind, time, stall=stall, next_pc=next_pc)
    mask = strict_mask(expected(inst.text), inst.size, inst.text) & ~(1 << INST_IMMED)
    kind = Inst((mask & -mask).bit_length() - 1)
    return Executed(kind, time, cost=issue.end - issue.issued, stall=stall)


def _ground_truth(
    path: Path, program: Program, timing: Timing, slots: dict[int, int]
) -> None:  # fmt: skip
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(FIELDS)
        for track in timing.tracks:
            for issue in track.executed():
                inst, cost = program.instructions[issue.row], timing.costs[issue.row]
                begin = ORIGIN + issue.issued
                pipe: tuple[object, ...] = ("", "", "")
                if cost.port == MATRIX:
                    pipe = "matrix", begin, begin + cost.cycles
                elif cost.port == VALU:
                    pipe = "vector", begin, begin + cost.hold
                rows.writerow((
                    track.simd, slots[track.number], track.number, issue.row,
                    f"0x{inst.address:x}", inst.text, ORIGIN + issue.ready,
                    ORIGIN + (issue.end - 4 if cost.port == INTERNAL else issue.issued),
                    ORIGIN + issue.end, *pipe,
                ))  # fmt: skip
