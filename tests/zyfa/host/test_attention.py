"""FlashAttention-2's public behaviour, from its documentation, and zyfa's refusals."""

import inspect
import math

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

import zyfa  # noqa: E402
from zyfa.errors import UnsupportedError  # noqa: E402
from zyfa.reference import attention_fp64, inputs, twin  # noqa: E402

DENSE = [
    ("dropout_p", 0.0), ("softmax_scale", None), ("causal", False), ("window_size", (-1, -1)),
    ("softcap", 0.0), ("alibi_slopes", None), ("deterministic", False),
    ("return_attn_probs", False),
]  # fmt: skip


@pytest.fixture
def qkv():
    made = inputs.make("gaussian", 2, 40, 4, 2)
    pairs = [zyfa.fp8_quantize(x) for x in made]
    names = ("q_descale", "k_descale", "v_descale")
    return [x for x, _ in pairs], dict(zip(names, (d for _, d in pairs), strict=True))


def defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return [
        (p.name, p.default)
        for p in parameters
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty
    ]


def test_argument_order_is_flash_attention_2():
    assert defaults(zyfa.flash_attn_func) == DENSE
    assert defaults(zyfa.flash_attn_varlen_func) == [*DENSE, ("block_table", None)]
    names = list(inspect.signature(zyfa.flash_attn_varlen_func).parameters)
    assert names[:7] == [
        "q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k",
    ]  # fmt: skip


def test_shapes_dtypes_and_lse_layout(qkv):
    tensors, descales = qkv
    out = zyfa.flash_attn_func(*tensors, causal=True, **descales)
    assert out.dtype == torch.bfloat16
    assert out.shape == (2, 40, 4, 128)
    again, lse, probabilities = zyfa.flash_attn_func(
        *tensors, causal=True, return_attn_probs=True, **descales
    )
    assert torch.equal(out, again)
    assert lse.shape == (2, 4, 40)
    assert lse.dtype == torch.float32
    assert probabilities is None


def test_values_are_close_to_exact_attention(qkv):
    tensors, descales = qkv
    out, lse, _ = zyfa.flash_attn_func(*tensors, causal=True, return_attn_probs=True, **descales)
    exact, exact_lse = attention_fp64(*tensors, descales=tuple(descales.values()))
    assert (out.double() - exact).abs().max() < 0.1
    assert (lse - exact_lse).abs().max() < 0.1


def test_default_scale_is_one_over_root_d(qkv):
    tensors, descales = qkv
    named = zyfa.flash_attn_func(*tensors, causal=True, softmax_scale=128**-0.5, **descales)
    assert torch.equal(named, zyfa.flash_attn_func(*tensors, causal=True, **descales))


def test_absent_descales_are_one(qkv):
    tensors, _ = qkv
    one = torch.ones(1)
    expected, _ = twin(*tensors, 128**-0.5, (one, one, one))
    assert torch.equal(zyfa.flash_attn_func(*tensors, causal=True), expected)


def test_varlen_of_equal_lengths_is_the_dense_call(qkv):
    tensors, descales = qkv
    flat = [x.reshape(-1, *x.shape[2:]) for x in tensors]
    cu = torch.tensor([0, 40, 80], dtype=torch.int32)
    out, lse, _ = zyfa.flash_attn_varlen_func(
        *flat, cu, cu, 40, 40, causal=True, return_attn_probs=True, **descales
    )
    dense, dense_lse, _ = zyfa.flash_attn_func(
        *tensors, causal=True, return_attn_probs=True, **descales
    )
    assert torch.equal(out, dense.reshape(80, 4, 128))
    assert lse.shape == (4, 80)
    assert torch.equal(lse[:, 40:], dense_lse[1])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"causal": False}, "causal=False"),
        ({"dropout_p": 0.1}, "dropout"),
        ({"window_size": (128, 0)}, "sliding window"),
        ({"softcap": 30.0}, "softcap=30.0"),
        ({"alibi_slopes": torch.ones(4)}, "ALiBi"),
    ],
)
def test_unsupported_options_are_named(qkv, options, named):
    tensors, descales = qkv
    with pytest.raises(UnsupportedError, match=named) as caught:
        zyfa.flash_attn_func(*tensors, **{"causal": True, **options}, **descales)
    assert isinstance(caught.value, NotImplementedError)


def fp8(*shape):
    return torch.zeros(shape).to(torch.float8_e4m3fn)


@pytest.mark.parametrize(
    ("q", "k", "v", "error", "named"),
    [
        (fp8(1, 4, 2, 128), fp8(1, 8, 2, 128), fp8(1, 8, 2, 128), UnsupportedError, "length 4"),
        (fp8(1, 4, 2, 64), fp8(1, 4, 2, 64), fp8(1, 4, 2, 64), UnsupportedError, "dimension 64"),
        (fp8(1, 4, 3, 128), fp8(1, 4, 2, 128), fp8(1, 4, 2, 128), ValueError, "3 query heads"),
        (fp8(2, 4, 2, 128), fp8(1, 4, 2, 128), fp8(1, 4, 2, 128), ValueError, "batch 2"),
        (fp8(1, 4, 2, 128), fp8(1, 4, 2, 128), fp8(1, 4, 1, 128), ValueError, r"\(1, 4, 1, 128\)"),
        (fp8(4, 2, 128), fp8(4, 2, 128), fp8(4, 2, 128), ValueError, "3 dimensions"),
        (fp8(1, 4, 2, 128), torch.zeros(1, 4, 2, 128), fp8(1, 4, 2, 128), TypeError, "float32"),
    ],
)
def test_inputs_that_do_not_fit(q, k, v, error, named):
    with pytest.raises(error, match=named):
        zyfa.flash_attn_func(q, k, v, causal=True)


