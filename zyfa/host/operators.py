"""zyfa's functions as torch custom operators: opaque to torch.compile, shapes known to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from zyfa.host import backend, hadamard, merge, quantize


def _forward_only(operator: Any) -> Any:
    """Inputs that require grad run forward; asking for a gradient raises."""

    def backward(ctx: Any, *gradients: Tensor) -> None:
        raise RuntimeError(f"{operator._qualname}: zyfa has no backward pass")

    operator.register_autograd(backward)
    return operator


def _custom(name: str) -> Callable[[Callable[..., Any]], Any]:
    def register(function: Callable[..., Any]) -> Any:
        made = torch.library.custom_op(f"zyfa::{name}", function, mutates_args=())
        return _forward_only(made)

    return register


@_custom("attention_forward")
def attention_forward(  # noqa: PLR0913 - an operator takes plain tensors
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_descale: Tensor,
    k_descale: Tensor,
    v_descale: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor]:
    """(out, lse) of checked inputs, on the device's kernel or the numerics twin."""
    return backend.forward(q, k, v, (q_descale, k_descale, v_descale), scale)


def _attention_shapes(  # noqa: PLR0913 - as attention_forward
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_descale: Tensor,
    k_descale: Tensor,
    v_descale: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor]:
    batch, length, heads, _ = q.shape
    out = q.new_empty(q.shape, dtype=torch.bfloat16)
    return out, q.new_empty((batch, heads, length), dtype=torch.float32)


attention_forward.register_fake(_attention_shapes)


@_custom("fp8_quantize")
def _fp8_quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    return quantize.fp8_quantize(x)


def _quantize_shapes(x: Tensor) -> tuple[Tensor, Tensor]:
    codes = torch.empty_like(x, dtype=torch.float8_e4m3fn, memory_format=torch.contiguous_format)
    return codes, x.new_empty(1, dtype=torch.float32)


_fp8_quantize.register_fake(_quantize_shapes)


@_custom("hadamard_rotate")
def _hadamard_rotate(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    return hadamard.hadamard_rotate(q, k)


def _rotate_shapes(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape)


_hadamard_rotate.register_fake(_rotate_shapes)


@_custom("merge_attention")
def _merge_attention(outs: Sequence[Tensor], lses: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    return merge.merge_attention(outs, lses)


def _merge_shapes(outs: Sequence[Tensor], lses: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    return outs[0].new_empty(outs[0].shape), lses[0].new_empty(lses[0].shape, dtype=torch.float32)


_merge_attention.register_fake(_merge_shapes)


def fp8_quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    """(q, descale): x ≈ q * descale; see zyfa.host.quantize.fp8_quantize for the rule."""
    quantize.check(x)
    codes, descale = _fp8_quantize(x)
    return codes, descale


def hadamard_rotate(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """(q', k') with q' k'^T = q k^T and outliers spread; see zyfa.host.hadamard."""
    hadamard.check(q, k)
    rotated_q, rotated_k = _hadamard_rotate(q, k)
    return rotated_q, rotated_k


def merge_attention(outs: Sequence[Tensor], lses: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """(out, lse) over disjoint key ranges; see zyfa.host.merge.merge_attention."""
    merge.check(outs, lses)
    out, lse = _merge_attention(list(outs), list(lses))
    return out, lse
