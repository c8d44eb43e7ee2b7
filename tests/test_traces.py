"""The synthetic samples: reproducible, possible on the hardware, and read back exactly."""

import json
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy
from tracekit.isa import elf
from tracekit.isa.costs import Pipe
from tracekit.isa.disassembler import available
from tracekit.isa.pipes import cost
from traces.generate import ENTRY, build, expected_row
from traces.sample_kernels import KERNELS
from traces.sample_model import OPCODES, TICK, VALU, Kind, Line, Machine

TRACES = Path(__file__).resolve().parents[1] / "traces"
NAMES = list(KERNELS)


@pytest.fixture(scope="module", params=NAMES)
def sample(request):
    return build(request.param)


@pytest.fixture(scope="module")
def timeline(sample):
    return tracekit.open(TRACES / sample.name).timeline()


@pytest.fixture(scope="module")
def expected(sample):
    return json.loads((TRACES / sample.name / "expected.json").read_text())


def test_files_are_what_the_generator_writes():
    command = [sys.executable, "-m", "traces.generate", "--check"]
    root = TRACES.parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_samples_say_that_they_are_synthetic(name):
    assert "SYNTHETIC" in (TRACES / name / "README.md").read_text()
    meta = json.loads((TRACES / name / "meta.json").read_text())
    assert meta["synthetic"] is True
    assert meta["arch"] == "gfx950"
    assert tracekit.open(TRACES / name).synthetic


def test_occupancy_is_the_one_known_by_construction(timeline, expected):
    rows = occupancy(timeline, "span").rows.to_dict("records")
    assert len(rows) == len(expected["occupancy"]) == 4
    for row, wanted in zip(rows, expected["occupancy"], strict=True):
        assert {key: row[key] for key in wanted} == wanted


def test_every_instruction_is_read_back(sample, timeline):
    """First attempt, issue, end of its cost, release and address, in program order."""
    found = defaultdict(list)
    for row in timeline.instructions.to_dict("records"):
        found[row["simd"], row["slot"]].append(row)
    for wave in sample.waves:
        rows = found.pop((wave.simd, wave.slot))
        assert len(rows) == len(wave.steps)
        ready = wave.begin
        for row, step in zip(rows, wave.steps, strict=True):
            record, line = step.record, sample.kernel[step.line]
            internal = line.opcode.kind is Kind.INTERNAL
            assert row["vaddr"] == sample.addresses[step.line]
            assert row["instruction"].split()[0] == line.text.split()[0]
            end = row["time"] + row["duration"]
            if internal:
                assert (row["time"], end) == (ready, record.time + TICK)
            else:
                assert row["time"] + row["stall"] == record.time
                assert row["stall"] == (record.time - (record.stall or record.time))
                assert end == record.end
            if record.release is not None:
                assert row["release"] == record.release
            ready = record.end
    assert not found


def test_waves_are_complete_and_stitched(timeline, expected):
    waves = timeline.waves
    keys = ["se", "cu", "simd", "slot", "wave", "begin", "instructions"]
    wanted = [{key: wave[key] for key in keys} for wave in expected["waves"]]
    assert waves[keys].to_dict("records") == wanted
    assert waves["complete"].all()
    assert (waves["stitched"] == waves["instructions"]).all()
    assert set(waves["entry"]) == {ENTRY}


def test_clock_pairs_give_the_shader_clock(timeline, expected):
    clock = timeline.clock
    cycles = int(clock["time"].iloc[-1] - clock["time"].iloc[0])
    ticks = int(clock["realtime"].iloc[-1] - clock["realtime"].iloc[0])
    hertz = int(clock["frequency_hz"].iloc[0])
    assert hertz == 1000 * expected["realtime_khz"]
    assert cycles / ticks * hertz / 1e6 == expected["shader_clock_mhz"]


def test_occupancy_identities_hold(expected):
    for row in expected["occupancy"]:
        matrix, vector = row["matrix_busy_cycles"], row["vector_busy_cycles"]
        window = row["window_cycles"]
        assert matrix + row["matrix_idle_cycles"] == window == row["end"] - row["start"]
        assert matrix + vector - row["overlap_cycles"] + row["neither_cycles"] == window


def test_pingpong_overlaps_what_lockstep_does_not():
    """The point of the pair: the same work, at least 20 points more overlap."""
    share = {}
    for name in NAMES:
        rows = [expected_row(build(name), simd) for simd in range(4)]
        assert {(row["mfma"], row["matrix_busy_cycles"]) for row in rows} == {(128, 4096)}
        share[name] = [row["overlap_cycles"] / row["window_cycles"] for row in rows]
    assert min(share["pingpong"]) - max(share["lockstep"]) > 0.2


def issues(sample):
    """SIMD -> [(issue, slot, opcode)] in time order, internal instructions left out."""
    result = defaultdict(list)
    for wave in sample.waves:
        for step in wave.steps:
            opcode = sample.kernel[step.line].opcode
            if opcode.kind is not Kind.INTERNAL:
                result[wave.simd].append((step.record.time, wave.slot, opcode))
    return {simd: sorted(rows, key=lambda r: r[:2]) for simd, rows in result.items()}


