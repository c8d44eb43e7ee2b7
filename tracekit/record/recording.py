"""Recording a thread trace with rocprofv3: its command line, and another CU when one is empty.

Parameters as of rocprofv3 1.x (ROCm 7): "Using thread trace" of AMD's rocprofiler-sdk
documentation, and ``rocprofv3 --help``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import TracekitError

if TYPE_CHECKING:
    from tracekit.tables.timeline import Timeline

#: CUs that --att-target-cu may name.
CUS = 16
#: Bytes of trace buffer that rocprofv3 accepts: 1 MiB to 2 GiB.
BUFFER = (1 << 20, 2 << 30)
#: Lines of rocprofv3's output that are kept to quote from.
KEPT = 200
#: What rocprofv3 says where it cannot load the decoder library: "rocprof-trace-decoder library
#: path not found in [...]" (its launcher), "Error loading decoder: N" (its library).
_DECODER = re.compile(r"trace-decoder|loading decoder", re.IGNORECASE)
#: Engines of an XCD on MI300 and MI350: a hexadecimal digit of the mask each.
_ENGINES = 4
#: Masks by name, for the 8 XCDs of an MI300X or MI355X.
MASKS = {"one": 0x1, "xcd": 0xF, "each-xcd": 0x1111_1111, "all": 0xFFFF_FFFF}


@dataclass(frozen=True)
class Recording:
    """What to trace; None leaves rocprofv3's default.  ``more``: further arguments for it."""

    command: tuple[str, ...]
    cu: int = 1
    kernel: str | None = None
    iterations: str | None = None  # "[first-last]"
    se_mask: int = 0x1
    simd_mask: int = 0xF
    buffer_bytes: int | None = None
    counters: tuple[str, ...] = ()
    counter_period: int = 3
    library: str | None = None
    more: tuple[str, ...] = ()

    def options(self, cu: int, folder: Path) -> list[tuple[list[str], str]]:
        """Groups of arguments, each with what it is for."""
        groups = [
            (["--att"], "thread trace"),
            (["--att-target-cu", str(cu)], "the CU of each engine whose instructions are traced"),
            (["--att-shader-engine-mask", hex(self.se_mask)], _engines(self.se_mask)),
            (["--att-simd-select", hex(self.simd_mask)], _simds(self.simd_mask)),
        ]
        if self.buffer_bytes is not None:
            what = "bytes of trace buffer, shared by all engines; what does not fit is lost"
            groups.append((["--att-buffer-size", str(self.buffer_bytes)], what))
        if self.counters:
            names, period = " ".join(self.counters), str(self.counter_period)
            groups.append((["--att-perfcounters", names], "SQ counters in the trace (gfx9)"))
            groups.append((["--att-perfcounter-ctrl", period], "how seldom they are read, 1-32"))
        if self.library is not None:
            groups.append((["--att-library-path", self.library], "folder of AMD's decoder library"))
        if self.kernel is not None:
            groups.append((["--kernel-include-regex", self.kernel], "kernels to trace"))
        if self.iterations is not None:
            what = "which launches of each kernel, from 1 (by default the first alone)"
            groups.append((["--kernel-iteration-range", self.iterations], what))
        groups.append((["--kernel-trace"], "names and times of the dispatches beside the trace"))
        groups.append((["--output-format", "csv"], "as text"))
        groups.append((["-d", str(folder)], "where it goes"))
        if self.more:
            groups.append((list(self.more), "as given with --rocprofv3"))
        return groups

    def line(self, program: str, cu: int, folder: Path) -> list[str]:
        """The command line that traces CU ``cu`` into ``folder``."""
        arguments = [word for words, _ in self.options(cu, folder) for word in words]
        return [program, *arguments, "--", *self.command]


