"""Troubles that users of AMD's thread-trace tools reported in public, one test a symptom.

The numbers are those of the table in docs/inputs.md, which says of the reports without a
test here why they do not apply or where they are tested.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.counters import counters
from tracekit.analysis.model.intervals import union
from tracekit.analysis.model.simds import each_simd, matrix_use
from tracekit.analysis.occupancy import occupancy
from tracekit.cli import main
from tracekit.export import rcv
from tracekit.gfx9 import Inst
from tracekit.isa import mfma
from tracekit.sqtt.encode import header_bytes
from tracekit.sqtt.wave_writer import Executed, endpgm, write_wave
from tracekit.sqtt.writer import StreamWriter

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "traces" / "pingpong"
STREAM = "1_1_shader_engine_0_1.att"


@pytest.fixture
def sample(tmp_path):
    return shutil.copytree(SAMPLE, tmp_path / "pingpong")


@pytest.fixture
def decoded(tmp_path):
    """The sample as a directory of AMD's schema."""
    folder = tmp_path / "decoded" / "ui_output_agent_1_dispatch_1"
    rcv.write(Analysis(tracekit.open(SAMPLE).timeline("amd")), folder)
    return folder


def opened(folder, writer, name=STREAM):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(writer.finish())
    return tracekit.open(folder)


def stream_of(folder):
    (path,) = folder.glob("*.att")
    return path


def wave(writer, begin, simd=0, slot=0, kinds=(Inst.SALU_32, Inst.VALU_32)):
    records = [Executed(kind, begin + 100 + 8 * n) for n, kind in enumerate(kinds)]
    write_wave(writer, simd, slot, begin, [*records, endpgm(begin + 200)])


def test_r1_an_instruction_shows_its_own_listing_line(decoded):
    """https://github.com/ROCm/rocprof-compute-viewer/issues/12: one line off."""
    for path in (SAMPLE, decoded):
        timeline = tracekit.open(path).timeline()
        listing = timeline.listing
        content = json.loads((path / "code.json").read_text())["code"]
        text = {row[2]: row[0] for row in content}
        for line, shown in set(
            zip(timeline.instructions["line"], timeline.instructions["instruction"], strict=True)
        ):
            assert text[line] == shown
            assert listing.text[listing.row_of_line(line)] == shown


def test_r2_wave_states_need_no_wstates_files(decoded):
    """https://github.com/ROCm/rocprof-compute-viewer/issues/16: they repeat the waves."""
    with_files = tracekit.open(decoded).timeline().states
    for path in decoded.glob("wstates*.json"):
        path.unlink()
    assert len(with_files)
    assert tracekit.open(decoded).timeline().states.equals(with_files)


def test_r4_a_tick_is_four_cycles(tmp_path):
    """https://github.com/ROCm/rocprof-compute-viewer/pull/24 and 28: wrong scale of latency."""
    writer = StreamWriter(target_cu=1)
    wave(writer, 8000)
    timeline = opened(tmp_path / "run", writer).timeline()
    (row,) = timeline.waves.to_dict("records")
    assert row["end"] - row["begin"] == pytest.approx(200, abs=4)
    times = timeline.instructions["time"]
    assert np.diff(times).tolist() == [8, 92]


def test_r6_raw_and_json_give_the_same_times(decoded):
    """https://github.com/ROCm/rocprof-compute-viewer/pull/38 and 39: clocks misaligned."""
    raw, json_ = (tracekit.open(path).timeline("amd") for path in (SAMPLE, decoded))
    for table in ("waves", "occupancy", "clock", "counters"):
        left, right = getattr(raw, table), getattr(json_, table)
        names = [n for n in left.columns if n.startswith(("time", "begin", "end", "realtime"))]
        assert left[names].equals(right[names]), table
    columns = ["time", "stall", "duration", "category", "line"]
    assert raw.instructions[columns].equals(json_.instructions[columns])