def test_issues_obey_the_measured_rules(sample):
    for rows in issues(sample).values():
        assert len({(time, slot) for time, slot, _ in rows}) == len(rows)
        mfma = [time for time, _, opcode in rows if opcode.kind is Kind.MFMA]
        valu = [(time, opcode) for time, _, opcode in rows if opcode.kind in VALU]
        assert all(b - a >= 32 for a, b in pairwise(mfma))
        for time, opcode in valu:
            assert not any(time - m in (0, 4) for m in mfma)
            running = any(m <= time < m + 32 for m in mfma)
            together = [o for t, o in valu if t == time]
            assert len(together) <= (1 if running or opcode.kind is not Kind.PLAIN else 2)
            if opcode.busy == 8:
                assert not any(t == time + 4 for t, _ in valu)
                assert time + 4 not in mfma


def test_barriers_release_the_workgroup_at_once(sample):
    records = [[s.record for s in w.steps if s.record.release is not None] for w in sample.waves]
    for meeting in zip(*records, strict=True):
        assert {r.release for r in meeting} == {max(r.time for r in meeting) + TICK}


@pytest.mark.parametrize(
    "mnemonic", [m for m, o in OPCODES.items() if o.kind in (*VALU, Kind.MFMA)]
)
def test_the_model_and_the_pipe_tables_agree(mnemonic):
    found = cost("gfx950", f"{mnemonic} v[0:15], v0")
    kind = OPCODES[mnemonic].kind
    assert found.pipe is (Pipe.MATRIX if kind is Kind.MFMA else Pipe.VECTOR)
    assert found.cycles == OPCODES[mnemonic].busy


@pytest.mark.skipif(available() is None, reason="no LLVM to disassemble with")
def test_the_source_assembles_to_the_listing(sample, tmp_path):
    pytest.importorskip("ziglang", reason="clang for gfx950 comes with the ziglang wheel")
    zig, target = (sys.executable, "-m", "ziglang"), ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx950")
    source, made, linked = TRACES / sample.name / "kernel.s", tmp_path / "k.o", tmp_path / "k.co"
    subprocess.run([*zig, "clang", *target, "-c", source, "-o", made], check=True)
    subprocess.run([*zig, "ld.lld", "-shared", made, "-o", linked], check=True)
    found = elf.read(linked)
    wanted = tracekit.open(TRACES / sample.name).timeline().listing
    assert found.text[: len(wanted.text)] == wanted.text
    offsets = (found.vaddr - found.vaddr[0])[: len(wanted.text)]
    assert offsets.tolist() == (wanted.vaddr - wanted.vaddr[0]).tolist()


# The issue model alone, on kernels of a few lines.


def run(*lines: Line, slots: int = 1):
    """Records per slot; the waves start 4 cycles apart on SIMD 0."""
    starts = {(0, slot): 4 * slot for slot in range(slots)}
    waves = Machine([*lines, Line("s_endpgm")], starts, 0).run()
    return [[step.record for step in wave.steps] for wave in waves]


FMA = Line("v_fma_f32 v1, v1, v2, v3")
MFMA = Line("v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]")


def times(records):
    return [record.time for record in records]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((MFMA, FMA), [0, 8, 12]),
        ((MFMA, Line("v_pk_fma_f32 v[0:1], v[0:1], v[2:3], v[4:5]")), [0, 44, 48]),
        ((MFMA, Line("ds_read_b128 v[0:3], v4")), [0, 8, 12]),
        ((FMA, Line("ds_read_b128 v[0:3], v4")), [0, 12, 16]),
        ((Line("v_exp_f32_e32 v0, v0"), FMA), [0, 8, 12]),
        ((Line("s_nop 7"), FMA), [28, 32, 36]),
        ((Line("v_readfirstlane_b32 s3, v1"), Line("s_mov_b32 s4, 8")), [0, 20, 24]),
        ((FMA, Line("v_mul_f32_e32 v0, v1, v2", refused=40)), [0, 44, 48]),
    ],
)
def test_distances_inside_a_wave(lines, expected):
    (records,) = run(*lines)
    assert times(records) == expected


def test_waitcnt_waits_for_the_loads_before_it():
    load = Line("global_load_dwordx4 v[0:3], v[4:5], off", latency=400)
    wait = [Line("s_waitcnt vmcnt(1)"), Line("s_waitcnt vmcnt(0)")]
    (records,) = run(load, load, *wait, FMA)
    assert times(records) == [0, 4, 400, 404, 408, 412]


def test_plain_valus_of_two_waves_pair_unless_an_mfma_runs():
    first, second = run(FMA, FMA, FMA, slots=2)
    assert times(first)[:3] == [0, 4, 8]
    assert times(second)[:3] == [4, 8, 12]
    first, second = run(MFMA, FMA, FMA, slots=2)
    assert times(second)[0] == 32
    assert not set(times(first)[1:3]) & set(times(second)[1:3])


def test_a_stall_is_a_refusal_not_a_distance():
    (records,) = run(MFMA, FMA, Line("ds_read_b128 v[0:3], v4"))
    assert [record.stall for record in records] == [None, 4, None, None]


def test_a_kernel_without_end_is_an_error():
    branch = Line("s_cbranch_scc1", target="x", taken=lambda slot, visit: True)
    with pytest.raises(RuntimeError, match="does not end"):
        run(Line("s_nop 0", label="x"), branch)
