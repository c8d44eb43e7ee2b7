"""MFMA layouts and arithmetic against float64, by the layout maps of the documentation."""

from __future__ import annotations

import numpy as np
import pytest

from zyfa import arithmetic
from zyfa.sim import run

RNG = np.random.default_rng(4)
LANE = np.arange(64)


def run_mfma(
    assemble, text: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, extra=()
) -> np.ndarray:
    """Registers of D, uint32[n, 64]: A in v16.., B in v32.., C/D in v64.., scales v96, v97."""
    loads = []
    blocks = [a, b, c, *extra]
    bases = [16, 32, 64, 96, 97]
    for n, (block, base) in enumerate(zip(blocks, bases, strict=False)):
        loads.append(f"s_load_dwordx2 s[4:5], s[0:1], {8 * n}\ns_waitcnt lgkmcnt(0)")
        for r in range(len(block)):
            loads.append(f"global_load_dword v{base + r}, v1, s[4:5] offset:{256 * r}")
    loads.append("s_waitcnt vmcnt(0)")
    stores = [f"s_load_dwordx2 s[4:5], s[0:1], {8 * len(blocks)}\ns_waitcnt lgkmcnt(0)"]
    stores += [f"global_store_dword v1, v{64 + r}, s[4:5] offset:{256 * r}" for r in range(len(c))]
    body = "\n".join(["v_lshlrev_b32_e32 v1, 2, v0", *loads, text, "s_nop 15", "s_nop 7", *stores])
    out = np.zeros((len(c), 64), np.uint32)
    code = assemble(body + "\n", buffers=len(blocks) + 1)
    run(code, args=[*(np.ascontiguousarray(x) for x in blocks), out])
    return out


