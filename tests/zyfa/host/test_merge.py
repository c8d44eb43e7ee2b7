import math
from itertools import pairwise

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

from zyfa.host.merge import merge_attention  # noqa: E402


def attend(q, k, v):
    s = torch.einsum("bshd,bthd->bhst", q, k)
    return torch.einsum("bhst,bthd->bshd", s.softmax(-1), v), torch.logsumexp(s, -1)


@pytest.fixture
def qkv():
    g = torch.Generator().manual_seed(0)
    return [torch.randn(2, 9, 3, 16, generator=g) for _ in range(3)]


@pytest.mark.parametrize("cuts", [[4], [1, 5], [2, 3, 8]])
def test_ranges_merge_to_the_whole(qkv, cuts):
    q, k, v = qkv
    edges = [0, *cuts, 9]
    parts = [attend(q, k[:, a:b], v[:, a:b]) for a, b in pairwise(edges)]
    out, lse = merge_attention([o for o, _ in parts], [x for _, x in parts])
    whole, whole_lse = attend(q, k, v)
    assert torch.allclose(out, whole, atol=1e-5)
    assert torch.allclose(lse, whole_lse, atol=1e-5)


def test_a_range_without_keys_is_ignored_even_if_it_holds_nan(qkv):
    out, lse = attend(*qkv)
    nothing = torch.full_like(out, math.nan)
    merged, merged_lse = merge_attention([nothing, out], [torch.full_like(lse, -math.inf), lse])
    assert torch.allclose(merged, out)
    assert torch.allclose(merged_lse, lse)


def test_no_key_at_all_gives_zero_and_minus_infinity(qkv):
    out, lse = attend(*qkv)
    none = torch.full_like(lse, -math.inf)
    merged, merged_lse = merge_attention([out, out], [none, none])
    assert merged.abs().max() == 0
    assert torch.equal(merged_lse, none)


def test_a_nan_row_is_not_hidden(qkv):
    out, lse = attend(*qkv)
    broken = lse.clone()
    broken[0, 1, 2] = math.nan
    merged, merged_lse = merge_attention([out, out], [lse, broken])
    assert merged[0, 2, 1].isnan().all()
    assert merged.isnan().sum() == out.shape[-1]
    assert merged_lse.isnan().nonzero().tolist() == [[0, 1, 2]]


def test_mismatches_are_refused(qkv):
    out, lse = attend(*qkv)
    with pytest.raises(ValueError, match="0 outputs"):
        merge_attention([], [])
    with pytest.raises(ValueError, match=r"\(2, 9, 3, 16\)"):
        merge_attention([out], [lse.transpose(1, 2)])
