"""Write the simulated samples of the FP8 attention kernels: ``python -m traces.zyfa``.

Each is one head of 1,536 tokens on the wave simulator: stream, code object, its disassembly
(``code.json``, so that reading needs no LLVM), metadata, and what `tracekit occupancy` finds
(``expected.json``). The ground truth is left out for its size.
"""

from __future__ import annotations

import json
from pathlib import Path

import tracekit
from tracekit.analysis.occupancy import occupancy
from tracekit.isa import elf
from zyfa import trace
from zyfa.codegen import Options
from zyfa.sim.runs.capture import CODE_OBJECT

ROOT = Path(__file__).resolve().parent
LENGTH = 1536
SAMPLES = {
    "zyfa_serial_exact": (
        "exact-serial-scalar-rowsum_b",
        "both waves of a SIMD do the same at the same time, exponentials and all",
    ),
    "zyfa_gap_exact": (
        "exact-gap-packed-rowsum_b",
        "the article's exact softmax: packed multiply-adds in a gap between PV and QK",
    ),
    "zyfa_gap_lean": (
        "lean_ashr-gap-packed-rowsum_b",
        "the article's lean P: the same gap, one multiply-add and one conversion an element",
    ),
    "zyfa_pingpong_lean": (
        "lean_ashr-pingpong-scalar-rowsum_b",
        "the default kernel: scalar multiply-adds run beside the other wave's matrix instructions",
    ),
}
README = """# {name}

**SIMULATED: run on zyfa's wave simulator, not recorded on hardware.** The numbers are those of its
issue model (`docs/simulator.md`), in which some rates are not measured.

- What: {about}.
- Kernel: variant `{variant}`, FP8 causal attention forward, head dimension 128, one head of
  {length} tokens; the workgroup computes the first and the last query tile.
- Chip simulated: gfx950, one CU; memory latency {latency} cycles, a 16-byte load of a wave occupies
  the path for {service} cycles; parameters {digest}. Markers off.
- Made by `python -m traces.zyfa`, that is
  `zyfa trace --variant {variant} --seqlen {length}`.
- `code.json`: the code object as LLVM disassembles it; nothing is counted there.
- `expected.json`: matrix occupancy in the steady window, as tracekit finds it.
"""


HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"


def listing(code_object: Path) -> str:
    """code.json of a code object, a row a line, in rocprofv3's columns."""
    found = elf.read(code_object, CODE_OBJECT)
    starts = {symbol.vaddr: symbol.name for symbol in found.symbols}
    zeros = [0, 0, 0, 0]
    rows: list[list[object]] = []
    for number, (text, address) in enumerate(zip(found.text, found.vaddr.tolist(), strict=True), 1):
        if address in starts:
            rows.append([f"; {starts[address]}", 0, 0, "", CODE_OBJECT, address, *zeros])
        rows.append([text, 0, number, "", CODE_OBJECT, address, *zeros])
    body = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"code":[\n{body}\n],"header":{json.dumps(HEADER)},"version":"3.0.0"}}\n'


def write(name: str) -> dict[str, float]:
    """Simulate one sample into its folder; returns SIMD -> matrix occupancy."""
    from zyfa.sim.timing.parameters import Parameters

    variant, about = SAMPLES[name]
    folder, p = ROOT / name, Parameters()
    trace.record(Options.parse(variant), LENGTH, folder, parameters=p)
    (folder / "ground_truth.csv").unlink()
    (code_object,) = folder.glob("*.out")
    (folder / "code.json").write_text(listing(code_object))
    rows = occupancy(tracekit.open(folder).timeline(), "steady").rows
    found = {str(row.simd): round(float(row.matrix_occupancy), 4) for row in rows.itertuples()}
    expected = {"window": "steady", "matrix_occupancy": found}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    text = README.format(
        name=name, about=about, variant=variant, length=LENGTH, latency=p.vmem_latency,
        service=p.vmem_x4_service, digest=p.digest,
    )  # fmt: skip
    (folder / "README.md").write_text(text)
    return found


if __name__ == "__main__":
    for sample in SAMPLES:
        print(sample, write(sample))
