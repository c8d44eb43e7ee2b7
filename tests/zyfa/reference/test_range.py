"""Finite inputs give finite results at any scale and descale; a NaN reaches whom it should."""

import math

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.codegen.rowsums import ROWSUMS  # noqa: E402
from zyfa.codegen.softmaxes import SOFTMAXES  # noqa: E402
from zyfa.host.quantize import fp8_quantize  # noqa: E402
from zyfa.jobs import padded  # noqa: E402
from zyfa.reference import attention_fp64, inputs, twin  # noqa: E402

SCALE = 128**-0.5
LENGTH = 300
VARIANTS = [(softmax, rowsum) for softmax in SOFTMAXES for rowsum in ROWSUMS]
LARGEST_BF16 = torch.finfo(torch.bfloat16).max


def case(sigma=1.0, length=LENGTH):
    pairs = [fp8_quantize(sigma * x) for x in inputs.make("gaussian", 1, length, 1, 1)]
    return [x for x, _ in pairs], tuple(d for _, d in pairs)


def ones(*values):
    return tuple(torch.tensor([v], dtype=torch.float32) for v in values)


def mean_of_values(v, descale=1.0):
    count = torch.arange(1, v.shape[1] + 1)
    return v.double().cumsum(1) * descale / count[None, :, None, None]


@pytest.mark.parametrize("sigma", [2e3, 1e6, 1e10, 1e17, 1e37])
@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_scores_beyond_float32s_resolution_choose_one_key(softmax, rowsum, sigma):
    """Base-2 scores of 2^24 and far more: before, codes beyond E4M3's largest and NaN."""
    tensors, descales = case(sigma)
    exact, exact_lse = attention_fp64(*tensors, SCALE, descales)
    out, lse = twin(*tensors, SCALE, descales, softmax, rowsum)
    assert torch.isfinite(out).all()
    assert torch.isfinite(lse).all()
    assert torch.allclose(out.double(), exact.clamp(-LARGEST_BF16, LARGEST_BF16), rtol=2**-7)
    if sigma < 1e17:
        assert torch.allclose(lse.double(), exact_lse, rtol=1e-6)


@pytest.mark.parametrize("exponent", [-149, -126, -40, 3, 66, 127])
@pytest.mark.parametrize("other", [-149, -20, 0, 127])
@pytest.mark.parametrize("scale", [1e-320, 1.0, 1e308])
def test_any_scale_and_descales_of_finite_inputs(exponent, other, scale):
    tensors, _ = case(length=20)
    descales = ones(2.0**exponent, 2.0**other, 2.0**exponent)
    for softmax in SOFTMAXES:
        out, lse = twin(*tensors, scale, descales, softmax)
        assert torch.isfinite(out).all()
        assert torch.isfinite(lse).all()


@pytest.mark.parametrize("descales", [(2.0**-126, 2.0**-126), (0.0, 1.0), (1.0, 2.0**-149)])
@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_a_coefficient_that_underflows_gives_the_mean_of_v(softmax, rowsum, descales):
    (q, k, v), _ = case()
    out, lse = twin(q, k, v, SCALE, ones(*descales, 1.0), softmax, rowsum)
    assert torch.allclose(out.double(), mean_of_values(v), rtol=2**-8, atol=1e-3)
    assert torch.allclose(lse, torch.arange(1, LENGTH + 1).log(), atol=2e-2)


