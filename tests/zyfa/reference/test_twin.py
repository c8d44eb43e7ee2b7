"""Error bounds of the twin on the same FP8 inputs, and that rows do not depend on neighbours."""

from functools import cache

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.host.quantize import fp8_quantize  # noqa: E402
from zyfa.reference import aiter_like, attention_fp64, inputs, ops, twin  # noqa: E402

SCALE = 128**-0.5


def case(name, length=640, heads=2, kv_heads=1, seed=0):
    made = inputs.make(name, 1, length, heads, kv_heads, seed)
    pairs = [fp8_quantize(x) for x in made]
    return [x for x, _ in pairs], tuple(d for _, d in pairs)


@cache
def known(name, seed=0):
    """Attention in float64 of a case: output and log-sum-exp."""
    tensors, descales = case(name, seed=seed)
    return attention_fp64(*tensors, SCALE, descales)


@cache
def baseline_error(name):
    tensors, descales = case(name)
    out, _ = aiter_like(*tensors, SCALE, descales)
    return (out.double() - known(name)[0]).abs().max()


@cache
def errors(name, softmax, seed=0):
    """Of the twin: largest and root-mean-square of the output, largest of the log-sum-exp."""
    tensors, descales = case(name, seed=seed)
    exact, lse = known(name, seed)
    out, own = twin(*tensors, SCALE, descales, softmax)
    difference = out.double() - exact
    return difference.abs().max(), difference.pow(2).mean().sqrt(), (own - lse).abs().max()


@pytest.mark.slow
@pytest.mark.parametrize("name", inputs.INPUTS)
@pytest.mark.parametrize("softmax", ["exact", "lean_ashr", "lean_u8"])
def test_error_is_within_twice_the_fp8_baseline(name, softmax):
    worst, _, _ = errors(name, softmax)
    assert worst <= 2 * baseline_error(name) + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", inputs.INPUTS)
@pytest.mark.parametrize("softmax", ["lean_ashr", "lean_u8"])
@pytest.mark.parametrize("seed", [0, 1])
def test_lean_costs_at_most_the_stated_factor(name, softmax, seed):
    _, lean, _ = errors(name, softmax, seed)
    _, exact, _ = errors(name, "exact", seed)
    assert lean <= 1.45 * exact


@pytest.mark.parametrize("softmax", ["exact", "lean_ashr"])
def test_lse_is_that_of_rounded_probabilities(softmax):
    _, _, lse = errors("gaussian", softmax)
    assert 0 < lse < 0.1


@pytest.mark.parametrize("softmax", ["exact", "lean_ashr", "lean_u8"])
def test_weights_sum_to_one(softmax):
    """With V constant the output is that constant whatever P was rounded to."""
    (q, k, _), (dq, dk, _) = case("sink")
    v = torch.full(k.shape, 1.5).to(torch.float8_e4m3fn)
    out, _ = twin(q, k, v, SCALE, (dq, dk, torch.tensor([2.0])), softmax)
    assert torch.equal(out, torch.full_like(out, 3.0))


@pytest.mark.slow
def test_a_row_is_the_same_in_any_company():
    (q, k, v), descales = case("sink", length=300, heads=4, kv_heads=2)
    whole, lse = twin(q, k, v, SCALE, descales)
    part, part_lse = twin(q[:, :200, 2:], k[:, :200, 1:], v[:, :200, 1:], SCALE, descales)
    assert torch.equal(part, whole[:, :200, 2:])
    assert torch.equal(part_lse, lse[:, 2:, :200])


@pytest.mark.slow
def test_descales_are_powers_of_two_that_move_through():
    (q, k, v), (dq, dk, dv) = case("gaussian", length=256)
    base, lse = twin(q, k, v, SCALE, (dq, dk, dv))
    moved, moved_lse = twin(q, k, v, SCALE, (dq * 4, dk / 4, dv * 2))
    assert torch.equal(moved, base * 2)
    assert torch.equal(moved_lse, lse)


@pytest.mark.parametrize("exponent", [0, -12, -20, -40])
def test_lean_ashr_codes_hold_over_the_descale_range(exponent):
    """The 2^-60 carried through QK keeps the coefficient normal: results equal lean_u8's law."""
    (q, k, v), _ = case("gaussian", length=256)
    one = torch.ones(1)
    small = torch.tensor([2.0**exponent])
    a, _ = twin(q, k, v, SCALE / 2**6, (one, one / 2**6, one))
    b, _ = twin(q, k, v, SCALE / 2**6 / 2.0**exponent, (small, one / 2**6, one))
    assert torch.equal(a, b)


def steps_apart(a, b):
    """Largest distance in bf16 steps; bits of both signs on one scale."""
    bits = [x.cpu().view(torch.int16).int() for x in (a, b)]
    first, second = (torch.where(x < 0, -32768 - x, x) for x in bits)
    return (first - second).abs().max()


@pytest.mark.parametrize("name", ["gaussian", "sink", "tiny"])
@pytest.mark.parametrize("softmax", ["exact", "lean_ashr", "lean_u8"])
def test_the_formulas_for_gpus_are_within_one_step(monkeypatch, name, softmax):
    tensors, descales = case(name, length=300)
    out, lse = twin(*tensors, SCALE, descales, softmax)
    monkeypatch.setattr(ops, "on_cpu", lambda _: False)
    other, other_lse = twin(*tensors, SCALE, descales, softmax)
    assert steps_apart(out, other) <= 1
    assert torch.allclose(lse, other_lse, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")
@pytest.mark.parametrize("softmax", ["exact", "lean_ashr", "lean_u8"])
def test_a_gpu_is_within_one_step_of_the_cpu(softmax):
    tensors, descales = case("sink")
    out, _ = twin(*tensors, SCALE, descales, softmax)
    on_gpu = [x.cuda() for x in tensors]
    other, _ = twin(*on_gpu, SCALE, tuple(x.cuda() for x in descales), softmax)
    assert steps_apart(out, other) <= 1
