"""`run`: arguments, grids, the timed CU, source lines in errors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from zyfa.sim import SimError, UnknownInstruction, run
from zyfa.sim.state.loader import load

STORE = """
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshl_add_u32 v1, s2, 6, v0
v_lshlrev_b32_e32 v2, 2, v1
s_waitcnt lgkmcnt(0)
global_store_dword v2, v1, s[4:5]
"""


def test_buffers_are_returned_and_written_back(assemble):
    out = np.zeros(256, np.uint32)
    result = run(assemble(STORE, buffers=1), args=[out], grid=4)
    np.testing.assert_array_equal(out, np.arange(256))
    np.testing.assert_array_equal(result.outputs[0], out)
    assert result.cycles is None


def test_read_only_arrays_keep_their_content(assemble):
    out = np.zeros(64, np.uint32)
    out.flags.writeable = False
    result = run(assemble(STORE, buffers=1), args=[out])
    assert not out.any()
    np.testing.assert_array_equal(result.outputs[0], np.arange(64))


def test_part_of_a_grid(assemble):
    out = np.zeros(256, np.uint32)
    run(assemble(STORE, buffers=1), args=[out], grid=4, workgroups=[2])
    np.testing.assert_array_equal(np.flatnonzero(out), np.arange(128, 192))


def test_other_cus_run_without_time(assemble):
    out = np.zeros(256, np.uint32)
    result = run(assemble(STORE, buffers=1), args=[out], grid=4, timing=True, on_cu=[1])
    np.testing.assert_array_equal(out, np.arange(256))
    assert len(result.timing.tracks) == 1


def test_waves_of_one_cu_share_it(assemble):
    out = np.zeros(4096, np.uint32)
    code = assemble(STORE, buffers=1)
    one = run(code, args=[out], grid=1, timing=True)
    many = run(code, args=[out], grid=64, timing=True)
    assert one.cycles < many.cycles < 64 * one.cycles


@pytest.mark.parametrize("timing", [False, True])
def test_endless_loop_is_stopped(assemble, timing, monkeypatch):
    monkeypatch.setattr("zyfa.sim.runs.functional.LIMIT", 1000)
    with pytest.raises(SimError, match="does not end"):
        run(assemble("again:\ns_branch again\n"), timing=timing)


def test_wrong_number_of_arguments(assemble):
    with pytest.raises(SimError, match="takes 1 arguments, got 2"):
        run(assemble(STORE, buffers=1), args=[np.zeros(64), 3])


def test_kernel_descriptor(assemble):
    kernel = load(assemble("", lds=4096, denorm=0, overflow=1)).kernel()
    assert kernel.lds == 4096
    assert kernel.denorm_f32 == 0
    assert kernel.fp16_overflow
    assert kernel.accum_offset == 128
    assert kernel.vgprs == 256


@pytest.mark.parametrize("data", [b"", b"no elf", b"\x7fELF" + bytes(60)])
def test_garbage_is_refused(data):
    with pytest.raises(SimError):
        load(data)


def test_errors_name_the_source_line(tmp_path):
    pytest.importorskip("ziglang", reason="clang for gfx950 comes with the ziglang wheel")
    source = tmp_path / "where.hip"
    source.write_text(
        '#define __global__ __attribute__((global))\n'
        'extern "C" __global__ void k(int *out) {\n'
        '  int x;\n'
        '  __asm__("v_prng_b32 %0, %1" : "=v"(x) : "v"(1));\n'
        '  *out = x;\n}\n'
    )  # fmt: skip
    zig = [sys.executable, "-m", "ziglang"]
    text, obj, linked = (str(tmp_path / f"k.{end}") for end in ("s", "o", "co"))
    for command in (
        ["clang", "-x", "hip", "--offload-device-only", "--offload-arch=gfx950", "-nogpulib",
         "-nogpuinc", "-O1", "-g", "-S", str(source), "-o", text],
        ["clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-c", text, "-o", obj],
        ["ld.lld", "-shared", obj, "-o", linked],
    ):  # fmt: skip
        subprocess.run([*zig, *command], check=True, capture_output=True)
    with pytest.raises(UnknownInstruction, match=r"v_prng_b32.*PC 0x.*where\.hip:4"):
        run(linked, args=[np.zeros(1, np.int32)])
