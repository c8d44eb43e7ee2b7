"""What a call may ask for. Every refusal names the argument and what is supported instead."""

from __future__ import annotations

from typing import NoReturn

import torch
from torch import Tensor

from zyfa.errors import UnsupportedError
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


def _refuse(what: str) -> NoReturn:
    raise UnsupportedError(f"{what} is not supported by zyfa (causal prefill only)")


def tensors(q: Tensor, k: Tensor, v: Tensor) -> None:  # noqa: C901 - a refusal a branch
    """Shapes (B, S, H, 128), (B, S, Hk, 128), dtypes and devices of dense inputs.

    Raises ValueError for shapes that contradict each other, TypeError for mixed dtypes,
    UnsupportedError for what is consistent but not available.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
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
    if q.shape[1] == 0 or q.shape[0] == 0:
        raise UnsupportedError(f"empty input {tuple(q.shape)}: at least one query is needed")
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(f"{q.shape[2]} query heads are no multiple of {k.shape[2]} key heads")


def descale(name: str, value: Tensor | None, like: Tensor) -> Tensor:
    """One float32 on the device; absent means 1. Its value is never read on the host."""
    if value is None:
        return torch.ones(1, device=like.device)
    if value.numel() != 1 or value.dtype != torch.float32:
        raise ValueError(
            f"{name} has shape {tuple(value.shape)} and dtype {value.dtype}, "
            "expected one float32 element"
        )
    if value.device != like.device:
        raise ValueError(f"{name} is on {value.device} but q is on {like.device}")
    return value.reshape(1)


def scale(value: float | None) -> float:
    """Softmax scale, default 1 / sqrt(128). Raises ValueError unless positive and finite."""
    chosen = HEAD_DIM**-0.5 if value is None else float(value)
    if not 0.0 < chosen < float("inf"):
        raise ValueError(f"softmax_scale={value}: a positive finite number is needed")
    return chosen


def equal_lengths(name: str, total: int, cu_seqlens: Tensor, longest: int) -> int:
    """Batch size of a varlen input whose sequences all have `longest` tokens.

    `total` = batch * longest can only hold when every length is the maximum, so the contents of
    cu_seqlens need no look (no wait for the device).
    """
    if cu_seqlens.dim() != 1 or cu_seqlens.dtype != torch.int32 or cu_seqlens.numel() < 2:
        raise ValueError(f"cu_seqlens_{name} must be int32 of shape (batch + 1,)")
    batch = cu_seqlens.numel() - 1
    if batch * longest != total:
        raise UnsupportedError(
            f"{total} tokens in {batch} sequences of at most {longest}: "
            "only sequences of equal length are supported"
        )
    return batch