def test_bf16_inputs_are_pointed_to_quantisation():
    x = torch.zeros(1, 4, 2, 128, dtype=torch.bfloat16)
    with pytest.raises(UnsupportedError, match="fp8_quantize"):
        zyfa.flash_attn_func(x, x, x, causal=True)


def test_unequal_sequences_and_paged_caches_are_refused(qkv):
    tensors, _ = qkv
    flat = [x.reshape(-1, *x.shape[2:]) for x in tensors]
    cu = torch.tensor([0, 30, 80], dtype=torch.int32)
    with pytest.raises(UnsupportedError, match="equal length"):
        zyfa.flash_attn_varlen_func(*flat, cu, cu, 50, 50, causal=True)
    cu = torch.tensor([0, 40, 80], dtype=torch.int32)
    with pytest.raises(UnsupportedError, match="paged"):
        zyfa.flash_attn_varlen_func(
            *flat, cu, cu, 40, 40, causal=True, block_table=torch.zeros(1, 1)
        )
    cu = torch.tensor([0, 40, 80], dtype=torch.int32)
    with pytest.raises(ValueError, match="cu_seqlens_q"):
        zyfa.flash_attn_varlen_func(*flat, cu.long(), cu, 40, 40, causal=True)


@pytest.mark.parametrize("value", [torch.ones(2), torch.ones(1, dtype=torch.float64)])
def test_a_descale_is_one_float32(qkv, value):
    tensors, _ = qkv
    with pytest.raises(ValueError, match="k_descale"):
        zyfa.flash_attn_func(*tensors, causal=True, k_descale=value)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scale_must_be_positive(qkv, scale):
    tensors, _ = qkv
    with pytest.raises(ValueError, match="softmax_scale"):
        zyfa.flash_attn_func(*tensors, causal=True, softmax_scale=scale)


def test_chunked_prefill_merges_by_lse():
    """Two key ranges computed apart and merged are as good as one pass."""
    made = inputs.make("sink", 1, 256, 1, 1)
    pairs = [zyfa.fp8_quantize(x) for x in made]
    tensors, descales = [x for x, _ in pairs], [d for _, d in pairs]
    out, lse = twin(*tensors, 128**-0.5, tuple(descales))
    merged, merged_lse = zyfa.merge_attention([out, out], [lse, lse])
    assert torch.allclose(merged.float(), out.float(), atol=1e-2)
    assert torch.allclose(merged_lse, lse + math.log(2), atol=1e-6)


@pytest.mark.parametrize(("batch", "length"), [(0, 40), (2, 0), (0, 0)])
def test_nothing_to_attend_to_gives_empty_results(batch, length):
    x, y = fp8(batch, length, 4, 128), fp8(batch, length, 2, 128)
    out, lse, _ = zyfa.flash_attn_func(x, y, y, causal=True, return_attn_probs=True)
    assert (out.shape, out.dtype) == ((batch, length, 4, 128), torch.bfloat16)
    assert (lse.shape, lse.dtype) == ((batch, 4, length), torch.float32)


@pytest.mark.parametrize("shape", [(2, 2), (1,), (), (1, 1)])
def test_a_descale_per_head_is_one_value(qkv, shape):
    """Of FlashAttention-3's shape (batch, kv_heads), expanded or filled."""
    tensors, descales = qkv
    expected = zyfa.flash_attn_func(*tensors, causal=True, **descales)
    filled = {name: torch.full(shape, float(x)) for name, x in descales.items()}
    expanded = {name: x.expand(2, 2) for name, x in descales.items()}
    for given in (filled, expanded):
        assert torch.equal(zyfa.flash_attn_func(*tensors, causal=True, **given), expected)


def test_descales_that_differ_between_heads_are_refused(qkv):
    tensors, _ = qkv
    table = torch.tensor([[1.0, 1.0], [1.0, 2.0]])
    with pytest.raises(UnsupportedError, match="v_descale differs between heads"):
        zyfa.flash_attn_func(*tensors, causal=True, v_descale=table)


def test_descales_that_differ_poison_the_output_where_nothing_may_wait(qkv):
    tensors, _ = qkv

    def call(table):
        return zyfa.flash_attn_func(*tensors, causal=True, v_descale=table)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    assert compiled(torch.tensor([[1.0, 1.0], [1.0, 2.0]])).isnan().all()
    ones = torch.ones(2, 2)
    assert torch.equal(compiled(ones), call(ones))
