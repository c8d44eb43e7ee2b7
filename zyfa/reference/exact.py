"""Causal attention in float64: the yardstick of every error figure."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attention_fp64(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float | None = None,
    descales: tuple[Tensor, Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """(out, lse) in float64: (B, S, H, D) and (B, H, S), natural logarithm.

    q: (B, S, H, D); k, v: (B, S, Hk, D), any floating dtype; query head h uses key head
    h // (H / Hk). Rows are taken 1,024 at a time to bound memory.
    """
    factors = [1.0, 1.0, 1.0] if descales is None else [float(d) for d in descales]
    qd, kd, vd = (
        x.transpose(1, 2).float().double() * f for x, f in zip((q, k, v), factors, strict=True)
    )
    batch, heads, length, dim = qd.shape
    group = heads // kd.shape[1]
    qd = qd.reshape(batch, kd.shape[1], group, length, dim) * (scale or dim**-0.5)
    keys, values = kd[:, :, None], vd[:, :, None]
    outs, lses = [], []
    for first in range(0, length, 1024):
        rows = slice(first, min(first + 1024, length))
        s = qd[:, :, :, rows] @ keys[..., : rows.stop, :].transpose(-1, -2)
        index = torch.arange(rows.stop, device=q.device)
        s = s.masked_fill(index > index[rows, None], -math.inf)
        lse = torch.logsumexp(s, -1)
        outs.append(torch.exp(s - lse[..., None]) @ values[..., : rows.stop, :])
        lses.append(lse)
    out = torch.cat(outs, -2).reshape(batch, heads, length, dim).transpose(1, 2)
    return out, torch.cat(lses, -1).reshape(batch, heads, length)
