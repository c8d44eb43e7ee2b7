"""The kernel of ``docs/markers.md`` compiles, and its markers are read as the page says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tracekit
from tracekit.analysis.flames import flames
from zyfa.sim import run

PAGE = (Path(__file__).parents[2] / "docs" / "markers.md").read_text(encoding="utf-8")
KEYWORDS = (
    "#define __global__ __attribute__((global))\n#define __device__ __attribute__((device))\n"
)


@pytest.fixture
def compiled(tmp_path):
    pytest.importorskip("ziglang", reason="the compiler comes with the ziglang wheel")
    (source,) = re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)
    text, out = tmp_path / "k.hip", tmp_path / "k.co"
    text.write_text(KEYWORDS + source)
    subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only",
         "--offload-arch=gfx950", "-nogpuinc", "-nogpulib", "-O2", "-S", str(text), "-o",
         str(tmp_path / "k.s")],
        check=True, capture_output=True,
    )  # fmt: skip
    for command in (
        ["clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-c", str(tmp_path / "k.s"), "-o",
         str(tmp_path / "k.o")],
        ["ld.lld", "-shared", str(tmp_path / "k.o"), "-o", str(out)],
    ):  # fmt: skip
        subprocess.run([sys.executable, "-m", "ziglang", *command], check=True, capture_output=True)
    return out


def test_the_hip_kernel_has_named_scopes(compiled, tmp_path):
    folder = tmp_path / "capture"
    data = np.arange(64, dtype=np.float32)
    result = run(compiled.read_bytes(), None, [data], block=64, capture=folder)
    np.testing.assert_array_equal(result.outputs[0], np.arange(64, dtype=np.float32) ** 2)
    timeline = tracekit.open(folder).timeline()
    scopes = flames(timeline)
    assert dict(timeline.marker_names) == {1: "load", 2: "math"}
    assert scopes["name"].tolist() == ["load", "math"]
    # The wait for the load is inside: it takes hundreds of cycles there, and none after it.
    cycles = dict(zip(scopes["name"], scopes["cycles"], strict=True))
    assert cycles["load"] > 300 > cycles["math"]


def test_markers_cost_what_the_page_says(compiled, tmp_path):
    run(compiled.read_bytes(), None, [np.zeros(64, np.float32)], block=64, capture=tmp_path / "c")
    table = tracekit.open(tmp_path / "c").timeline().instructions
    own = table[table["instruction"].astype(str).str.match(r"s_ttracedata|s_mov_b32 m0|s_nop 0$")]
    assert len(own) >= 8
    assert set(own["duration"]) == {4}
