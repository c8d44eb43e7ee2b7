import math

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.host.quantize import LARGEST, fp8_quantize  # noqa: E402


@pytest.mark.parametrize("amax", [1.0, 448.0, 449.0, 447.9, 1e-30, 3e38, 2.0**-140, 7e-3, 896.0])
def test_descale_is_the_smallest_sufficient_power_of_two(amax):
    x = torch.tensor([amax, -amax / 3])
    q, descale = fp8_quantize(x)
    exponent = max(-126, math.ceil(math.log2(float(x.abs().max()) / LARGEST)))
    assert float(descale) == 2.0**exponent
    assert q.float().abs().max() <= LARGEST
    assert not q.float().isnan().any()


def test_values_are_nearest_even_codes():
    x = torch.randn(1000, generator=torch.Generator().manual_seed(1)) * 37
    q, descale = fp8_quantize(x)
    assert torch.equal(q.float(), (x / descale).to(torch.float8_e4m3fn).float())
    relative = (q.float() * descale - x).abs() / x.abs().clamp_min(float(descale) * 2.0**-6)
    assert relative.max() <= 2.0**-4


def test_zeros_keep_a_descale_of_one():
    q, descale = fp8_quantize(torch.zeros(3, 4))
    assert descale.tolist() == [1.0]
    assert q.float().abs().sum() == 0


@pytest.mark.parametrize("kept", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_what_is_not_finite_becomes_nan_and_leaves_the_others_alone(kept, dtype):
    x = torch.tensor([kept, 1.0, -0.3], dtype=dtype)
    q, descale = fp8_quantize(x)
    others, expected = fp8_quantize(x[1:])
    assert q.float().isnan().tolist() == [True, False, False]
    assert torch.equal(q[1:].float(), others.float())
    assert torch.equal(descale, expected)


def test_beyond_float32_counts_as_infinite():
    q, descale = fp8_quantize(torch.tensor([1e300, 1.0], dtype=torch.float64))
    assert q.float().isnan().tolist() == [True, False]
    assert float(q.float()[1] * descale) == 1.0


def test_quantised_tensors_are_refused():
    with pytest.raises(TypeError, match="quantised already"):
        fp8_quantize(torch.zeros(2).to(torch.float8_e4m3fn))


def test_integers_are_refused():
    with pytest.raises(TypeError, match="int64"):
        fp8_quantize(torch.ones(2, dtype=torch.int64))


def test_empty_input_keeps_its_shape():
    q, descale = fp8_quantize(torch.zeros(0, 8))
    assert q.shape == (0, 8)
    assert descale.tolist() == [1.0]
