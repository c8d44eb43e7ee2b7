"""HIP kernels of our own, compiled by clang for gfx950, give the right numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zyfa import arithmetic
from zyfa.sim import run
from zyfa.sim.isa.program import Program
from zyfa.sim.rules.lint import lint
from zyfa.sim.state.loader import load

pytest.importorskip("ziglang", reason="clang for gfx950 comes with the ziglang wheel")
SOURCE = Path(__file__).parents[1] / "hip" / "kernels.hip"
RNG = np.random.default_rng(950)


def tool(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "ziglang", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module", params=["-O2", "-O3", "-O0"])
def code(request, tmp_path_factory) -> bytes:
    """The linked code object at one optimisation level."""
    folder = tmp_path_factory.mktemp("hip")
    text, obj, linked = (str(folder / f"k.{end}") for end in ("s", "o", "co"))
    tool(
        "clang", "-x", "hip", "--offload-device-only", "--offload-arch=gfx950", "-nogpulib",
        "-nogpuinc", request.param, "-S", str(SOURCE), "-o", text,
    )  # fmt: skip
    tool("clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-c", text, "-o", obj)
    tool("ld.lld", "-shared", obj, "-o", linked)
    return Path(linked).read_bytes()


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_vector_add(code):
    a, b, c = normal(1000), normal(1000), np.zeros(1000, np.float32)
    run(code, "vector_add", [a, b, c, 1000], grid=4, block=256)
    np.testing.assert_array_equal(c, a + b * np.float32(0.5))


def test_reduce_dpp(code):
    x, out = normal(2, 64), np.zeros((2, 64), np.float32)
    run(code, "reduce_dpp", [x, out], grid=2, block=64)
    np.testing.assert_allclose(out, np.repeat(x.sum(1), 64).reshape(2, 64), rtol=1e-5, atol=1e-5)
    assert (out == out[:, :1]).all()


def test_reduce_shared(code):
    x, out = normal(3, 700), np.zeros(3, np.float32)
    run(code, "reduce_shared", [x, out, 700], grid=3, block=256)
    np.testing.assert_allclose(out, x.sum(1), rtol=1e-5, atol=1e-4)


def test_transpose(code):
    x, out = normal(64, 64), np.zeros((64, 64), np.float32)
    run(code, "transpose", [x, out, 64], grid=4, block=256)
    np.testing.assert_array_equal(out, x.T)


def test_softmax(code):
    x, out = normal(2, 300) * 4, np.zeros((2, 300), np.float32)
    run(code, "softmax", [x, out, 300], grid=2, block=64)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, wide / wide.sum(1, keepdims=True), rtol=2e-6, atol=1e-9)


def test_gemm_bf16(code):
    a, b = (arithmetic.bf16_encode(normal(32, 64)) for _ in range(2))
    c = np.zeros((32, 32), np.float32)
    run(code, "gemm_bf16", [a, b, c, 64], grid=1, block=64)
    wide = arithmetic.bf16_decode(a).astype(np.float64) @ arithmetic.bf16_decode(b).T
    np.testing.assert_allclose(c, wide, rtol=1e-5, atol=1e-5)


def test_gemm_i8(code):
    a, b = (RNG.integers(-128, 128, (32, 96)).astype(np.int8) for _ in range(2))
    c = np.zeros((32, 32), np.int32)
    run(code, "gemm_i8", [a, b, c, 96], grid=1, block=64)
    np.testing.assert_array_equal(c, a.astype(np.int64) @ b.T.astype(np.int64))


def test_gemm_fp8_scaled(code):
    a, b = (arithmetic.fp8_e4m3_encode(normal(32, 128)) for _ in range(2))
    sa, sb = (RNG.integers(118, 136, (32, 4)).astype(np.uint8) for _ in range(2))
    c = np.zeros((32, 32), np.float32)
    run(code, "gemm_fp8", [a, b, sa, sb, c, 128], grid=1, block=64)

    def wide(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        power = np.ldexp(1.0, scale.astype(int) - 127)
        return arithmetic.fp8_e4m3_decode(x) * np.repeat(power, 32, axis=1)

    np.testing.assert_allclose(c, wide(a, sa) @ wide(b, sb).T, rtol=1e-5, atol=1e-5)


def test_histogram(code):
    x = RNG.integers(0, 5000, 3000).astype(np.int32)
    bins, largest = np.zeros(64, np.int32), np.zeros(1, np.int32)
    run(code, "histogram", [x, bins, largest, 3000], grid=4, block=256)
    np.testing.assert_array_equal(bins, np.bincount(x & 63, minlength=64))
    assert largest[0] == x.max()


def test_collatz(code):
    x = RNG.integers(1, 3000, 100).astype(np.uint32)
    steps = np.zeros(100, np.int32)
    run(code, "collatz", [x, steps, 100], grid=2, block=64)

    def count(v: int) -> int:
        n = 0
        while v != 1:
            v, n = (3 * v + 1 if v & 1 else v >> 1), n + 1
        return n

    assert steps.tolist() == [count(int(v)) for v in x]


def test_scalar_walk(code):
    table = RNG.integers(-100, 100, 61).astype(np.int32)
    out = np.zeros((2, 64), np.int64)
    run(code, "scalar_walk", [table, out, 40], grid=2, block=64)

    def walk(block: int) -> int:
        total, state = 0, 12345 + block
        for _ in range(40):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            v = int(table[state % 61])
            if v < 0:
                total -= v * v
            elif v & 1:
                total = (total << 1) ^ v
            else:
                total += v.bit_count() + (total >> 3)
            total = (total + (1 << 63)) % (1 << 64) - (1 << 63)
        return total

    expected = [[walk(block) + lane for lane in range(64)] for block in range(2)]
    np.testing.assert_array_equal(out, np.array(expected))


def test_integer_mix(code):
    a = RNG.integers(-(2**31), 2**31, 64).astype(np.int32)
    b = RNG.integers(0, 2**32, 64).astype(np.uint32)
    c = np.zeros(64, np.int32)
    run(code, "integer_mix", [a, b, c, 64], grid=1, block=64)

    def mix(x: int, y: int) -> int:
        y |= 1
        ux, divisor = x & 0xFFFFFFFF, y % 1000 + 1
        quotient = abs(x) // divisor * (1 if x >= 0 else -1)
        r = quotient + ux % y - (32 - y.bit_length())
        shift = y & 31
        r ^= (x << shift) & 0xFFFFFFFF | ux >> (32 - shift) % 32
        s, t = (v - 65536 if (v := w & 0xFFFF) & 0x8000 else v for w in (x, y))
        r += (s * t) >> 3
        r += (x * y) >> 32
        r += int(f"{y:032b}"[::-1], 2)
        return (r + 2**31) % 2**32 - 2**31

    assert c.tolist() == [mix(int(x), int(y)) for x, y in zip(a, b, strict=True)]


def test_float_mix(code):
    a, b, c = normal(64) * 3, normal(64), np.zeros(64, np.float32)
    run(code, "float_mix", [a, b, c, 64], grid=1, block=64)
    x, y = a.astype(np.float64), b.astype(np.float64)
    r = x / y + np.sqrt(np.abs(x)) + np.floor(y)
    r = r * x - y + (x * y + 0.25) / (y * y + 1.0)
    half = (a.astype(np.float16) * np.float16(2) + b.astype(np.float16)).astype(np.float64)
    expected = r + np.trunc(a * np.float32(100)) * 0.5 + half + x * 8
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=2e-3)


def test_bf16_scale(code):
    x = arithmetic.bf16_encode(normal(1024))
    y = np.zeros(1024, np.uint16)
    run(code, "bf16_scale", [x, y, np.float32(1.7)], grid=2, block=64)
    expected = arithmetic.bf16_encode(arithmetic.bf16_decode(x) * np.float32(1.7))
    np.testing.assert_array_equal(y, expected)


def test_lint_is_silent_on_compiler_output(code):
    loaded = load(code)
    program = Program(loaded, loaded.kernel("vector_add"))
    assert len(program.instructions) > 1000
    assert lint(program) == []
