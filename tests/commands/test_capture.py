"""``tracekit capture`` with a stand-in rocprofv3 that checks its arguments."""

import json
import sys
from pathlib import Path

import pytest

from tracekit.cli import main

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"

STAND_IN = """#!{python}
import json, pathlib, shutil, subprocess, sys
from tracekit.sqtt.encode import header_bytes, pack
from tracekit.sqtt.layout import Token

arguments = sys.argv[1:]
if arguments == ["--version"]:
    sys.exit(print("rocprofv3 version: 1.1.0"))
if arguments == ["--help"]:
    sys.exit(print({help!r}))
cut = arguments.index("--")
options, program = arguments[:cut], arguments[cut + 1:]
assert options[0] == "--att", options
values = dict(zip(options[1::1], options[2::1]))
folder = pathlib.Path(values["-d"])
with open({log!r}, "a") as log:
    log.write(json.dumps([options, program]) + "\\n")
code = subprocess.run(program).returncode
if code:
    sys.exit(code)
inside = folder / "host"
inside.mkdir(parents=True)
name = "1000_1_shader_engine_0_1.att"
if values["--att-target-cu"] == {busy!r}:
    shutil.copytree({sample!r}, inside, dirs_exist_ok=True)
elif {busy!r} != "none written":
    elsewhere = dict(simd=0, slot=0, cu=int({busy!r}))
    (inside / name).write_bytes(
        header_bytes(target_cu=int(values["--att-target-cu"]))
        + pack(Token.TIME, timestamp=1000)
        + pack(Token.WAVE_START, count=64, **elsewhere)
        + pack(Token.WAVE_END, **elsewhere)
        + bytes(64)
    )
sys.exit({code})
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """``stand_in(busy="5") -> runs``: installs it; ``runs()`` are [options, program] so far."""
    log = tmp_path / "log.jsonl"

    def install(busy="5", help="--att  --kernel-trace", code=0):
        program = tmp_path / "bin" / "rocprofv3"
        program.parent.mkdir()
        program.write_text(
            STAND_IN.format(
                python=sys.executable, log=str(log), sample=str(SAMPLE), busy=busy, help=help,
                code=code,
            )
        )  # fmt: skip
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROCM_PATH", raising=False)
    return install


def run(capfd, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_an_empty_cu_is_retried_where_waves_ran(stand_in, capfd):
    runs = stand_in(busy="5")
    code, out, err = run(
        capfd, "capture", "--window", "span", "--", sys.executable, "-c", "print('application')"
    )
    assert code == 0
    assert [options[options.index("--att-target-cu") + 1] for options, _ in runs()] == ["1", "5"]
    assert "CU 1: no wave ran there" in err
    # The application's output is not the result.
    assert "application" in err
    assert "application" not in out
    assert "pipe occupancy" in out
    assert "cu5" in out
    assert Path("tracekit_capture/cu5/host/1000_1_shader_engine_0_1.att").is_file()


def test_every_option_reaches_rocprofv3(stand_in, capfd):
    runs = stand_in(busy="2")
    code, _, _ = run(
        capfd, "capture", "--cu", 2, "--kernel", "gemm.*", "--iterations", "3-5",
        "--se-mask", "0x11", "--simd-mask", 3, "--buffer-size", "96M", "--counter",
        "SQ_WAVES:0x1", "--counter", "SQ_INSTS_VALU", "--counter-period", 8, "--library-path",
        "/some where", "-o", "there", "--window", "span", "--", "true", "--cu", "7",
    )  # fmt: skip
    assert code == 0
    ((options, program),) = runs()
    assert options == [
        "--att", "--att-target-cu", "2", "--att-shader-engine-mask", "0x11",
        "--att-simd-select", "0x3", "--att-buffer-size", "100663296",
        "--att-perfcounters", "SQ_WAVES:0x1 SQ_INSTS_VALU", "--att-perfcounter-ctrl", "8",
        "--att-library-path", "/some where", "--kernel-include-regex", "gemm.*",
        "--kernel-iteration-range", "[3-5]", "--kernel-trace", "--output-format", "csv",
        "-d", "there/cu2",
    ]  # fmt: skip
    assert program == ["true", "--cu", "7"]


@pytest.mark.parametrize(
    ("name", "mask"), [("one", "0x1"), ("xcd", "0xf"), ("each-xcd", "0x11111111"),
                       ("all", "0xffffffff")],
)  # fmt: skip
def test_engines_have_names(capfd, tmp_path, monkeypatch, name, mask):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capfd, "capture", "--dry-run", "--se-mask", name, "--", "true")
    assert f"--att-shader-engine-mask {mask} " in out


def test_further_arguments_are_passed_on(stand_in, capfd):
    runs = stand_in(busy="1")
    code, _, _ = run(
        capfd, "capture", "--rocprofv3", "--log-level 'trace all'", "--window", "span", "--", "true"
    )
    assert code == 0
    assert runs()[0][0][-2:] == ["--log-level", "trace all"]


def test_runs_are_repeated_on_the_cu_that_had_waves_and_their_noise_told(stand_in, capfd):
    runs = stand_in(busy="5")
    code, out, err = run(capfd, "capture", "--repeat", 3, "--window", "span", "--", "true")
    assert code == 0
    assert [options[options.index("--att-target-cu") + 1] for options, _ in runs()] == [
        "1", "5", "5", "5",
    ]  # fmt: skip
    assert "run 3 of 3" in err
    assert out.count("pipe occupancy") == 3
    assert "noise over 3 runs: matrix pipe busy" in out
    assert "standard deviation 0.00 points" in out


def test_it_ends_with_the_page_where_that_is_wanted(stand_in, capfd):
    stand_in(busy="1")
    code, out, _ = run(capfd, "capture", "--explain", "--window", "span", "--", "true")
    assert code == 0
    assert out.startswith("matrix pipe busy")
    assert "why idle" in out


def test_no_wave_anywhere_ends_after_the_attempts(stand_in, capfd):
    runs = stand_in(busy="15")
    code, out, err = run(
        capfd, "capture", "--cu", 15, "--attempts", 1, "--window", "span", "--", "true"
    )
    assert code == 0
    code, out, err = run(capfd, "capture", "--attempts", 1, "-o", "two", "--", "true")
    assert (code, out) == (1, "")
    assert "no wave on CU 1" in err
    assert "--se-mask" in err
    assert len(runs()) == 2


def test_a_run_without_a_trace_says_why_it_may_be(stand_in, capfd):
    stand_in(busy="none written")
    code, out, err = run(capfd, "capture", "--", "true")
    assert (code, out) == (1, "")
    assert "left no thread trace" in err
    assert "--kernel" in err


def test_a_profiler_that_crashes_after_writing_is_read(stand_in, capfd):
    stand_in(busy="1", code=139)
    code, out, err = run(capfd, "capture", "--window", "span", "--", "true")
    assert code == 0
    assert "rocprofv3 ended with 139; reading what it left" in err
    assert "pipe occupancy" in out


def test_the_exit_of_the_application_is_told(stand_in, capfd):
    stand_in()
    code, _, err = run(capfd, "capture", "--", "false")
    assert code == 1
    assert "rocprofv3 ended with 1" in err


def test_an_old_capture_is_not_mixed_with_a_new_one(stand_in, capfd):
    runs = stand_in(busy="1")
    assert run(capfd, "capture", "--window", "span", "--", "true")[0] == 0
    code, _, err = run(capfd, "capture", "--", "true")
    assert code == 1
    assert "not empty" in err
    assert len(runs()) == 1


def test_dry_run_explains_and_runs_nothing(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = run(capfd, "capture", "--dry-run", "--se-mask", "0xF0", "--", "./app", "a b")
    assert code == 0
    assert out.splitlines()[0] == (
        "rocprofv3 --att --att-target-cu 1 --att-shader-engine-mask 0xf0 --att-simd-select 0xf "
        "--kernel-trace --output-format csv -d tracekit_capture/cu1 -- ./app 'a b'"
    )
    assert "rocprofv3 was not found" in err
    assert not list(tmp_path.iterdir())


def test_without_rocprofv3_one_line_says_what_is_needed(capfd, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    code, out, err = run(capfd, "capture", "--", "true")
    assert (code, out) == (1, "")
    assert "ROCm 7.0 or later" in err
    assert len(err.strip().splitlines()) == 1


def test_rocprofv3_of_the_rocm_installation_is_found(stand_in, capfd, tmp_path, monkeypatch):
    runs = stand_in(busy="1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert run(capfd, "capture", "--window", "span", "--", "true")[0] == 0
    assert len(runs()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--iterations", "0"), ("--iterations", "5-3"), ("--iterations", "x"), ("--cu", "16"),
        ("--buffer-size", "1K"), ("--buffer-size", "3G"), ("--simd-mask", "0"),
        ("--se-mask", "many"), ("--repeat", "0"), ("--rocprofv3", "'"),
        ("--window", "sometimes"), ("--counter", "A") * 9,
    ],
)  # fmt: skip
def test_impossible_values_are_wrong_usage(capfd, arguments):
    code, out, _ = run(capfd, "capture", *arguments, "--", "true")
    assert (code, out) == (2, "")


@pytest.mark.parametrize(
    "message",
    [
        "[rocprofv3] Fatal error: rocprof-trace-decoder library path not found in ['', '/opt/lib']",
        "F20250713 19:30:14 att_lib_wrapper.cpp:126] Error loading decoder: 37",
    ],
)
def test_a_missing_decoder_library_is_quoted_with_the_way_out(
    tmp_path, monkeypatch, capfd, message
):
    program = tmp_path / "bin" / "rocprofv3"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        'if "--help" in sys.argv: sys.exit(print("--att"))\n'
        f"print({message!r}, file=sys.stderr)\nsys.exit(1)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capfd, "capture", "--", "true")
    assert (code, out) == (1, "")
    last = err.splitlines()[-1]
    assert f'it says "{message}"' in last
    assert "--library-path" in last
    assert "tracekit doctor" in last
    assert "--kernel" not in last


def test_quiet_leaves_the_profilers_own_words(stand_in, capfd):
    stand_in(busy="1")
    code, out, err = run(
        capfd, "capture", "-q", "--window", "span", "--", sys.executable, "-c", "print('words')"
    )
    assert code == 0
    assert "pipe occupancy" in out
    assert err == "words\n"
