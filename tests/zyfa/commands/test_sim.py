"""`zyfa sim` and `zyfa lint`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zyfa.cli import main

SOURCE = Path(__file__).parents[1] / "sim" / "hip" / "kernels.hip"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Path:
    """A code object with all HIP kernels of the tests."""
    pytest.importorskip("ziglang", reason="clang for gfx950 comes with the ziglang wheel")
    folder = tmp_path_factory.mktemp("co")
    text, obj, linked = (folder / f"k.{end}" for end in ("s", "o", "co"))
    zig = [sys.executable, "-m", "ziglang"]
    hip = ["-x", "hip", "--offload-device-only", "--offload-arch=gfx950", "-nogpulib", "-nogpuinc"]
    for command in (
        ["clang", *hip, "-O2", "-S", str(SOURCE), "-o", str(text)],
        ["clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-c", str(text), "-o", str(obj)],
        ["ld.lld", "-shared", str(obj), "-o", str(linked)],
    ):
        subprocess.run([*zig, *command], check=True, capture_output=True)
    return linked


def test_run_saves_outputs_and_a_capture(kernel, tmp_path, capsys):
    arguments = ["--args", "random:f32:300,random:f32:300,zeros:f32:300,300"]
    code = main(
        ["sim", str(kernel), "--name", "vector_add", "--grid", "2", "--block", "256", *arguments,
         "-o", str(tmp_path / "c"), "--save", str(tmp_path / "out")]
    )  # fmt: skip
    assert code == 0
    assert "cycles" in capsys.readouterr().out
    a, b, c = (np.load(tmp_path / "out" / f"arg{n}.npy") for n in range(3))
    np.testing.assert_array_equal(c, a + b * np.float32(0.5))
    assert json.loads((tmp_path / "c" / "meta.json").read_text())["simulated"] is True


def test_functional_run_of_some_workgroups(kernel, capsys):
    code = main(
        ["sim", str(kernel), "--name", "vector_add", "--grid", "4", "--block", "256",
         "--functional", "--args", "random:f32:1024,random:f32:1024,zeros:f32:1024,1024",
         "--workgroups", "1-2"]
    )  # fmt: skip
    assert code == 0
    assert "cycles" not in capsys.readouterr().out


def test_parameters_are_printed(capsys):
    assert main(["sim", "--parameters"]) == 0
    shown = capsys.readouterr().out
    assert "transcendental_port = 8" in shown
    assert "ashr_pk_refused = 0  # 0/1; assumed, bad end 1; 1: v_ashr_pk refused in" in shown


def test_unknown_kernel_is_an_error(kernel, capsys):
    assert main(["sim", str(kernel), "--name", "nope"]) == 3
    assert "no kernel 'nope'" in capsys.readouterr().err


def test_replay(capsys):
    path = Path(__file__).parents[4] / "shared" / "captures" / "gemm_bf16_gfx942"
    if not path.is_dir():
        pytest.skip("captures not found at ../shared/captures")
    assert main(["sim", "--replay", str(path)]) == 0
    assert "naive model" in capsys.readouterr().out


def test_lint_is_silent_on_compiler_output(kernel, capsys):
    assert main(["lint", str(kernel)]) == 0
    assert capsys.readouterr().out == ""
