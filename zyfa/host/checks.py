"""What a call may ask for. Every refusal names the argument and what is supported instead."""

from __future__ import annotations

from typing import NoReturn

import torch
from torch import Tensor

from zyfa.errors import UnsupportedError
from zyfa.host import types
from zyfa.shape import D128

FP8 = torch.float8_e4m3fn
HEAD_DIM = D128.d_qk


def options(  # noqa: PLR0913 - FlashAttention-2's arguments
    dropout_p: float,
    causal: bool,
    window_size: tuple[int, int],
    softcap: float,
    alibi_slopes: Tensor | None,
    block_table: Tensor | None = None,
) -> None:
    """Raise UnsupportedError for FlashAttention options that zyfa does not have."""
    types.number("dropout_p", dropout_p)
    types.flag("causal", causal)
    types.window("window_size", window_size)
    types.number("softcap", softcap)
    types.optional("alibi_slopes", alibi_slopes)
    types.optional("block_table", block_table)
    # One by one: a traced dropout_p or softcap must not be formatted unless it is refused.
    if dropout_p != 0.0:
        _refuse(f"dropout_p={dropout_p}: dropout")
    if not causal:
        _refuse("causal=False: non-causal attention")
    if tuple(window_size) != (-1, -1):
        _refuse(f"window_size={tuple(window_size)}: a sliding window")
    if softcap != 0.0:
        _refuse(f"softcap={softcap}: soft capping")
    if alibi_slopes is not None:
        _refuse("alibi_slopes: ALiBi")
    if block_table is not None:
        _refuse("block_table: a paged KV cache")


def flags(deterministic: bool, return_attn_probs: bool) -> None:
    """Raise TypeError for what is no bool; both values of either are supported."""
    types.flag("deterministic", deterministic)
    types.flag("return_attn_probs", return_attn_probs)


def _refuse(what: str) -> NoReturn:
    raise UnsupportedError(f"{what} is not supported by zyfa (causal prefill only)")


def tensors(q: Tensor, k: Tensor, v: Tensor) -> None:  # noqa: C901 - a refusal a branch
    """Shapes (B, S, H, 128), (B, S, Hk, 128), dtypes and devices of dense inputs.

    Raises ValueError for shapes that contradict each other, TypeError for mixed dtypes,
    UnsupportedError for what is consistent but not available.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        types.floating(name, x)
        if x.dim() != 4:
            raise ValueError(f"{name} has {x.dim()} dimensions, expected (B, S, H, D)")
        if x.dtype != q.dtype:
            raise TypeError(f"q is {q.dtype} but {name} is {x.dtype}")
        if x.device != q.device:
            raise ValueError(f"q is on {q.device} but {name} is on {x.device}")
    if q.dtype != FP8:
        raise UnsupportedError(
            f"{q.dtype} inputs are not supported yet: quantise with zyfa.fp8_quantize "
            f"({FP8}) and pass the descales"
        )
    if k.shape != v.shape:
        raise ValueError(f"k is {tuple(k.shape)} but v is {tuple(v.shape)}")
    if q.shape[0] != k.shape[0]:
        raise ValueError(f"q has batch {q.shape[0]} but k has {k.shape[0]}")
    if q.shape[3] != HEAD_DIM or k.shape[3] != HEAD_DIM:
        raise UnsupportedError(f"head dimension {q.shape[3]}: only {HEAD_DIM} is supported")
    if q.shape[1] != k.shape[1]:
        raise UnsupportedError(
            f"query length {q.shape[1]} and key length {k.shape[1]} differ: decode, KV caches and "
            "chunks are not supported; compute equal lengths and use zyfa.merge_attention"
        )
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(f"{q.shape[2]} query heads are no multiple of {k.shape[2]} key heads")


def descale(name: str, value: Tensor | None, like: Tensor, batch: int, kv_heads: int) -> Tensor:
    """One float32 on the device; absent means 1.

    Also one a sequence and key head, (batch, kv_heads), if all are one value: an expanded element,
    or equal ones. Nothing waits for the device: unequal ones raise UnsupportedError on the CPU, and
    are NaN, and so the output, elsewhere and in compiled code.
    """
    if value is None:
        return torch.ones(1, device=like.device)
    types.tensor(name, value)
    table = (batch, kv_heads)
    if value.dtype != torch.float32 or (value.numel() != 1 and tuple(value.shape) != table):
        raise ValueError(
            f"{name} has shape {tuple(value.shape)} and dtype {value.dtype}, "
            f"expected float32, one element or {table} equal ones"
        )
    if value.device != like.device:
        raise ValueError(f"{name} is on {value.device} but q is on {like.device}")
    if value.numel() == 0:
        return torch.ones(1, device=like.device)
    first = value.reshape(-1)[:1]
    if value.numel() == 1 or not any(value.stride()):
        return first
    equal = (value == first).all()
    if value.device.type == "cpu" and not torch.compiler.is_compiling() and not bool(equal):
        raise UnsupportedError(f"{name} differs between heads: one value per tensor is supported")
    return torch.where(equal, first, torch.nan)


def scale(value: float | None) -> float:
    """Softmax scale, default 1 / sqrt(128). Raises ValueError unless positive and finite."""
    if value is not None:
        types.number("softmax_scale", value)
    chosen = HEAD_DIM**-0.5 if value is None else float(value)
    if not 0.0 < chosen < float("inf"):
        raise ValueError(f"softmax_scale={value}: a positive finite number is needed")
    return chosen
