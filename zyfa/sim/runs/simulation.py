"""`run`: one call from a code object and arguments to numbers, cycles and a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zyfa.sim.isa.program import Program
from zyfa.sim.runs import functional
from zyfa.sim.runs.execution import Timing, run_timed
from zyfa.sim.state import loader
from zyfa.sim.state.workgroup import Launch, triple
from zyfa.sim.timing.parameters import Parameters


@dataclass
class SimResult:
    """What a simulated dispatch did. All times are *simulated*.

    outputs: a copy of every buffer argument after the run (None for scalars). instructions:
    wave-instructions executed. cycles: shader cycles from the first wave's start to the last
    wave's end, None without timing.
    """

    outputs: list[np.ndarray | None]
    instructions: int
    cycles: int | None = None
    capture: Path | None = None
    timing: Timing | None = None
    notes: list[str] = field(default_factory=list)


_programs: dict[tuple[bytes, str], Program] = {}


def program_of(code_object: bytes | str | Path, kernel: str | None) -> Program:
    """The decoded program of a kernel; kept, because decoding costs more than a small run."""
    data = code_object if isinstance(code_object, bytes) else Path(code_object).read_bytes()
    code = loader.load(data)
    found = code.kernel(kernel)
    key = (data, found.name)
    if key not in _programs:
        if len(_programs) >= 32:
            _programs.pop(next(iter(_programs)))
        _programs[key] = Program(code, found)
    return _programs[key]


def run(  # noqa: PLR0913 - the simulator's one door, options by keyword
    code_object: bytes | str | Path,
    kernel: str | None = None,
    args: Sequence[object] = (),
    *,
    grid: int | Iterable[int] = 1,
    block: int | Iterable[int] = 64,
    workgroups: Iterable[int] | None = None,
    dynamic_lds: int = 0,
    timing: bool = False,
    parameters: Parameters | None = None,
    capture: str | Path | None = None,
    on_cu: Iterable[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SimResult:
    """Run `kernel` of a linked gfx950 code object.

    args: in the order of the metadata; numpy arrays are copied to simulated memory and, when
    writeable, updated in place at the end; numbers are packed by the argument's size; `bytes` are
    passed as they are. grid: workgroups (not workitems) per dimension; block: workitems of a
    workgroup. workgroups: the numbers to run (x fastest), all by default. progress: called with
    (workgroups done, total). timing: run on the model of one CU (`parameters`), which takes as
    many workgroups at a time as fit; otherwise instructions only count issue slots. capture: a
    folder for the run as a thread trace (implies timing). on_cu: of the workgroups, those that the
    timed CU gets; the others run functionally, as if on other CUs. Default: all.

    Raises SimError and its subclasses HazardError, PoisonError, RaceError, BoundsError and
    UnknownInstruction.
    """
    program = program_of(code_object, kernel)
    launch = Launch(program.kernel, args, triple(grid), triple(block), dynamic_lds)
    total = int(np.prod(launch.grid))
    numbers = list(range(total)) if workgroups is None else list(workgroups)
    program.map_segments(launch.memory)
    if timing or capture is not None:
        parameters = parameters or Parameters()
        mine = numbers if on_cu is None else list(on_cu)
        timed = run_timed(program, launch, mine, parameters, progress)
        elsewhere = [number for number in numbers if number not in set(mine)]
        for number in elsewhere:
            functional.run_workgroup(program, launch.workgroup(number))
        launch.copy_back()
        executed = sum(len(track.log) for track in timed.tracks)
        folder = None
        if capture is not None:
            from zyfa.sim.runs.capture import write

            folder = write(capture, program, launch, timed, parameters)
        return SimResult(launch.outputs(), executed, timed.cycles, folder, timed)
    executed = 0
    for done, number in enumerate(numbers):
        executed += functional.run_workgroup(program, launch.workgroup(number))
        if progress is not None:
            progress(done + 1, len(numbers))
    launch.copy_back()
    return SimResult(launch.outputs(), executed)