def k_of(rows: int, elements: int, bits: int) -> np.ndarray:
    """k of element j in lane l: int[64, elements] (8-bit chunks of 16 alternate between groups)."""
    groups, j = 64 // rows, np.arange(elements)[None, :]
    group = (LANE // rows)[:, None]
    if bits == 8 and elements > 16:
        return 16 * groups * (j // 16) + 16 * group + j % 16
    return elements * group + j


def scatter(values: np.ndarray, rows: int, bits: int) -> np.ndarray:
    """Matrix [rows, k] to codes per lane [64, elements]."""
    elements = values.shape[1] * rows // 64
    return values[(LANE % rows)[:, None], k_of(rows, elements, bits)]


def registers(lanes: np.ndarray) -> np.ndarray:
    """Codes of each lane as uint32[registers, 64]."""
    return np.ascontiguousarray(np.ascontiguousarray(lanes).view(np.uint32).reshape(64, -1).T)


def accumulator(d: np.ndarray, rows: int) -> np.ndarray:
    """uint32[n, 64] of D as [rows, rows]."""
    r = np.arange(len(d))[:, None]
    row = 8 * (r // 4) + 4 * (LANE // 32) + r % 4 if rows == 32 else 4 * (LANE // 16) + r
    out = np.zeros((rows, rows), d.dtype)
    out[row, np.broadcast_to(LANE % rows, row.shape)] = d
    return out


FORMATS = {
    "fp8": (0, 8, arithmetic.E4M3, 0x7F), "bf8": (1, 8, arithmetic.E5M2, 0x7B),
    "fp6": (2, 6, arithmetic.E2M3, 64), "bf6": (3, 6, arithmetic.E3M2, 64),
    "fp4": (4, 4, arithmetic.E2M1, 16),
}  # fmt: skip


def pack_bits(codes: np.ndarray, bits: int) -> np.ndarray:
    raw = (codes[..., None] >> np.arange(bits)) & 1
    return np.packbits(raw.reshape(64, -1).astype(np.uint8), axis=1, bitorder="little")


@pytest.mark.parametrize("form_b", FORMATS)
@pytest.mark.parametrize("form_a", FORMATS)
@pytest.mark.parametrize(("rows", "depth"), [(32, 64), (16, 128)])
@pytest.mark.parametrize("scaled", [False, True])
def test_f8f6f4(assemble, rows, depth, form_a, form_b, scaled):
    matrices, blocks, tags = [], [], []
    for form in (form_a, form_b):
        number, bits, table, limit = FORMATS[form]
        codes = RNG.integers(0, limit, (rows, depth)).astype(np.uint8)
        matrices.append(table[codes])
        blocks.append(registers(pack_bits(scatter(codes, rows, bits), bits)))
        tags.append(number)
    c = RNG.normal(size=(rows * rows // 64, 64)).astype(np.float32)
    size = [len(block) - 1 for block in blocks]
    shape = f"{rows}x{rows}x{depth}_f8f6f4"
    last = 63 + len(c)
    text = f"v[64:{last}], v[16:{16 + size[0]}], v[32:{32 + size[1]}], v[64:{last}]"
    formats = f" cbsz:{tags[0]} blgp:{tags[1]}"
    extra = ()
    if scaled:
        scales = RNG.integers(120, 134, (2, rows, depth // 32)).astype(np.uint8)
        byte = (1, 2)
        text = (
            f"v_mfma_scale_f32_{shape} {text}, v96, v97 op_sel:[1,0,0] op_sel_hi:[0,1,0]{formats}"
        )
        lane = [s[LANE % rows, LANE // rows].astype(np.uint32) for s in scales]
        extra = tuple((lane[n] << np.uint32(8 * byte[n]))[None] for n in (0, 1))
        for n in (0, 1):
            matrices[n] = matrices[n] * np.ldexp(1.0, np.repeat(scales[n], 32, 1).astype(int) - 127)
    else:
        text = f"v_mfma_f32_{shape} {text}{formats}"
    d = run_mfma(assemble, text, blocks[0], blocks[1], c.view(np.uint32), extra)
    wide = matrices[0] @ matrices[1].T + accumulator(c, rows).astype(np.float64)
    np.testing.assert_array_equal(accumulator(d.view(np.float32), rows), wide.astype(np.float32))


@pytest.mark.parametrize(
    ("shape", "form"),
    [("32x32x16", "bf16"), ("16x16x32", "bf16"), ("32x32x16", "f16"), ("16x16x32", "f16"),
     ("16x16x32", "fp8_fp8"), ("32x32x16", "fp8_fp8"), ("32x32x8", "f16"), ("16x16x16", "bf16")],
)  # fmt: skip
def test_plain_shapes(assemble, shape, form):
    rows, _, depth = map(int, shape.split("x"))
    x = RNG.normal(size=(2, rows, depth)).astype(np.float32)
    encode, decode, bits = {
        "bf16": (arithmetic.bf16_encode, arithmetic.bf16_decode, 16),
        "f16": (lambda v: v.astype(np.float16), lambda v: v, 16),
        "fp8_fp8": (arithmetic.fp8_e4m3_encode, arithmetic.fp8_e4m3_decode, 8),
    }[form]
    codes = [encode(matrix.reshape(-1)).reshape(rows, depth) for matrix in x]
    blocks = [registers(scatter(code, rows, bits)) for code in codes]
    c = RNG.normal(size=(rows * rows // 64, 64)).astype(np.float32)
    last, size = 63 + len(c), len(blocks[0]) - 1
    text = (
        f"v_mfma_f32_{shape}_{form} v[64:{last}], v[16:{16 + size}], v[32:{32 + size}], "
        f"v[64:{last}]"
    )
    d = run_mfma(assemble, text, *blocks, c.view(np.uint32))
    a, b = (decode(code).astype(np.float64) for code in codes)
    expected = (a @ b.T + accumulator(c, rows)).astype(np.float32)
    np.testing.assert_allclose(
        accumulator(d.view(np.float32), rows), expected, rtol=1e-6, atol=1e-6
    )


def test_row_sum_by_selector(assemble):
    """16x16x128 with the P registers as B sums the 64 keys of query l % 32 in every D register."""
    p = RNG.integers(0, 120, (64, 32)).astype(np.uint8)
    chosen = (LANE % 16 // 4) % 2 == LANE // 16 % 2
    selector = np.where(chosen, 0x38383838, 0).astype(np.uint32)
    text = "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[32:39], v[64:67]"
    zero = np.zeros((4, 64), np.uint32)
    d = run_mfma(assemble, text, np.repeat(selector[None], 8, 0), registers(p), zero)
    values = arithmetic.fp8_e4m3_decode(p)
    sums = (values[:32].sum(1) + values[32:].sum(1)).astype(np.float32)
    np.testing.assert_array_equal(d.view(np.float32), np.tile(sums[LANE % 32], (4, 1)))