def test_r7_events_outside_the_occupancy_keep_their_time(tmp_path):
    """https://github.com/ROCm/rocprof-compute-viewer/pull/43: the view was shifted."""
    writer = StreamWriter(target_cu=1)
    writer.userdata(2000, 0, 0, 7)
    wave(writer, 8000)
    writer.userdata(900_000, 0, 0, 9)
    timeline = opened(tmp_path / "run", writer).timeline()
    gaps = np.diff(timeline.markers["time"].to_numpy())
    assert gaps.tolist() == [898_000]
    assert int(timeline.waves["begin"].iloc[0]) - int(timeline.markers["time"].iloc[0]) == 6000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("occupancy.json", {"0": [[1, 2]]}, "occupancy.json"),
        ("occupancy.json", [], "occupancy.json"),
        ("realtime.json", {"SE0": "now"}, "realtime.json"),
        ("filenames.json", {"wave_filenames": {"0": []}}, "filenames.json"),
    ],
)
def test_r7_malformed_input_is_named(decoded, name, content, expected):
    """https://github.com/ROCm/rocprof-compute-viewer/pull/43: no message."""
    (decoded / name).write_text(json.dumps(content))
    timeline = tracekit.open(decoded).timeline()
    assert any(expected in note for note in timeline.notes)
    assert timeline.lacking_files == (expected,)
    assert len(timeline.instructions)


def test_r9_an_instruction_without_a_pc_stays_a_row(decoded):
    """https://github.com/ROCm/rocprof-trace-decoder/releases/tag/0.1.2: trap handler."""
    path = min(decoded.glob("se*_wv*.json"))
    content = json.loads(path.read_text())
    content["wave"]["instructions"][3][4] = 0
    path.write_text(json.dumps(content))
    timeline = tracekit.open(decoded).timeline()
    lost = timeline.instructions[timeline.instructions["row"] < 0]
    assert len(lost) == 1
    assert lost["vaddr"].tolist() == [-1]
    assert lost["instruction"].isna().all()
    notes = occupancy(timeline, "span").notes
    assert any("1 of" in note and "no program counter" in note for note in notes)


def test_r10_an_unknown_opcode_does_not_lose_the_place(sample):
    """https://github.com/ROCm/rocm-systems/pull/11773: stitching failed on flat_prefetch."""
    content = json.loads((sample / "code.json").read_text())
    known = tracekit.open(sample).timeline()
    executed = set(known.instructions["line"].tolist())
    row = next(
        row for row in content["code"]
        if row[2] in executed and re.match(r"v_(?!mfma|cmp|accvgpr)", row[0])
    )  # fmt: skip
    row[0] = "v_prefetch_of_the_future_b8 v0, v1"
    (sample / "code.json").write_text(json.dumps(content))
    timeline = tracekit.open(sample).timeline()
    assert timeline.waves["stitched"].tolist() == known.waves["stitched"].tolist()
    assert timeline.instructions["line"].tolist() == known.instructions["line"].tolist()


def test_r11_resources_are_those_of_the_registers(tmp_path):
    """https://github.com/ROCm/rocm-systems/pull/7772: wrong LDS and GPR counts."""
    writer = StreamWriter(target_cu=1)
    writer.dispatch(
        2000, entry=0x7F00_0000_1700, threads=(512, 1, 1), rsrc1=31, rsrc2=320 << 15 | 16 << 1
    )
    wave(writer, 8000)
    (row,) = opened(tmp_path / "run", writer).timeline().dispatches.to_dict("records")
    assert row["lds_bytes"] == 160 * 1024
    assert row["vgprs"] == 256
    assert (row["user_sgprs"], row["scratch"], row["threads_x"]) == (16, False, 512)


def test_r13_a_csv_of_a_header_alone_names_nothing(sample):
    """https://github.com/ROCm/rocm-systems/issues/6218: 77-byte CSV."""
    (sample / "1_kernel_trace.csv").write_text('"Kind","Agent_Id","Dispatch_Id","Kernel_Name"\n')
    (sample / "1_agent_info.csv").write_text("Node_Id,Logical_Node_Id,Agent_Type,Name\n")
    assert len(tracekit.open(sample).timeline().waves)


