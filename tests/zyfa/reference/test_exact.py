import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.reference import aiter_like, attention_fp64, inputs  # noqa: E402


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_equals_torchs_attention(kv_heads):
    q, k, v = inputs.make("gaussian", 2, 70, 4, kv_heads)
    out, lse = attention_fp64(q, k, v)
    heads_first = [x.double().transpose(1, 2) for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        *heads_first, is_causal=True, enable_gqa=True
    )
    assert torch.allclose(out, expected.transpose(1, 2), atol=1e-12)
    assert lse.shape == (2, 4, 70)


def test_rows_in_pieces_equal_rows_at_once():
    q, k, v = inputs.make("gaussian", 1, 1500, 1, 1)
    out, _ = attention_fp64(q, k, v)
    scores = (q[0, :, 0].double() @ k[0, :, 0].double().T) * 128**-0.5
    scores = scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf)
    assert torch.allclose(out[0, :, 0], scores.softmax(-1) @ v[0, :, 0].double(), atol=1e-12)


def test_baseline_is_close_and_sums_unrounded_probabilities():
    q, k, v = (x.to(torch.float8_e4m3fn) for x in inputs.make("gaussian", 1, 300, 2, 1))
    one = torch.ones(1)
    out, lse = aiter_like(q, k, v, 128**-0.5, (one, one, one))
    exact, exact_lse = attention_fp64(q, k, v)
    assert (out.double() - exact).abs().max() < 0.1
    assert (lse - exact_lse).abs().max() < 1e-5
