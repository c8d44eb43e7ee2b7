"""Packed sequences: which lengths are taken, what they give, and what is read for it."""

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

import zyfa  # noqa: E402
from zyfa.errors import UnsupportedError  # noqa: E402
from zyfa.host import lengths  # noqa: E402
from zyfa.reference import inputs  # noqa: E402


def cu(*edges):
    return torch.tensor(edges, dtype=torch.int32)


def flat(total, heads=4):
    q, k, v = inputs.make("gaussian", 1, max(total, 1), heads, 2)
    return [zyfa.fp8_quantize(x)[0][0][:total] for x in (q, k, v)]


def call(total, edges, longest, **options):
    tensors = flat(total)
    out, lse, _ = zyfa.flash_attn_varlen_func(
        *tensors, edges, edges, longest, longest, causal=True, return_attn_probs=True, **options
    )
    return tensors, out, lse


@pytest.mark.parametrize(
    ("edges", "longest"),
    [(cu(0), 0), (cu(0), 40), (cu(0, 0), 0), (cu(0, 0, 0, 0), 0), (cu(0, 0, 0, 0), 40)],
)
def test_no_tokens_give_empty_results(edges, longest):
    _, out, lse = call(0, edges, longest)
    assert (out.shape, out.dtype) == ((0, 4, 128), torch.bfloat16)
    assert (lse.shape, lse.dtype) == ((4, 0), torch.float32)


@pytest.mark.parametrize("longest", [40, 41, 4096])
@pytest.mark.parametrize(
    "edges", [cu(0, 40, 80), cu(0, 0, 40, 80), cu(0, 40, 40, 40, 80), cu(0, 40, 80, 80)]
)
def test_empty_sequences_and_a_larger_bound_change_nothing(edges, longest):
    tensors, out, lse = call(80, edges, longest)
    dense, dense_lse, _ = zyfa.flash_attn_func(
        *(x.reshape(2, 40, *x.shape[1:]) for x in tensors), causal=True, return_attn_probs=True
    )
    assert torch.equal(out, dense.reshape(80, 4, 128))
    assert torch.equal(lse, dense_lse.transpose(0, 1).reshape(4, 80))


def test_a_descale_per_sequence_counts_the_empty_ones():
    table = torch.ones(3, 2)
    _, out, _ = call(80, cu(0, 40, 40, 80), 40, q_descale=table, k_descale=table, v_descale=table)
    assert torch.equal(out, call(80, cu(0, 40, 80), 40)[1])


def test_full_sequences_are_not_read():
    assert lengths.packed("q", 80, cu(0, 40, 80), 40).read is None
    assert lengths.packed("q", 80, cu(0, 40, 40, 80), 40).read == (40, 0, 40)


@pytest.mark.parametrize(
    ("total", "edges", "longest", "error", "named"),
    [
        (80, cu(0), 40, ValueError, "cu_seqlens_q is that of an empty batch"),
        (80, cu(0, 30, 80), 50, UnsupportedError, "sequences of 30 to 50 tokens"),
        (80, cu(0, 40, 80), 39, ValueError, "max_seqlen_q=39"),
        (80, cu(0, 90, 80), 90, ValueError, "cu_seqlens_q must rise from 0"),
        (80, cu(1, 40, 80), 50, ValueError, "cu_seqlens_q must rise from 0"),
        (80, cu(0, 40, 79), 50, ValueError, "cu_seqlens_q must rise from 0 to the 80"),
        (80, cu(), 40, ValueError, "cu_seqlens_q must be int32"),
        (80, cu(0, 40, 80)[None], 40, ValueError, "cu_seqlens_q must be int32"),
    ],
)
def test_what_is_no_packed_batch(total, edges, longest, error, named):
    with pytest.raises(error, match=named):
        call(total, edges, longest)


@pytest.mark.parametrize(
    ("queries", "keys"), [(cu(0, 40, 80), cu(0, 20, 40, 60, 80)), (cu(0, 0, 80), cu(0, 80, 80))]
)
def test_queries_and_keys_of_a_sequence_are_equally_many(queries, keys):
    with pytest.raises(UnsupportedError, match="must be equal"):
        zyfa.flash_attn_varlen_func(*flat(80), queries, keys, 80, 80, causal=True)
