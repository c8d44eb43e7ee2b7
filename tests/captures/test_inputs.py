"""Every shared capture opens; raw streams and the decoded JSON of AMD give the same rows."""

import zipfile

import pytest

import tracekit
from tracekit.analysis.occupancy import occupancy
from tracekit.build import open_all


@pytest.mark.slow
@pytest.mark.parametrize("which", ["before", "after"])
def test_packed_schema_gives_the_same_rows_as_raw(captures, which):
    folder = captures / f"aiter_fp4_gemm_gfx950_{which}"
    raw = tracekit.open(folder).timeline("amd")
    decoded = tracekit.open(next(folder.glob("ui_output_*"))).timeline("amd")
    for column in raw.instructions.columns.drop("type"):
        left, right = raw.instructions[column], decoded.instructions[column]
        assert left.astype(str).tolist() == right.astype(str).tolist(), column
    shares = [occupancy(t, "span").rows["matrix_occupancy"].tolist() for t in (raw, decoded)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-4)


def test_missing_wave_files_are_named_and_the_rest_is_read(captures):
    timeline = tracekit.open(captures / "legacy_rocprofv2_ui").timeline()
    assert len(timeline.waves) == 3
    assert any("969 of 972 wave files" in note for note in timeline.notes)


def test_without_waves_there_is_no_occupancy_but_counts(captures):
    timeline = tracekit.open(captures / "ui_missing_waves").timeline()
    result = occupancy(timeline, "span")
    assert not len(result.rows)
    assert "4 of 4 wave files are missing" in result.notes[0]
    assert int(timeline.listing.hits.sum()) == 628_560


def test_folder_with_two_captures(captures):
    assert len(open_all(captures / "flash_attn_bf16_gfx950")) == 2
    with pytest.raises(tracekit.TracekitError, match="holds 2 captures"):
        tracekit.open(captures / "flash_attn_bf16_gfx950")


def test_zip_reads_as_the_folder_does(captures, tmp_path):
    folder = captures / "tinygrad_gemm_gfx950"
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    packed = tracekit.open(tmp_path / "run.zip").timeline()
    assert packed.instructions.equals(tracekit.open(folder).timeline().instructions)
