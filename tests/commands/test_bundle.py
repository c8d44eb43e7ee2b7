"""``tracekit bundle``: an archive that opens as the capture does."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tracekit.build import open_capture
from tracekit.cli import main
from tracekit.errors import FormatError
from tracekit.record import bundle

TRACES = Path(__file__).parents[2] / "traces"


def run(capsys, *arguments):
    code = main([str(each) for each in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def rows(capsys, path):
    code, out, _ = run(capsys, "occupancy", path, "--json")
    assert code == 0
    return [each["rows"] for each in json.loads(out)["captures"]]


def opens_alike(capsys, path, folder, ending):
    archive = folder / f"one{ending}"
    code, out, error = run(capsys, "bundle", path, "-o", archive)
    assert code == 0, error
    assert rows(capsys, archive) == rows(capsys, path)
    return archive, out


@pytest.mark.parametrize("ending", bundle.ENDINGS)
def test_a_bundle_opens_as_the_capture_does(capsys, tmp_path, ending):
    archive, out = opens_alike(capsys, TRACES / "zyfa_gap_exact", tmp_path, ending)
    listed = [line.split()[-1] for line in out.splitlines()]
    assert "1_1_shader_engine_0_1.att" in listed
    if ending == ".tar":
        with tarfile.open(archive) as found:
            assert sorted(found.getnames()) == sorted(listed)
            about = json.load(found.extractfile(bundle.MANIFEST))
        assert about["environment"]["tracekit"]
        assert {each["kind"] for each in about["files"]} >= {"stream", "listing", "profiler"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "aiter_fp4_gemm_gfx950_before",
        "aiter_fp4_gemm_gfx950_after/ui_output_agent_22109_dispatch_20",
        "gemm_bf16_gfx942",
        "tinygrad_gemm_gfx950",
        "wave_gemm_bf16_gfx950",
    ],
)
def test_real_captures_bundle(capsys, tmp_path, captures, name):
    opens_alike(capsys, captures / name, tmp_path, ".tar.gz")


def with_source(folder, file):
    """A capture whose listing names ``file``."""
    shutil.copytree(TRACES / "pingpong", folder)
    listing = json.loads((folder / "code.json").read_text())
    for row in listing["code"]:
        row[3] = f"{file}:7"
    (folder / "code.json").write_text(json.dumps(listing))
    return folder


def test_sources_that_the_listing_names_go_in(capsys, tmp_path):
    source = tmp_path / "kernel.hip"
    source.write_text("// a kernel\n")
    path = with_source(tmp_path / "capture", source)
    _, out, _ = run(capsys, "bundle", path, "--list")
    assert f"sources{source}" in out
    _, out, _ = run(capsys, "bundle", path, "--list", "--no-sources")
    assert "sources" not in out


def test_what_is_no_source_stays_out(capsys, tmp_path):
    secret = tmp_path / "id_rsa"
    secret.write_text("secret\n")
    _, out, _ = run(capsys, "bundle", with_source(tmp_path / "capture", secret), "--list")
    assert "id_rsa" not in out


def test_listing_it_writes_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "bundle", TRACES / "pingpong", "--list")
    assert code == 0
    assert out.count("\n") >= 4
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_gone_is_named(tmp_path):
    source = tmp_path / "kernel.hip"
    source.write_text("// a kernel\n")
    capture = open_capture(with_source(tmp_path / "capture", source))
    items = bundle.contents(capture)
    source.unlink()
    with pytest.raises(FormatError, match=r"kernel\.hip: No such file"):
        bundle.write(capture, items, tmp_path / "one.tar")


def test_bad_requests_are_one_line(capsys, tmp_path):
    path = TRACES / "pingpong"
    code, _, error = run(capsys, "bundle", path, "-o", tmp_path / "one.rar")
    assert (code, "expected a name in .tar" in error) == (2, True)
    code, _, error = run(capsys, "bundle", path)
    assert (code, "give -o FILE, or --list" in error) == (2, True)
    archive = tmp_path / "one.tar"
    run(capsys, "bundle", path, "-o", archive)
    code, _, error = run(capsys, "bundle", path, "-o", archive)
    assert (code, "--force writes over it" in error) == (1, True)
    code, _, error = run(capsys, "bundle", archive, "-o", tmp_path / "two.tar")
    assert (code, "is an archive already" in error) == (1, True)
    code, _, error = run(capsys, "bundle", path, "-o", tmp_path / "none" / "one.tar")
    assert code == 1
    assert "No such file" in error