@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_a_row_that_starts_far_below_gets_its_full_scale_back(softmax, rowsum):
    """128 keys at base-2 scores of about -2^28, then keys around 0 that differ by a few units."""
    q = torch.full((1, 256, 1, 128), 1.0)
    k = torch.zeros(1, 256, 1, 128)
    k[:, :128] = -448.0
    k[0, 128:, 0, 0] = torch.arange(128) % 4 * 2.0**-9
    v = inputs.make("gaussian", 1, 256, 1, 1)[2]
    tensors = [x.to(torch.float8_e4m3fn) for x in (q, k, v)]
    scale = 2.0**9 * math.log(2)
    exact, exact_lse = attention_fp64(*tensors, scale * 2.0**3, ones(1.0, 1.0, 1.0))
    out, lse = twin(*tensors, scale * 2.0**3, ones(1.0, 1.0, 1.0), softmax, rowsum)
    last = slice(200, 256)
    assert (out.double() - exact)[:, last].abs().max() < 0.05
    assert (lse - exact_lse)[..., last].abs().max() < 0.05


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_outputs_beyond_bfloat16_saturate(softmax):
    q = k = torch.zeros(1, 4, 1, 128).to(torch.float8_e4m3fn)
    v = torch.zeros(1, 4, 1, 128)
    v[..., 0], v[..., 1], v[..., 2] = 448.0, -448.0, 1.0
    out, _ = twin(q, k, v.to(torch.float8_e4m3fn), SCALE, ones(1.0, 1.0, 2.0**120), softmax)
    expected = [LARGEST_BF16, -LARGEST_BF16, 2.0**120, 0.0]
    assert out[0, :, 0, :4].tolist() == [expected] * 4


def test_largest_inputs_come_back_finite():
    x = torch.full((1, 8, 1, 128), torch.finfo(torch.float32).max)
    (q, d), *_ = [fp8_quantize(x)]
    out, lse = twin(q, q, q, SCALE, (d, d, d))
    assert torch.equal(out, torch.full_like(out, LARGEST_BF16))
    assert torch.isfinite(lse).all()


def with_nan(which, key, code=0x7F):
    tensors, descales = case()
    tensors[which].view(torch.uint8)[0, key, 0, 3] = code
    return tensors, descales


def lost(x):
    """Rows with a NaN: of out (B, S, H, D) or of lse (B, H, S)."""
    flat = x[0, :, 0].isnan().any(-1) if x.dim() == 4 else x[0, 0].isnan()
    return flat.nonzero().flatten().tolist()


def neighbours(rows):
    """Exact softmax with row sum form b: a row takes the row 16 off with it."""
    return sorted(({r ^ 16 for r in rows} | set(rows)) & set(range(LENGTH)))


@pytest.mark.parametrize(("row", "code"), [(0, 0x7F), (70, 0xFF), (130, 0x7F), (299, 0xFF)])
@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_a_nan_in_q_stays_in_its_row(softmax, rowsum, row, code):
    tensors, descales = with_nan(0, row, code)
    out, lse = twin(*tensors, SCALE, descales, softmax, rowsum)
    spreads = (softmax, rowsum) == ("exact", "b")
    assert lost(out) == lost(lse) == (neighbours([row]) if spreads else [row])


@pytest.mark.parametrize(("key", "code"), [(0, 0x7F), (70, 0xFF), (130, 0x7F), (299, 0xFF)])
@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_a_nan_in_k_reaches_the_rows_that_see_the_key(softmax, rowsum, key, code):
    tensors, descales = with_nan(1, key, code)
    out, lse = twin(*tensors, SCALE, descales, softmax, rowsum)
    seeing = range(key, LENGTH)
    if (softmax, rowsum) == ("exact", "b"):
        seeing = neighbours(range(key, padded(LENGTH)))
    assert lost(out) == lost(lse) == list(seeing)


@pytest.mark.parametrize("key", [0, 70, 255, 256, 299])
@pytest.mark.parametrize(("softmax", "rowsum"), VARIANTS)
def test_a_nan_in_v_reaches_its_dimension_from_the_keys_tile_on(softmax, rowsum, key):
    """0 * NaN: rows of the key's own tile of 256 that do not see it are lost as well."""
    tensors, descales = with_nan(2, key)
    out, lse = twin(*tensors, SCALE, descales, softmax, rowsum)
    assert lost(out) == list(range(key // 256 * 256, LENGTH))
    assert not out[..., [d for d in range(128) if d != 3]].isnan().any()
    assert not lse.isnan().any()


@pytest.mark.parametrize("which", range(3))
def test_a_nan_descale_is_not_hidden(which):
    tensors, _ = case()
    descales = [1.0, 1.0, 1.0]
    descales[which] = math.nan
    out, _ = twin(*tensors, SCALE, ones(*descales))
    assert out.isnan().all()