@pytest.mark.parametrize("code", [None, [], {}], ids=["null", "no rows", "no list"])
def test_r13_a_listing_without_rows_is_no_crash(sample, code):
    """https://github.com/ROCm/rocm-systems/issues/6218: ``code: null``."""
    (sample / "code.json").write_text(json.dumps({"code": code}))
    try:
        timeline = tracekit.open(sample).timeline()
    except tracekit.TracekitError as error:
        assert "code.json" in str(error)  # noqa: PT017 - either is right
    else:
        assert not len(timeline.listing)
        assert len(timeline.instructions)


@pytest.mark.parametrize(
    ("content", "expected"),
    [(header_bytes(target_cu=1), "only 8 bytes"), (b"", "empty"), (bytes(640), "no gfx9 header")],
    ids=["header alone", "empty", "headerless"],
)
def test_r13_r14_one_bad_engine_leaves_the_others(sample, content, expected):
    """https://github.com/ROCm/rocm-systems/issues/6218 and pull/1061 (files without header)."""
    alone = tracekit.open(sample).timeline()
    good = stream_of(sample)
    bad = sample / good.name.replace("_engine_0_", "_engine_7_")
    bad.write_bytes(content)
    timeline = tracekit.open(sample).timeline()
    assert timeline.instructions.equals(alone.instructions)
    (note,) = [note for note in timeline.notes if "left out" in note]
    assert bad.name in note
    assert expected in note
    good.unlink()
    with pytest.raises(tracekit.TracekitError, match=expected):
        tracekit.open(sample)


def test_r15_engines_without_instructions_are_not_averaged(sample):
    """https://github.com/ROCm/rocm-systems/pull/1581: buffering worked for one SE."""
    alone = occupancy(tracekit.open(sample).timeline(), "span").rows
    for se in (1, 2, 3):
        name = stream_of(SAMPLE).name.replace("_engine_0_", f"_engine_{se}_")
        (sample / name).write_bytes(header_bytes(target_cu=1, se=se) + bytes(64))
    timeline = tracekit.open(sample).timeline()
    assert sorted(timeline.streams["se"]) == [0, 1, 2, 3]
    assert occupancy(timeline, "span").rows.equals(alone)


def two_dispatches(folder):
    writer = StreamWriter(target_cu=1)
    writer.code_object_load(1500, 1, 0x7F00_0000_0000, 0x10000)
    for number, entry in enumerate((0x1700, 0x2900)):
        at = 2000 + 20_000 * number
        writer.dispatch(at, entry=0x7F00_0000_0000 + entry, threads=(64, 1, 1))
        wave(writer, at + 4000)
    return opened(folder, writer, "9_1_shader_engine_0_5.att")


def test_r16_several_dispatches_of_one_stream_are_told_apart(tmp_path):
    """https://github.com/ROCm/rocm-systems/pull/774 and 1111: consecutive kernels."""
    timeline = two_dispatches(tmp_path / "run").timeline()
    assert timeline.dispatches["entry"].tolist() == [0x1700, 0x2900]
    assert timeline.waves["dispatch"].tolist() == [5, 6]
    assert timeline.waves["entry"].tolist() == [0x1700, 0x2900]
    assert len(occupancy(timeline, "span").rows) == 2


def test_r17_dispatch_ids_are_those_of_the_profiler(tmp_path):
    """https://github.com/ROCm/rocm-systems/pull/7299: ranges count from process start."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "9_kernel_trace.csv").write_text(
        "Dispatch_Id,Kernel_Name\n1,warm_up\n5,first\n6,second\n"
    )
    dispatches = two_dispatches(folder).timeline().dispatches
    assert dispatches["kernel"].tolist() == ["first", "second"]


def test_r18_records_of_other_simds_are_not_counted_here(tmp_path):
    """https://github.com/ROCm/rocm-systems/pull/1350: VMEM records of other SIMDs."""
    writer = StreamWriter(target_cu=1)
    wave(writer, 8000, simd=0)
    wave(writer, 8000, simd=2, kinds=(Inst.VMEM_RD,) * 5)
    writer.wave_start(8004, 1, 0, cu=9)
    writer.wave_end(9000, 1, 0, cu=9)
    timeline = opened(tmp_path / "run", writer).timeline()
    counts = timeline.instructions.groupby("simd").size().to_dict()
    assert counts == {0: 3, 2: 6}
    assert sorted(timeline.waves["simd"]) == [0, 2]
    assert 9 in set(timeline.occupancy["cu"])


