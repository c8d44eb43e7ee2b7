"""Kernels on the simulator against the numerics twin, bit for bit. All results *simulated*.

A pairwise selection; `scripts/zyfa_product.py` runs the full product.
"""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa import simulate  # noqa: E402
from zyfa.codegen import Options  # noqa: E402
from zyfa.codegen.options import CHOICES  # noqa: E402
from zyfa.host.quantize import fp8_quantize  # noqa: E402
from zyfa.reference import inputs, twin  # noqa: E402

SCALE = 128**-0.5
FACTORS = {
    **CHOICES,
    "length": (1, 33, 127, 256, 257, 700, 1024),
    "shape": ((1, 1, 1), (2, 2, 2), (1, 8, 2), (1, 8, 1), (2, 4, 1)),
    "input": tuple(inputs.INPUTS),
}
"""What is chosen from. A shape is (batch, query heads, key heads): GQA 1, 1, 4, 8, 4; MQA last."""


def pairs_of(case):
    return set(itertools.combinations(enumerate(case), 2))


def pairwise(factors):
    """Few cases that hold every pair of values of two factors, by greedy choice."""
    ranges = [range(len(f)) for f in factors]
    missing = {
        ((i, a), (j, b))
        for (i, x), (j, y) in itertools.combinations(enumerate(ranges), 2)
        for a in x
        for b in y
    }
    cases = []
    while missing:
        case = dict(min(missing))
        for i in sorted(set(range(len(factors))) - case.keys(), key=lambda i: -len(factors[i])):
            gain = [
                sum(tuple(sorted(((i, v), other))) in missing for other in case.items())
                for v in ranges[i]
            ]
            case[i] = gain.index(max(gain))
        chosen = [case[i] for i in range(len(factors))]
        missing -= pairs_of(chosen)
        cases.append([f[v] for f, v in zip(factors, chosen, strict=True)])
    return cases


CASES = [
    pytest.param(Options(*choices), length, shape, name, id=f"{n}-{length}-{name}")
    for n, (*choices, length, shape, name) in enumerate(pairwise(list(FACTORS.values())))
]


def quantised(name, length, shape):
    batch, heads, kv_heads = shape
    pairs = [fp8_quantize(x) for x in inputs.make(name, batch, length, heads, kv_heads)]
    return [x for x, _ in pairs], [d for _, d in pairs]


def run(options, tensors, descales, scale=SCALE, **more):
    arrays = [x.view(torch.uint8).numpy() for x in tensors]
    return simulate.attention(*arrays, scale, [float(d) for d in descales], options, **more)


def test_selection_holds_every_pair():
    expected = sum(len(a) * len(b) for a, b in itertools.combinations(FACTORS.values(), 2))
    chosen = [
        tuple(getattr(p.values[0], key) for key in CHOICES) + tuple(p.values[1:]) for p in CASES
    ]
    assert len(set().union(*map(pairs_of, chosen))) == expected
    assert len(CASES) < 100


@pytest.mark.slow
@pytest.mark.parametrize(("options", "length", "shape", "name"), CASES)
def test_output_and_lse_equal_the_twin(options, length, shape, name):
    tensors, descales = quantised(name, length, shape)
    done = run(options, tensors, descales)
    out, lse = twin(*tensors, SCALE, tuple(descales), options.softmax, options.rowsum)
    assert np.array_equal(done.out, out.view(torch.int16).numpy().view(np.uint16))
    assert np.array_equal(done.lse, lse.numpy())


RANGE_VARIANTS = [
    *(Options(softmax=name) for name in CHOICES["softmax"]),
    Options(rowsum="a"),
    Options(softmax="exact", schedule="early_gap", fma="packed"),
    Options(schedule="gap", fma="packed"),
]


def equal_but_for_the_bits_of_nan(done, expected):
    out, lse = expected
    found = torch.from_numpy(done.out.view(np.int16)).view(torch.bfloat16)
    pairs = ((found, out, torch.int16), (torch.from_numpy(done.lse.copy()), lse, torch.int32))
    for a, b, bits in pairs:
        assert torch.equal(a.isnan(), b.isnan())
        known = ~a.isnan()
        assert torch.equal(a.view(bits)[known], b.contiguous().view(bits)[known])


@pytest.mark.slow
@pytest.mark.parametrize("options", RANGE_VARIANTS, ids=lambda o: o.name)
@pytest.mark.parametrize(
    ("scale", "descales"),
    [
        (2.0**20, (1.0, 1.0, 2.0**120)),
        (SCALE, (2.0**-126, 2.0**-126, 1.0)),
        (1e308, (2.0**127, 2.0**127, 2.0**127)),
    ],
)
def test_finite_inputs_stay_finite_as_in_the_twin(options, scale, descales):
    """Cooled rows, saturated outputs, coefficients out of float32's range."""
    tensors, _ = quantised("gaps", 300, (1, 1, 1))
    done = run(options, tensors, descales, scale)
    as_tensors = tuple(torch.tensor([d]) for d in descales)
    expected = twin(*tensors, scale, as_tensors, options.softmax, options.rowsum)
    assert all(torch.isfinite(x).all() for x in expected)
    equal_but_for_the_bits_of_nan(done, expected)


@pytest.mark.slow
@pytest.mark.parametrize("options", RANGE_VARIANTS, ids=lambda o: o.name)
@pytest.mark.parametrize(("which", "row", "code"), [(0, 70, 0xFF), (1, 130, 0x7F), (2, 200, 0x7F)])
def test_a_nan_goes_where_the_twin_says(options, which, row, code):
    tensors, descales = quantised("gaussian", 300, (1, 1, 1))
    tensors[which].view(torch.uint8)[0, row, 0, 5] = code
    done = run(options, tensors, descales)
    expected = twin(*tensors, SCALE, tuple(descales), options.softmax, options.rowsum)
    assert expected[0].isnan().any()
    equal_but_for_the_bits_of_nan(done, expected)


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_run_or_the_job_order():
    tensors, descales = quantised("sink", 300, (1, 2, 1))
    first = run(Options(), tensors, descales)
    again = run(Options(), tensors, descales)
    reordered = run(Options(), tensors, descales, workgroups=range(15, -1, -1), grid=16)
    for other in (again, reordered):
        assert first.out.tobytes() == other.out.tobytes()
        assert first.lse.tobytes() == other.lse.tobytes()
