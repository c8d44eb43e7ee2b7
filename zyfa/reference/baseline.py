"""An FP8 baseline in the manner of AITER's forward kernel, from its disassembly's outline.

P = exp(S - running maximum) <= 1 rounded to E4M3 without a block scale, the row sum of the
unrounded P, O rescaled at every block. Float32 otherwise. It stands for the method, not for
AITER's bits.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from zyfa.reference import ops
from zyfa.shape import D128


def aiter_like(
    q: Tensor, k: Tensor, v: Tensor, scale: float, descales: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """(out bf16 (B, S, H, D), lse float32 (B, H, S)) from FP8 inputs and descales."""
    batch, length, heads, dim = q.shape
    qd, kd, vd = (x.transpose(1, 2).float().double() for x in (q, k, v))
    group = heads // kd.shape[1]
    qd = qd.reshape(batch, kd.shape[1], group, length, dim)
    dq, dk, dv = (float(d) for d in descales)
    log2_scale = torch.tensor(scale * math.log2(math.e) * dq * dk, dtype=torch.float32)
    rows = qd.shape[:4]
    o = torch.zeros(*rows, dim, device=q.device)
    total = torch.zeros(rows, device=q.device)
    m = torch.full(rows, -math.inf, device=q.device)
    index = torch.arange(length, device=q.device)
    for first in range(0, length, D128.keys):
        live = slice(first, length)
        keys = slice(first, min(first + D128.keys, length))
        s = (qd[:, :, :, live] @ kd[:, :, None, keys].transpose(-1, -2)).float()
        s = s.masked_fill(index[keys] > index[live, None], -math.inf) * log2_scale
        old = m[:, :, :, live]
        new = torch.maximum(old, s.amax(-1))
        alpha = torch.exp2(old - new)
        p = torch.exp2(s - new[..., None])
        rounded = ops.decode(ops.e4m3(p))
        product = (rounded @ vd[:, :, None, keys]).float()
        o[:, :, :, live] = o[:, :, :, live] * alpha[..., None] + product
        total[:, :, :, live] = total[:, :, :, live] * alpha + p.sum(-1)
        m[:, :, :, live] = new
    out = (o / total[..., None] * dv).to(torch.bfloat16)
    lse = (m + torch.log2(total)) * math.log(2)
    shape = (batch, heads, length)
    return out.reshape(*shape, dim).transpose(1, 2).contiguous(), lse.reshape(shape)