def test_r19_a_truncated_last_chunk_is_told_and_the_rest_read(sample):
    """https://github.com/ROCm/rocm-systems/pull/10159: incomplete traces by autoflush."""
    path = stream_of(sample)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4 | 1])
    timeline = tracekit.open(sample).timeline()
    assert int(timeline.streams["truncated_at"].iloc[0]) > 0
    assert any("runs past the end" in note for note in timeline.notes)
    assert len(timeline.instructions)
    assert not timeline.waves["complete"].all()


@pytest.mark.parametrize("name", ["pingpong", "lockstep"])
def test_r23_occupancy_is_cycles_of_one_pipe_over_cycles(name):
    """https://github.com/ROCm/rocprofiler/issues/147: 11 % against 46 % by FLOPs."""
    timeline = tracekit.open(ROOT / "traces" / name).timeline()
    rows = occupancy(timeline, "span").rows.set_index("simd")
    for simd in each_simd(timeline):
        use = matrix_use(simd)
        row = rows.loc[simd.simd]
        # No number of CUs or factor of four is in it: MFMAs times their cycles.
        by_hand = int(simd.cycles[use.order].sum())
        assert row["matrix_busy_cycles"] == by_hand
        assert row["matrix_occupancy"] == pytest.approx(by_hand / row["window_cycles"])
        assert row["matrix_occupancy"] <= 1


#: Dense peak of AMD's data sheets in TFLOPS (TOPS), CUs and boost clock in MHz.
PEAKS = [
    ("gfx90a", "f16", 383.0, 220, 1700), ("gfx90a", "bf16_1k", 383.0, 220, 1700),
    ("gfx90a", "f64", 95.7, 220, 1700), ("gfx942", "bf16", 1307.4, 304, 2100),
    ("gfx942", "fp8", 2614.9, 304, 2100), ("gfx942", "xf32", 653.7, 304, 2100),
    ("gfx942", "f64", 163.4, 304, 2100), ("gfx950", "bf16", 2516.6, 256, 2400),
    ("gfx950", "fp8", 5033.2, 256, 2400), ("gfx950", "f8f6f4_fp6fp4", 10066.3, 256, 2400),
    ("gfx950", "f64", 78.6, 256, 2400),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "kind", "peak", "cus", "mhz"), PEAKS)
def test_r24_peaks_are_those_of_the_data_sheets(arch, kind, peak, cus, mhz):
    """https://github.com/ROCm/rocprofiler-compute/issues/700 and 712: peaks twice too high."""
    assert mfma.PEAK[arch][kind] * cus * mhz / 1e6 == pytest.approx(peak, rel=2e-3)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_r25_no_opcode_does_more_than_the_peak(arch):
    """https://github.com/ROCm/rocm-amdgpu-bench/issues/24: FLOPs off by two."""
    index = ("gfx90a", "gfx942", "gfx950").index(arch)
    best = {}
    for row in mfma.TABLE:
        passes = row.passes[index]
        if passes is not None and not row.kind.startswith("sparse"):
            m, n, k = row.shape
            rate = 4 * 2 * m * n * k * row.blocks / (passes * mfma.CYCLES_PER_PASS)
            best[row.kind] = max(best.get(row.kind, 0), rate)
    for kind, peak in mfma.PEAK[arch].items():
        if kind in best:
            # Plain fp8 opcodes of gfx950 run at half of what f8f6f4 reaches.
            # So do the bf16 opcodes of gfx90a without _1k.
            half = (arch, kind) in {("gfx950", "fp8"), ("gfx90a", "bf16")}
            assert best[kind] == (peak / 2 if half else peak), kind


def counted(folder, values):
    writer = StreamWriter(target_cu=1)
    wave(writer, 8000, kinds=(Inst.VALU_32,) * 3)
    writer.perf(9000, 1, 0, values)
    return opened(folder, writer)


def test_r26_counters_above_the_instructions_are_shown_as_they_are(tmp_path):
    """https://github.com/ROCm/rocm-systems/pull/2160: more than 100 % by dual issue."""
    timeline = counted(tmp_path / "run", (5, 0, 0, 0)).timeline()
    row = counters(timeline, ["SQ_INSTS_VALU"]).iloc[0]
    assert (row["counted"], row["decoded"]) == (5, 3)
    assert row["ratio"] == pytest.approx(5 / 3)


