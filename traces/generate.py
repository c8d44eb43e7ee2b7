"""Write the synthetic samples: ``python -m traces.generate [--check] [NAME ...]``.

Each sample is one stream that the encoder writes from a kernel (``sample_kernels``) and
an issue model (``sample_model``), with its listing and the numbers that any correct
analysis must find.  Nothing here is random: the same source writes the same bytes.
``--check`` writes nothing and exits 1 when a file on disk differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from tracekit.sqtt.layout import Misc
from tracekit.sqtt.serializer import ClockModel
from tracekit.sqtt.wave_writer import write_wave
from tracekit.sqtt.writer import StreamWriter
from traces.sample_kernels import ITERATIONS, KERNELS
from traces.sample_model import SIMDS, VALU, Kind, Line, Machine, Wave

ROOT = Path(__file__).resolve().parent

SE, CU = 0, 1
PID, AGENT, DISPATCH = 1000, 1, 1
CODE_OBJECT, LOAD_ADDRESS, LOAD_SIZE = 1, 0x7F10_0000_0000, 0x2000
ENTRY = 0x1700
#: SIMDs in the order in which the hardware hands them waves.
SIMD_ORDER = (3, 0, 2, 1)
FIRST_START, START_GAP, LAUNCH = 6000, 16, 480
#: The shader clock makes this many cycles in one tick of the 100 MHz realtime clock.
CYCLES_PER_REALTIME = 24
REALTIME_KHZ, REALTIME = 100_000, 0x7194_F4F6_6933
CLOCKS = {
    "pingpong": ClockModel(base=0x0245_ADF8_0000, phase=1, subticks=(3, 0, 2)),
    "lockstep": ClockModel(base=0x0245_AE10_0003, phase=2, subticks=(1, 2)),
}
HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"

ABOUT = {
    "pingpong": "the two waves of a SIMD alternate: one runs its MFMAs while the other does "
    "its vector work, because one of them passes a barrier more before the loop",
    "lockstep": "the two waves of a SIMD do the same at the same time: MFMAs, barrier, vector "
    "work, barrier; the matrix pipe is idle while both do vector work",
}


@dataclass(frozen=True)
class Sample:
    """A kernel and its executed waves."""

    name: str
    kernel: list[Line]
    waves: list[Wave]

    @property
    def addresses(self) -> list[int]:
        result, at = [], ENTRY
        for line in self.kernel:
            result.append(at)
            at += line.opcode.size
        return result


def build(name: str) -> Sample:
    """Run the kernel ``name``: two waves on each SIMD, slot 0 first."""
    kernel = KERNELS[name]()
    starts = {
        (simd, slot): FIRST_START + START_GAP * (slot * SIMDS + turn)
        for slot in range(2)
        for turn, simd in enumerate(SIMD_ORDER)
    }
    return Sample(name, kernel, Machine(kernel, starts, LAUNCH).run())


def stream(sample: Sample) -> bytes:
    """The .att file."""
    writer = StreamWriter(target_cu=CU, se=SE, clock=CLOCKS[sample.name])
    realtime = REALTIME
    first_pair, last_pair = 1200, FIRST_START
    writer.roc_marker(1100)
    writer.agent_info(1104, realtime_khz=REALTIME_KHZ)
    writer.realtime_pair(first_pair, realtime)
    writer.code_object_load(2400, CODE_OBJECT, LOAD_ADDRESS, LOAD_SIZE, from_start=True)
    writer.misc(4000, Misc.SURF_SYNC)
    entry, threads = LOAD_ADDRESS + ENTRY, (64 * len(sample.waves), 1, 1)
    writer.dispatch(FIRST_START - 40, entry, threads, rsrc1=15, rsrc2=4)
    for wave in sample.waves:
        records = [step.record for step in wave.steps]
        write_wave(writer, wave.simd, wave.slot, wave.begin, records)
        last_pair = max(last_pair, records[-1].time + 2000)
    ticks = -(-(last_pair - first_pair) // CYCLES_PER_REALTIME)
    writer.realtime_pair(first_pair + ticks * CYCLES_PER_REALTIME, realtime + ticks)
    return writer.finish()


def listing(sample: Sample) -> str:
    """code.json, a row a line: the texts as LLVM prints them; nothing is counted there."""
    zeros = [0, 0, 0, 0]
    rows: list[list[object]] = [[f"; {sample.name}", 0, 0, "", CODE_OBJECT, ENTRY, *zeros]]
    for number, (line, address) in enumerate(zip(sample.kernel, sample.addresses, strict=True), 1):
        rows.append([text(sample, line, address), 0, number, "", CODE_OBJECT, address, *zeros])
    body = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"code":[\n{body}\n],"header":{json.dumps(HEADER)},"version":"3.0.0"}}\n'


def text(sample: Sample, line: Line, address: int) -> str:
    """Disassembly: a branch shows its 16-bit word offset, unsigned."""
    if not line.target:
        return line.text
    labels = [other.label for other in sample.kernel]
    words = (sample.addresses[labels.index(line.target)] - address - 4) // 4
    return f"{line.text} {words & 0xFFFF}"


def assembly(sample: Sample) -> str:
    """kernel.s: source that assembles to the listing."""
    lines = [
        f"; {sample.name}: synthetic sample kernel, gfx950; written by traces/generate.py",
        '.amdgcn_target "amdgcn-amd-amdhsa--gfx950"',
        ".text",
        ".p2align 8",
        f".globl {sample.name}",
        f".type {sample.name},@function",
        f"{sample.name}:",
    ]
    for line in sample.kernel:
        if line.label:
            lines.append(f"{line.label}:")
        lines.append(f"  {line.text} {line.target}".rstrip())
    return "\n".join(lines) + "\n"


def busy(intervals: list[tuple[int, int]], start: int, end: int, least: int = 1) -> set[int]:
    """The cycles of [start, end) that at least ``least`` intervals cover."""
    depth: dict[int, int] = {}
    for first, last in intervals:
        for cycle in range(max(first, start), min(last, end)):
            depth[cycle] = depth.get(cycle, 0) + 1
    return {cycle for cycle, count in depth.items() if count >= least}


def expected_row(sample: Sample, simd: int) -> dict[str, object]:
    """Occupancy of one SIMD, counted cycle by cycle from the planned issues."""
    waves = [wave for wave in sample.waves if wave.simd == simd]
    steps = [(sample.kernel[s.line].opcode, s.record) for wave in waves for s in wave.steps]
    start = min(record.time for _, record in steps)
    end = max(record.time for _, record in steps) + 4
    mfma = [(r.time, r.time + o.busy) for o, r in steps if o.kind is Kind.MFMA]
    valu = [(r.time, r.time + o.busy) for o, r in steps if o.kind in VALU]
    matrix, vector = busy(mfma, start, end), busy(valu, start, end)
    window = end - start
    return {
        "se": SE,
        "cu": CU,
        "simd": simd,
        "waves": len(waves),
        "window": "span",
        "start": start,
        "end": end,
        "window_cycles": window,
        "mfma": len(mfma),
        "matrix_busy_cycles": len(matrix),
        "matrix_occupancy": len(matrix) / window,
        "vector_busy_cycles": len(vector),
        "vector_occupancy": len(vector) / window,
        "coissued_cycles": len(busy(valu, start, end, least=2)),
        "overlap_cycles": len(matrix & vector),
        "matrix_idle_cycles": window - len(matrix),
        "neither_cycles": window - len(matrix | vector),
        "issue_window_cycles": sum(r.cost for o, r in steps if o.kind is Kind.MFMA),
        "violations": 0,
    }


def expected(sample: Sample) -> dict[str, object]:
    """expected.json: what the stream must give back, known before it was written."""
    clock = CLOCKS[sample.name]
    waves = [
        {
            "se": SE,
            "cu": CU,
            "simd": wave.simd,
            "slot": wave.slot,
            "wave": 0,
            "begin": wave.begin,
            "instructions": len(wave.steps),
            "barriers": sum(step.record.release is not None for step in wave.steps),
        }
        for wave in sorted(sample.waves, key=lambda w: (w.simd, w.slot))
    ]
    return {
        "arch": "gfx950",
        "timing": "exact",
        "iterations": ITERATIONS,
        "base": clock.base,
        "phase_constant": clock.phase,
        "realtime_khz": REALTIME_KHZ,
        "shader_clock_mhz": REALTIME_KHZ * CYCLES_PER_REALTIME / 1000,
        "occupancy": [expected_row(sample, simd) for simd in range(SIMDS)],
        "waves": waves,
    }


def meta(sample: Sample) -> dict[str, object]:
    return {
        "arch": "gfx950",
        "synthetic": True,
        "simulated": True,
        "about": ABOUT[sample.name],
        "command": f"python -m traces.generate {sample.name}",
    }


def readme(sample: Sample) -> str:
    rows = [expected_row(sample, simd) for simd in range(SIMDS)]
    table = "\n".join(
        f"| {r['simd']} | {r['start']}-{r['end']} | {r['matrix_busy_cycles']} | "
        f"{r['vector_busy_cycles']} | {r['overlap_cycles']} | {r['matrix_occupancy']:.1%} |"
        for r in rows
    )
    return f"""# {sample.name}

