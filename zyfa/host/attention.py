"""FlashAttention-2's forward functions for FP8 causal prefill."""

from __future__ import annotations

from torch import Tensor

from zyfa.host import checks, lengths, types
from zyfa.host.operators import attention_forward

Result = Tensor | tuple[Tensor, Tensor, None]


def flash_attn_func(  # noqa: PLR0913 - FlashAttention-2's arguments
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    *,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
) -> Result:
    """Causal attention of FP8 q (B, S, H, 128), k and v (B, S, Hk, 128), Hk a divisor of H.

    softmax_scale: default 128 ** -0.5. Descales: one float32 on the device each, a power of two
    (as fp8_quantize returns); absent means 1. Returns out, bf16 (B, S, H, 128); with
    return_attn_probs also the log-sum-exp, float32 (B, H, S), natural logarithm, and None (no
    probabilities are kept). Results are deterministic in any case. `causal` must be True.

    An empty batch or no tokens give empty results. A descale may have the shape (batch, kv_heads)
    if all its elements are equal (checks.descale).

    Raises UnsupportedError (a NotImplementedError) naming what zyfa does not have, ValueError and
    TypeError for inputs that contradict each other. The backward pass raises.
    """
    checks.options(dropout_p, causal, window_size, softcap, alibi_slopes)
    checks.flags(deterministic, return_attn_probs)
    checks.tensors(q, k, v)
    out, lse = _forward((q, k, v), softmax_scale, (q_descale, k_descale, v_descale), q.shape[0])
    return (out, lse, None) if return_attn_probs else out


def flash_attn_varlen_func(  # noqa: PLR0913 - FlashAttention-2's arguments
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Tensor | None = None,
    *,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
) -> Result:
    """As flash_attn_func for packed sequences q (total, H, 128), k and v (total, Hk, 128).

    cu_seqlens: int32 (batch + 1,). All sequences must have one length, at most max_seqlen, or no
    tokens; their boundaries are read, which waits for the device, only where batch * max_seqlen is
    not the total. The log-sum-exp is (H, total). Raises as flash_attn_func does.
    """
    checks.options(dropout_p, causal, window_size, softcap, alibi_slopes, block_table)
    checks.flags(deterministic, return_attn_probs)
    for name, x in (("q", q), ("k", k), ("v", v)):
        types.floating(name, x)
        if x.dim() != 3:
            raise ValueError(f"{name} has {x.dim()} dimensions, expected (total, H, D)")
    if k.shape != v.shape:
        raise ValueError(f"k is {tuple(k.shape)} but v is {tuple(v.shape)}")
    sequences = lengths.packed("q", q.shape[0], cu_seqlens_q, max_seqlen_q)
    lengths.same(sequences, lengths.packed("k", k.shape[0], cu_seqlens_k, max_seqlen_k))
    shape = (sequences.count, sequences.length)
    dense_q, dense_k, dense_v = (x.reshape(*shape, *x.shape[1:]) for x in (q, k, v))
    checks.tensors(dense_q, dense_k, dense_v)
    out, lse = _forward(
        (dense_q, dense_k, dense_v),
        softmax_scale,
        (q_descale, k_descale, v_descale),
        cu_seqlens_q.numel() - 1,
    )
    flat = out.reshape(q.shape)
    if not return_attn_probs:
        return flat
    return flat, lse.transpose(0, 1).reshape(q.shape[1], q.shape[0]), None


def _forward(
    qkv: tuple[Tensor, Tensor, Tensor],
    softmax_scale: float | None,
    given: tuple[Tensor | None, Tensor | None, Tensor | None],
    batch: int,
) -> tuple[Tensor, Tensor]:
    """(out, lse) of checked dense inputs; `batch` as the caller counts it, for the descales."""
    scale = checks.scale(softmax_scale)
    names = ("q_descale", "k_descale", "v_descale")
    descales = [
        checks.descale(n, x, qkv[0], batch, qkv[1].shape[2])
        for n, x in zip(names, given, strict=True)
    ]
    out, lse = attention_forward(*qkv, *descales, scale)
    return out, lse