def test_r27_counters_that_are_all_zero_are_remarked(tmp_path, capsys):
    """https://github.com/ROCm/device-metrics-exporter/pull/481: gfx950 counters all 0."""
    counted(tmp_path / "zero", (0, 0, 0, 0))
    counted(tmp_path / "some", (0, 1, 0, 0))
    assert main(["counters", str(tmp_path / "zero")]) == 0
    assert "samples of the SQ counters are 0" in capsys.readouterr().err
    assert main(["counters", str(tmp_path / "some")]) == 0
    assert "samples of the SQ counters are 0" not in capsys.readouterr().err


def test_r28_a_half_written_folder_gives_what_is_there(decoded):
    """https://github.com/ROCm/FlyDSL/issues/187: the profiler crashed while writing."""
    files = sorted(decoded.glob("se*_wv*.json"))
    whole = tracekit.open(decoded).timeline()
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:500])
    (decoded / "realtime.json").unlink(missing_ok=True)
    timeline = tracekit.open(decoded).timeline()
    assert len(timeline.waves) == len(whole.waves) - 2
    assert any(files[0].name in note for note in timeline.notes)
    assert any(files[1].name in note for note in timeline.notes)


def test_r29_overlapping_windows_count_once(tmp_path):
    """https://github.com/tinygrad/tinygrad/pull/15484: execution windows overlap."""
    busy = union(np.array([0, 4, 100]), np.array([16, 20, 110]))
    assert busy.cycles == 30
    writer = StreamWriter(target_cu=1)
    for slot in (0, 1):  # two waves whose MFMAs would overlap at 16 cycles each
        wave(writer, 8000 + 4 * slot, slot=slot, kinds=(Inst.VALU_MAI,) * 6)
    folder = tmp_path / "run"
    opened(folder, writer)
    timeline = tracekit.open(folder, assume_mfma_cycles=16).timeline()
    (row,) = occupancy(timeline, "span").rows.to_dict("records")
    assert row["mfma"] == 12
    assert 0 < row["matrix_busy_cycles"] < 12 * 16
    assert row["matrix_occupancy"] <= 1
    assert row["violations"] > 0


def test_r31_the_mask_of_engines_is_explained(capsys):
    """rocprof-report-skill, 09-common-issues: a nibble of the SE mask is an XCD."""
    assert main(["capture", "--dry-run", "--se-mask", "0xF", "--", "./app"]) == 0
    out = capsys.readouterr().out
    assert "shader engines 0, 1, 2, 3" in out
    assert "(here XCD 0)" in out
    assert main(["capture", "--dry-run", "--se-mask", "0x11", "--", "./app"]) == 0
    assert "(here XCD 0, 1)" in capsys.readouterr().out


def test_r31_a_listing_without_sources_has_empty_ones(sample):
    """rocprof-report-skill, 09-common-issues: no Source column."""
    content = json.loads((sample / "code.json").read_text())
    for row in content["code"]:
        row[3] = ""
    (sample / "code.json").write_text(json.dumps(content))
    listing = tracekit.open(sample).timeline().listing
    assert set(listing.source) == {""}


def test_paths_with_blanks_and_letters_of_any_script_open(tmp_path):
    """No public report; the tools of others break on such paths."""
    folder = tmp_path / "größe 1" / "мера 'x'"
    shutil.copytree(SAMPLE, folder)
    assert len(tracekit.open(folder).timeline().waves)


def test_every_report_has_a_line_in_the_docs_and_its_tests_exist():
    page = (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| R(\d+) \|(.*)$", page, re.MULTILINE))
    assert list(map(int, rows)) == list(range(1, 32))
    tests = "".join(
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("tests/test_reports.py", "tests/commands/test_doctor.py",
                     "tests/commands/test_capture.py")
    )  # fmt: skip
    for number, row in rows.items():
        named = re.findall(r"`(test_\w+)`", row)
        assert named or "not applicable" in row or "as R3" in row, number
        assert all(f"def {name}(" in tests for name in named), number