**SYNTHETIC: written by a program, not recorded on hardware.** No GPU ran this kernel; use
it to try tracekit and to test it, not to learn about the chip.

- What: {ABOUT[sample.name]}. {ITERATIONS} iterations.
- Chip pretended: gfx950 (MI350X), SE {SE}, CU {CU}; 2 waves on each of 4 SIMDs, one workgroup.
- Kernel: `kernel.s` (its listing, as LLVM prints it, is `code.json`).
- Made by `python -m traces.generate {sample.name}`: issue model in `traces/sample_model.py`,
  kernel in `traces/sample_kernels.py`, bytes by tracekit's encoder. Deterministic;
  `--check` compares the files here with what it would write.
- File names as rocprofv3 leaves them: process {PID}, agent {AGENT}, dispatch {DISPATCH}.
- `expected.json`: what an analysis must find, counted from the planned issues.

| SIMD | window (cycles) | matrix busy | vector busy | both | matrix occupancy |
| --- | --- | --- | --- | --- | --- |
{table}
"""


def files(name: str) -> dict[str, bytes]:
    """Name -> content of every file of a sample."""
    sample = build(name)
    texts = {
        "code.json": listing(sample),
        "kernel.s": assembly(sample),
        "expected.json": json.dumps(expected(sample), indent=1) + "\n",
        "meta.json": json.dumps(meta(sample), indent=1) + "\n",
        "README.md": readme(sample),
    }
    att = f"{PID}_{AGENT}_shader_engine_{SE}_{DISPATCH}.att"
    return {att: stream(sample), **{file: body.encode() for file, body in texts.items()}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(KERNELS), help="samples (default: all)")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    status = 0
    for name in arguments.names:
        if name not in KERNELS:
            parser.error(f"no sample {name}; known: {', '.join(KERNELS)}")
        folder = ROOT / name
        wanted = files(name)
        if arguments.check:
            found = {p.name: p.read_bytes() for p in folder.iterdir()} if folder.is_dir() else {}
            for file in sorted(wanted.keys() | found.keys()):
                if wanted.get(file) != found.get(file):
                    print(f"{folder.name}/{file} differs from what generate.py writes")
                    status = 1
            continue
        folder.mkdir(exist_ok=True)
        for file, content in wanted.items():
            (folder / file).write_bytes(content)
        print(f"{folder.name}: {len(wanted)} files, {sum(map(len, wanted.values()))} bytes")
    return status


if __name__ == "__main__":
    sys.exit(main())