def _engines(mask: int) -> str:
    bits = [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
    dies = sorted({bit // _ENGINES for bit in bits})
    named = ", ".join(map(str, bits))
    return (
        f"shader engines {named}: on MI300 and MI350 a hexadecimal digit is an XCD "
        f"(here XCD {', '.join(map(str, dies))})"
    )


def _simds(mask: int) -> str:
    named = ", ".join(str(bit) for bit in range(4) if mask >> bit & 1)
    return f"SIMDs {named} (a bit mask on gfx9; an index on RDNA)"


@dataclass(frozen=True)
class Attempt:
    """One run of rocprofv3: where its output is, and what was traced there."""

    cu: int
    folder: Path
    timelines: list[Timeline]

    @property
    def waves(self) -> int:
        return sum(len(timeline.waves) for timeline in self.timelines)

    @property
    def busy_cus(self) -> list[int]:
        """CUs that ran waves by the occupancy records, busiest first."""
        counts: dict[int, int] = {}
        for timeline in self.timelines:
            for cu in timeline.occupancy["cu"].tolist():
                counts[cu] = counts.get(cu, 0) + 1
        return sorted(counts, key=lambda cu: (-counts[cu], cu))


@dataclass(frozen=True)
class Effort:
    """``runs`` that are wanted, each after at most ``attempts`` to meet a wave."""

    attempts: int
    runs: int


def repeated(
    recording: Recording, program: str, output: Path, effort: Effort, tell: Callable[[str], None]
) -> list[Attempt]:
    """Recordings, each in a folder of its own when there are several; the later ones
    begin with the CU on which the first met waves."""
    if effort.runs == 1:
        return [record(recording, program, output, effort.attempts, tell)]
    _fresh(output)
    found: list[Attempt] = []
    for run in range(1, effort.runs + 1):
        tell(f"run {run} of {effort.runs}")
        first = replace(recording, cu=found[0].cu) if found else recording
        found.append(record(first, program, output / f"run{run}", effort.attempts, tell))
    return found


def _fresh(output: Path) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise TracekitError(f"{output}: exists and is not empty; name another folder with -o")


def record(
    recording: Recording, program: str, output: Path, attempts: int, tell: Callable[[str], None]
) -> Attempt:
    """Run rocprofv3 until the traced CU has waves, at most ``attempts`` times.

    Each attempt writes to ``output/cu<N>``.  ``tell`` gets a line about each run.  Raises
    TracekitError when the output exists, rocprofv3 cannot run or leaves no trace, or no
    attempt met a wave.
    """
    _fresh(output)
    tried: list[int] = []
    cu = recording.cu
    while True:
        tried.append(cu)
        attempt = _attempt(recording, program, cu, output / f"cu{cu}", tell)
        if attempt.waves:
            return attempt
        tell(f"CU {cu}: no wave ran there")
        # Those that ran waves first, then any other.
        others = [cu for cu in (*attempt.busy_cus, *range(CUS)) if cu not in tried]
        if len(tried) >= attempts or not others:
            break
        cu = others[0]
    raise TracekitError(
        f"no wave on CU {', '.join(map(str, tried))} of the engines in mask "
        f"{recording.se_mask:#x}: try more engines (--se-mask), another --cu, or a larger grid"
    )


def _attempt(
    recording: Recording, program: str, cu: int, folder: Path, tell: Callable[[str], None]
) -> Attempt:
    from tracekit.build import open_all

    folder.mkdir(parents=True, exist_ok=True)
    tell(f"CU {cu}: recording to {folder}")
    code, said = _run(recording.line(program, cu, folder))
    failed = f"rocprofv3 ended with {code}" if code else ""
    if not any(folder.rglob("*.att")):
        raise TracekitError(f"{failed or 'rocprofv3 succeeded'} {_nothing(folder, said)}")
    if failed:
        tell(f"{failed}; reading what it left")
    return Attempt(cu, folder, [capture.timeline() for capture in open_all(folder)])


def _run(line: list[str]) -> tuple[int, list[str]]:
    """Exit code of a command, and the last lines it wrote.

    They go to stderr as they come: the program's own output is not the result of this command.
    """
    said: deque[str] = deque(maxlen=KEPT)
    try:
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            for text in process.stdout or ():
                said.append(text.strip())
                sys.stderr.write(text)
                sys.stderr.flush()
    except OSError as error:
        raise TracekitError(f"{line[0]}: {error.strerror}") from None
    return process.returncode, list(said)


def _nothing(folder: Path, said: list[str]) -> str:
    """Why rocprofv3 left no trace: by its own words where they tell, else what to check."""
    for text in reversed(said):
        if _DECODER.search(text):
            return (
                f'and left no thread trace: it says "{text}". Give the folder of AMD\'s decoder '
                "library with --library-path; tracekit doctor tells whether one is found and "
                "where to get it"
            )
    return (
        f"and left no thread trace in {folder}: does a kernel match --kernel, and does it run as "
        "often as --iterations says?"
    )
