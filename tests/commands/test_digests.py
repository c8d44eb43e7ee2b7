"""Digests: what they say equals what the capture says, and what they cannot say they refuse."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tracekit.cli import main
from tracekit.commands.digests import SERVED
from tracekit.commands.options import Source
from tracekit.digest.container import VERSION, Container
from tracekit.digest.digest import Opened

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(path.parent.name for path in (ROOT / "traces").glob("*/*.att"))
SAMPLE = ROOT / "traces" / "lockstep"
OTHER = ROOT / "traces" / "pingpong"
FORMS = ([], ["--json"], ["--csv"])
WINDOWED = {"occupancy", "budget", "bubbles", "memory", "waits", "overlap", "shapes"}
VARIANTS = {"budget": ["--opcodes"], "waits": ["--loads"]}
FOLDED = {"occupancy", "budget", "bubbles", "loops", "memory", "waits", "overlap", "shapes"}
#: Commands that need instructions, with what else they need on their line.
NEEDY = {"instructions": [], "waves": [], "clock": [], "counters": [], "markers": [],
         "export": ["--format", "html"], "dashboard": []}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def shared_analyses():
    """The same capture read the same way is decoded and analysed once."""
    kept, whole = {}, Source.whole

    def remembered(self, window="steady"):
        if type(self) is not Source:
            return whole(self, window)
        key = repr(replace(self, quiet=False, each=False)), window
        if key not in kept:
            kept[key] = list(whole(self, window))
        return iter(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Source, "whole", remembered)
        yield


@pytest.fixture(scope="module")
def digest(tmp_path_factory):
    """``digest(path, *options)``: the digest of a capture, saved once."""
    folder, kept = tmp_path_factory.mktemp("digests"), {}

    def saved(path, *options):
        if (path, options) not in kept:
            file = folder / f"{len(kept)}.tkd"
            assert main(["explain", str(path), "-q", "--save", str(file), *options]) == 0
            kept[path, options] = file
        return kept[path, options]

    return saved


@pytest.fixture
def run(capsys):
    def command(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


def lines():
    """Every command that digests serve, with its windows, variants and forms."""
    for command in (*SERVED, "explain"):
        windows = (["--window", "steady"], ["--window", "span"])
        for window in windows if command in WINDOWED | {"explain"} else ([],):
            variants = [VARIANTS[command]] if command in VARIANTS else []
            variants += [["--per-simd"]] if command in FOLDED else []
            for variant in ([], *variants):
                for form in FORMS if command != "explain" else FORMS[:2]:
                    yield [command, *window, *variant, *form]
        yield [command] if command == "explain" else [command, "--all"]


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_digest_says_what_the_capture_says(sample, digest, run):
    path = ROOT / "traces" / sample
    file = digest(path)
    assert file.stat().st_size <= 64 << 10
    for command, *options in lines():
        expected = run(command, path, *options)
        assert expected[0] == 0
        assert run(command, file, *options) == expected, (command, options)


REAL = ("aiter_fp4_gemm_gfx950_after", "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44",
        "fp8_mla_no_mfma_gfx950", "legacy_rocprofv2_ui", "tinygrad_empty_gfx950")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_a_digest_of_a_real_capture_keeps_to_its_size_and_says_what_it_left_out(
    name, captures, digest, run
):
    path = captures / name
    file = digest(path, "--no-gain")
    size = sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    assert file.stat().st_size <= max(64 << 10, size // 100)
    for command, *options in lines():
        if "--json" not in options:
            continue
        options += ["--no-gain"] if command == "explain" else []
        expected, found = (run(command, each, *options) for each in (path, file))
        (left,), (right,) = (json.loads(out)["captures"] for _, out, _ in (expected, found))
        cut = right.pop("truncated", {})
        assert command != "explain" or not cut
        for table, counts in cut.items():
            assert (counts["kept"], counts["of"]) == (len(right[table]), len(left[table]))
            rows = iter(left.pop(table))
            assert all(row in rows for row in right.pop(table))
        assert right == left


@pytest.mark.slow
@pytest.mark.parametrize("width", ["60", "100"])
def test_tables_from_a_digest_fit_the_room_as_those_of_the_capture(width, digest, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    for command in SERVED:
        expected = run(command, SAMPLE)
        assert run(command, digest(SAMPLE)) == expected
        assert run(command, digest(SAMPLE), "--wide") == run(command, SAMPLE, "--wide")
    assert ": --wide" in run("occupancy", digest(SAMPLE))[1]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["md", "html", "json", "txt"])
def test_a_page_from_a_digest_is_the_page_of_the_capture(ending, digest, run, tmp_path):
    files = [tmp_path / f"{name}.{ending}" for name in ("capture", "digest")]
    assert run("explain", SAMPLE, "-o", files[0])[0] == 0
    assert run("explain", digest(SAMPLE), "-o", files[1])[0] == 0
    assert files[0].read_text() == files[1].read_text()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_several_captures_of_a_path_stay_apart(digest, run, form):
    file = digest(ROOT / "traces")
    for command in ("occupancy", "check", "info", "hotspots"):
        assert run(command, file, *form) == run(command, ROOT / "traces", *form)
    assert file.stat().st_size <= len(SAMPLES) * (64 << 10)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_several_digests_are_written_as_several_captures(digest, run, form):
    for command in ("occupancy", "check", "hotspots"):
        paths = [SAMPLE, OTHER]
        assert run(command, *map(digest, paths), *form) == run(command, *paths, *form)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS[:2])
def test_a_digest_is_a_base_to_explain(digest, run, form):
    expected = run("explain", OTHER, "--base", SAMPLE, *form)
    assert run("explain", OTHER, "--base", digest(SAMPLE), *form) == expected
    assert run("explain", digest(OTHER), "--base", digest(SAMPLE), *form) == expected
    assert "shrank" in expected[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_digest_is_a_base_to_compare(digest, run, form):
    options = [*form, "--require", "matrix>=0"]
    expected = run("compare", SAMPLE, OTHER, *options)
    code, out, err = run("compare", digest(SAMPLE), OTHER, *options)
    assert (code, out) == expected[:2]
    assert sorted(err.splitlines()) == sorted(expected[2].splitlines())
    assert run("compare", digest(SAMPLE), digest(OTHER), *options)[:2] == expected[:2]


@pytest.mark.slow
def test_gates_decide_by_a_digest(digest, run):
    for options in (["--fail-under", "99"], ["--fail-under", "10"]):
        assert run("occupancy", digest(SAMPLE), *options) == run("occupancy", SAMPLE, *options)
    assert run("occupancy", digest(SAMPLE), "--fail-under", "99")[0] == 3
    assert run("check", digest(SAMPLE), "--strict")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", NEEDY)
def test_a_command_that_needs_instructions_says_that_a_digest_holds_none(command, digest, run):
    code, out, err = run(command, digest(SAMPLE), *NEEDY[command])
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert f"a digest holds no instructions, which {command} needs" in line
    assert all(name in line for name in SERVED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("occupancy", "--window", "10%:20%"),
        ("explain", "--window", "10%:20%"),
        ("waits", "--timing", "amd"),
        ("hotspots", "--se", "0"),
        ("explain", "--simd", "0"),
        ("bubbles", "--minimum", "8"),
        ("info", "--listing", "code.json"),
    ],
)
def test_an_option_that_a_digest_cannot_honour_is_refused(command, option, value, digest, run):
    code, out, err = run(command, digest(SAMPLE), option, value)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert option in line
    assert "saved with windows steady, span; no other option" in line


@pytest.mark.slow
def test_options_of_the_save_hold_for_the_digest(digest, run):
    window, part = ("--window", "10%:60%"), ("--simd", "1", "--timing", "amd")
    file = digest(SAMPLE, *window, *part)
    for command in ("explain", "occupancy", "waits"):
        expected = run(command, SAMPLE, *window, *part, "--json")
        assert run(command, file, *window, "--json") == expected
        assert run(command, file, *window, *part, "--json") == expected
    code, _, err = run("occupancy", file, "--simd", "2")
    assert code == 2
    assert "saved with windows 10%:60%, steady, span; --timing amd, --simd 1" in err


@pytest.mark.slow
def test_captures_and_digests_do_not_mix(digest, run):
    code, _, err = run("occupancy", SAMPLE, digest(SAMPLE))
    assert code == 2
    assert "not both" in err


@pytest.mark.slow
def test_a_file_is_overwritten_only_when_forced(digest, run):
    file = digest(SAMPLE)
    before = file.read_bytes()
    code, out, err = run("explain", SAMPLE, "--save", file)
    assert (code, out) == (1, "")
    assert "--force" in err
    assert file.read_bytes() == before
    code, _, err = run("explain", SAMPLE, "--save", file, "-f")
    assert code == 0
    assert f"{file}: " in err
    assert file.read_bytes() == before


@pytest.mark.slow
def test_a_digest_names_the_capture_by_its_content(digest, run):
    found = Opened.of(digest(SAMPLE))
    _, out, _ = run("explain", SAMPLE, "--json")
    (kernel,) = json.loads(out)["captures"][0]["kernels"]
    (entry,) = found.container.head["captures"]
    assert entry == {"capture": "lockstep", "capture_hash": kernel["scope"]["capture_hash"]}


def test_what_is_no_digest_is_refused_by_one_line_with_its_place(tmp_path, run):
    file = tmp_path / "bad.tkd"
    wrong = {
        b"": "byte 0x0: no digest",
        b"\x80\x04\x95pickle": "byte 0x0: no digest",
        b"tracekit digest x\n": "byte 0x10: no digest: expected its version",
        b"tracekit digest %d\n{}\n"
        % (VERSION + 1): f"byte 0x10: a digest of version {VERSION + 1}",
        b"tracekit digest %d\n{" % VERSION: "byte 0x12: cut off",
        b"tracekit digest %d\n[]\n" % VERSION: "byte 0x12: expected a JSON object",
        b"tracekit digest %d\n{}\n" % VERSION: "byte 0x12: expected the sizes",
    }
    for content, expected in wrong.items():
        file.write_bytes(content)
        code, out, err = run("explain", file)
        assert (code, out) == (1, "")
        assert err.startswith(f"tracekit: {file}: {expected}")
        assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_a_digest_that_is_cut_or_damaged_is_refused_at_its_place(digest, run, tmp_path):
    content = digest(SAMPLE).read_bytes()
    file = tmp_path / "bad.tkd"
    places = Container.open(digest(SAMPLE)).places
    for size in (len(content) - 1, places["pages"][0], 40):
        file.write_bytes(content[:size])
        code, out, err = run("explain", file)
        assert (code, out) == (1, "")
        assert f"{file}: byte 0x" in err
        assert "cut off" in err
    for name, command in (("pages", "explain"), ("tables", "waits")):
        offset, packed, _ = places[name]
        for at in range(offset, offset + packed, max(packed // 24, 1)):
            file.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
            code, out, err = run(command, file)
            assert (code, out) == (1, ""), at
            assert err.startswith(f"tracekit: {file}: byte {offset:#x}: member {name}")
            assert len(err.splitlines()) == 1
