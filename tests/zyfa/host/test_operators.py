"""torch's own checks of the custom operators, torch.compile, and the absent backward pass."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install tracekit[zyfa]")

import zyfa  # noqa: E402
from zyfa.host import backend, operators  # noqa: E402


def samples():
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(1, 33, 4, 128, generator=g), torch.randn(1, 33, 2, 128, generator=g)
    (q8, dq), (k8, dk) = zyfa.fp8_quantize(q), zyfa.fp8_quantize(k)
    # torch compares operator inputs with allclose, which it lacks for FP8 on the CPU: codes.
    codes = [x.view(torch.uint8) for x in (q8, k8, k8)]
    out, lse = operators.attention_forward(q8, k8, k8, dq, dk, dk, 0.1)
    return {
        "attention_forward": (*codes, dq, dk, dk, 0.1),
        "_fp8_quantize": (q,),
        "_hadamard_rotate": (q, k),
        "_merge_attention": ([out, out], [lse, lse]),
    }


@pytest.mark.parametrize("name", samples())
def test_opcheck(name):
    checks = torch.library.opcheck(getattr(operators, name), samples()[name])
    assert set(checks.values()) == {"SUCCESS"}


def test_opcheck_on_fp8_tensors():
    args = samples()["attention_forward"]
    fp8 = [x.view(torch.float8_e4m3fn) for x in args[:3]]
    utils = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    checks = torch.library.opcheck(operators.attention_forward, (*fp8, *args[3:]), test_utils=utils)
    assert set(checks.values()) == {"SUCCESS"}


def pipeline(q, k, v):
    q, k = zyfa.hadamard_rotate(q, k)
    (q, dq), (k, dk), (v, dv) = (zyfa.fp8_quantize(x) for x in (q, k, v))
    out, lse, _ = zyfa.flash_attn_func(
        q, k, v, causal=True, return_attn_probs=True, q_descale=dq, k_descale=dk, v_descale=dv
    )
    return zyfa.merge_attention([out], [lse])


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_without_a_graph_break(dynamic):
    g = torch.Generator().manual_seed(0)
    qkv = [torch.randn(1, 20, 2, 128, generator=g) for _ in range(3)]
    compiled = torch.compile(pipeline, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for made, expected in zip(compiled(*qkv), pipeline(*qkv), strict=True):
        assert torch.equal(made, expected)


def test_requires_grad_runs_forward_and_backward_raises():
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 9, 1, 128, generator=g).requires_grad_() for _ in range(3))
    out, _ = pipeline(q, k, v)
    with pytest.raises(RuntimeError, match="no backward pass"):
        out.float().sum().backward()


def test_the_twin_is_announced_once():
    backend._say_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        operators.attention_forward(*samples()["attention_forward"])
        operators.attention_forward(*samples()["attention_forward"])
    assert sum("numerics twin" in str(w.message) for w in caught) == 1
