"""Kernels on the simulator against the numerics twin, bit for bit. All results *simulated*.

A pairwise selection; `scripts/zyfa_product.py` runs the full product.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa import simulate  # noqa: E402
from zyfa.codegen import Options  # noqa: E402
from zyfa.quantize import fp8_quantize  # noqa: E402
from zyfa.reference import inputs, twin  # noqa: E402

SCALE = 128**-0.5
CASES = [
    ("lean_ashr", 1, (1, 1, 1), "gaussian"),
    ("lean_ashr", 257, (2, 4, 1), "sink"),
    ("lean_ashr-rowsum_a", 384, (1, 2, 2), "huge"),
    ("lean_ashr-gap-packed", 640, (1, 1, 1), "gaps"),
    ("lean_ashr-serial", 255, (1, 8, 1), "equal"),
    ("lean_u8", 512, (1, 1, 1), "sink"),
    ("lean_u8-gap", 130, (2, 2, 1), "tiny"),
    ("lean_u8-serial-rowsum_a", 300, (1, 1, 1), "gaps"),
    ("exact", 700, (1, 2, 1), "sink"),
    ("exact-gap-packed-rowsum_a", 129, (1, 4, 4), "huge"),
    ("exact-serial", 64, (1, 1, 1), "zeros"),
    ("lean_ashr-markers-setprio", 511, (1, 1, 1), "equal"),
    ("exact", 1024, (1, 1, 1), "gaussian"),
]


def quantised(name, length, shape):
    batch, heads, kv_heads = shape
    pairs = [fp8_quantize(x) for x in inputs.make(name, batch, length, heads, kv_heads)]
    return [x for x, _ in pairs], [d for _, d in pairs]


def run(options, tensors, descales, **more):
    arrays = [x.view(torch.uint8).numpy() for x in tensors]
    return simulate.attention(*arrays, SCALE, [float(d) for d in descales], options, **more)


@pytest.mark.parametrize(("variant", "length", "shape", "name"), CASES)
def test_output_and_lse_equal_the_twin(variant, length, shape, name):
    options = Options.parse(variant)
    tensors, descales = quantised(name, length, shape)
    done = run(options, tensors, descales)
    out, lse = twin(*tensors, SCALE, tuple(descales), options.softmax, options.rowsum)
    assert np.array_equal(done.out, out.view(torch.int16).numpy().view(np.uint16))
    assert np.array_equal(done.lse, lse.numpy())


def test_bytes_do_not_depend_on_the_run_or_the_job_order():
    tensors, descales = quantised("sink", 300, (1, 2, 1))
    first = run(Options(), tensors, descales)
    again = run(Options(), tensors, descales)
    reordered = run(Options(), tensors, descales, workgroups=range(15, -1, -1), grid=16)
    for other in (again, reordered):
        assert first.out.tobytes() == other.out.tobytes()
        assert first.lse.tobytes() == other.lse.tobytes()
