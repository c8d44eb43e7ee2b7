"""Round trips of real captures, and equality with what AMD's tools wrote of them."""

import csv
import io
import json

import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.cli import main
from tracekit.export import rcv

TABLES = ("waves", "instructions", "states", "occupancy", "counters", "clock")
RAW = {
    "wave_gemm_bf16_gfx950": 3,
    "tinygrad_gemm_gfx950": 1,
    "tinygrad_empty_gfx950": 1,
    "aiter_fp4_gemm_gfx950_after": 20,
}
#: Decoded captures that hold every wave: what is written must be what AMD's tool wrote.
COMPLETE = {
    "flash_attn_bf16_gfx950/ui_output_agent_58550_dispatch_44": 43_360,
    "fp8_mla_no_mfma_gfx950": 544,
    "fp8_paged_attention_gfx950": 8_064,
    "gemm_bf16_gfx942": 7_688,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(RAW))
def test_raw_to_directory_and_back_is_identical(captures, name, tmp_path):
    timeline = tracekit.open(captures / name).timeline("amd")
    folder = tmp_path / f"ui_output_agent_1_dispatch_{RAW[name]}"
    rcv.write(Analysis(timeline), folder)
    again = tracekit.open(folder).timeline("amd")
    assert len(timeline.occupancy) > 0
    for table in TABLES:
        ours, theirs = getattr(timeline, table), getattr(again, table)
        assert len(ours) == len(theirs), table
        for column in ours.columns.drop("type", errors="ignore"):
            assert ours[column].astype(str).tolist() == theirs[column].astype(str).tolist(), column


def directory(path):
    return path if path.name.startswith("ui_output") else next(path.glob("ui_output_*"))


def compare(folder, files, skipped=()):
    """Names of AMD's files that ours differ from or lack."""
    names = [path.name for path in sorted(folder.glob("*.json")) if path.name not in skipped]
    different = [n for n in names if files.get(n) != json.loads((folder / n).read_text())]
    print(f"{folder.parent.name}: {len(names) - len(different)} of {len(names)} files equal")
    return names, different


def test_every_file_of_wave_gemm_equals_amds(captures):
    path = captures / "wave_gemm_bf16_gfx950"
    files = dict(rcv.documents(Analysis(tracekit.open(path).timeline("amd"))))
    names, different = compare(directory(path), files)
    assert not different
    assert len(names) == 55
    # This SDK wrote no clock pairs; the streams have them.
    assert set(files) - set(names) == {"realtime.json"}
    assert files["occupancy.json"]["dispatches"] == {"0": "0 / 0x0", "1": "3 / 0x1700"}


@pytest.mark.parametrize("name", list(COMPLETE))
def test_a_complete_directory_is_written_again_as_it_was(captures, name):
    path = directory(captures / name)
    timeline = tracekit.open(path).timeline("amd")
    # Sources are not copied; kernels that code.json does not list have no address to keep.
    skipped = ["snapshots.json"] + ["occupancy.json"] * ("gfx942" in name)
    names, different = compare(path, dict(rcv.documents(Analysis(timeline))), skipped)
    assert len(timeline.instructions) == COMPLETE[name]
    assert not different
    assert "code.json" in names


@pytest.mark.parametrize(
    ("name", "rows"), [("wave_gemm_bf16_gfx950", 286), ("ui_missing_waves", 2990)]
)
def test_the_stats_csv_equals_amds_in_its_eight_columns(captures, capsys, name, rows):
    (path,) = (captures / name).glob("stats_ui_output_*.csv")
    theirs = path.read_text().splitlines()
    assert main(["hotspots", str(captures / name), "--timing", "amd", "--csv"]) == 0
    ours = capsys.readouterr().out.splitlines()
    assert len(ours) == len(theirs) == rows + 1
    equal = sum(a.startswith(b + ",") for a, b in zip(ours, theirs, strict=True))
    print(f"{name}: {equal - 1} of {rows} rows equal byte for byte")
    assert equal == rows + 1
    parsed = [row[:8] for row in csv.reader(io.StringIO("\n".join(ours)))]
    assert parsed == list(csv.reader(theirs))


def test_without_waves_the_counts_of_code_json_are_given_with_the_reason(captures, capsys):
    assert main(["hotspots", str(captures / "ui_missing_waves"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["captures"]
    assert sum(row["hits"] for row in found["rows"]) == 628_560
    assert sum(row["matrix_cycles"] for row in found["rows"]) == 262_144 * 16
    assert any("4 of 4 wave files are missing" in note for note in found["notes"][-1:])


def test_matrix_cycles_of_the_lines_equal_the_counter(captures):
    from tracekit.analysis.hotspots import hotspots

    path = captures / "wave_gemm_bf16_gfx950"
    for timing in ("exact", "amd"):
        rows = hotspots(tracekit.open(path).timeline(timing)).rows
        # SQ_VALU_MFMA_BUSY_CYCLES counts 1,024 on each of the two CUs.
        assert rows["matrix_cycles"].sum() == 2048


@pytest.mark.slow
def test_rocprofv2_has_lines_but_no_addresses(captures, capsys, tmp_path):
    path = captures / "legacy_rocprofv2_ui"
    assert main(["hotspots", str(path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["captures"]
    assert sum(row["hits"] for row in found["rows"]) == 69_744
    assert main(["export", str(path), "--format", "rcv", "-o", str(tmp_path / "out")]) == 1
    assert "by address" in capsys.readouterr().err


def test_lines_are_written_in_the_order_and_with_the_counts_of_code_json(captures):
    path = directory(captures / "ui_missing_waves")
    written = dict(rcv.documents(Analysis(tracekit.open(path).timeline("amd"))))
    assert written["code.json"] == json.loads((path / "code.json").read_text())
