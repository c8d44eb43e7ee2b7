"""The numerics twin: the kernel's arithmetic step by step, all rows at once.

Order and rounding follow `zyfa.codegen.phases`; names are the same. A row's result depends on
nothing but its own scores, so rows, heads and batches vectorise; only the blocks are a loop.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from zyfa import jobs
from zyfa.codegen import numbers
from zyfa.codegen.rowsums import ROWSUMS, Accumulated
from zyfa.codegen.softmaxes import SOFTMAXES
from zyfa.reference import ops
from zyfa.shape import D128, QK_DEPTH, SIDE

HALF = D128.keys // 2
PARTS = tuple(
    torch.cat([torch.arange(SIDE * tile, SIDE * (tile + 1)) for tile in (part, part + 2)])
    for part in range(D128.pv_steps)
)
"""Keys of the two PV operands: 32 of either 64-key half."""


def twin(  # noqa: PLR0913 - the arguments of an attention call, and a variant
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    descales: tuple[Tensor, Tensor, Tensor],
    softmax: str = "lean_ashr",
    rowsum: str = "b",
) -> tuple[Tensor, Tensor]:
    """(out, lse) exactly as the kernel of these options writes them.

    q: (B, S, H, 128), k and v: (B, S, Hk, 128), float8_e4m3fn; descales: one float32 each;
    scale: softmax scale. out: bf16 like q; lse: (B, H, S) float32, natural logarithm.
    """
    batch, length, heads, dim = q.shape
    device = q.device
    padded = jobs.padded(length)
    qd, kd, vd = (_heads_first(x, padded) for x in (q, k, v))
    qd = qd.reshape(batch, kd.shape[1], heads // kd.shape[1], padded, dim)

    chosen, accumulates = SOFTMAXES[softmax], isinstance(ROWSUMS[rowsum], Accumulated)
    log2_scale = _log2_scale(scale, descales, device)
    coefficient = log2_scale * 2.0**chosen.element_exponent
    qk_scale = 2.0**chosen.qk_exponent
    log2_scale = log2_scale * 2.0**-chosen.qk_exponent
    slope, origin = (ops.from_bits(x, device) for x in (chosen.slope, chosen.origin))

    rows = qd.shape[:4]
    o = torch.zeros(*rows, dim, device=device)
    row_sum = torch.zeros(*rows, 1 if accumulates else 2, device=device)
    m = ops.from_bits(numbers.LOWEST, device).expand(rows).clone()
    for first in range(0, padded, D128.keys):
        live = slice(first // D128.rows * D128.rows, padded)  # tiles above do not visit it
        keys = slice(first, first + D128.keys)
        s = _scores(qd[:, :, :, live], kd[:, :, None, keys], qk_scale)
        s = _halves(_mask(s, live.start, keys.start))
        peak = s.amax(-1) * log2_scale

        old = m[:, :, :, live]
        row = peak.amax(-1)
        new = torch.where(row - old > numbers.LAZY_THRESHOLD, row, old)
        alpha = ops.exp2(old - new)[..., None]
        m[:, :, :, live] = new

        excess = torch.ceil((peak - new[..., None]).clamp_min(numbers.LOWEST_EXCESS))
        addend = ops.fma(excess + new[..., None], slope, origin)
        exponent = excess - numbers.LOWEST_EXCESS
        x = ops.fma(s, coefficient, addend[..., None]).flatten(-2)
        p = _halves(ops.decode(chosen.codes(ops, x)))
        weighted = (p * torch.exp2(exponent.double() - 127.0)[..., None]).flatten(-2)

        acc = o[:, :, :, live] * alpha
        sums = row_sum[:, :, :, live] * alpha
        for part in PARTS:
            index = part.to(device)
            acc = ops.accumulate(acc, weighted[..., index] @ vd[:, :, None, keys][..., index, :])
            if accumulates:
                sums = ops.accumulate(sums, weighted[..., index].sum(-1, keepdim=True))
        if not accumulates:
            weight = torch.where(exponent > 0, torch.exp2(exponent - 127.0), 0.0)
            sums = ops.fma(p.sum(-1).float(), weight, sums)
        o[:, :, :, live], row_sum[:, :, :, live] = acc, sums

    total = row_sum[..., 0] if accumulates else row_sum[..., 0] + row_sum[..., 1]
    inverse = ops.rcp(total) * descales[2].to(device).float().reshape(())
    out = (o * inverse[..., None]).to(torch.bfloat16)
    lse = (m + ops.log2(total)) * ops.from_bits(numbers.LN2, device)
    out = out.reshape(batch, heads, padded, dim)[:, :, :length].transpose(1, 2)
    return out.contiguous(), lse.reshape(batch, heads, padded)[:, :, :length].contiguous()


def _halves(x: Tensor) -> Tensor:
    """[..., 128] by the 64-key halves of a block, [..., 2, 64]."""
    return x.reshape(*x.shape[:-1], 2, HALF)


def _heads_first(x: Tensor, padded: int) -> Tensor:
    """(B, S, H, D) FP8 to (B, H, S padded with zeros, D) float64."""
    y = x.transpose(1, 2).float().double()
    return torch.nn.functional.pad(y, (0, 0, 0, padded - x.shape[1]))


def _log2_scale(scale: float, descales: tuple[Tensor, ...], device: torch.device) -> Tensor:
    base = torch.tensor(scale * math.log2(math.e), dtype=torch.float32, device=device)
    first = base * descales[0].to(device).float().reshape(())
    return descales[1].to(device).float().reshape(()) * first


def _scores(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """S in steps of 64 dimensions, float32 [..., rows, keys]."""
    kt = k.transpose(-1, -2)
    s = torch.zeros((), device=q.device)
    for first in range(0, q.shape[-1], QK_DEPTH):
        step = slice(first, first + QK_DEPTH)
        s = ops.accumulate(s, q[..., step] @ kt[..., step, :] * scale)
    return s


def _mask(s: Tensor, first_row: int, first_key: int) -> Tensor:
    """-inf where the key comes after the query; blocks below the diagonal pass unchanged."""
    rows = torch.arange(first_row, first_row + s.shape[-2], device=s.device)
    keys = torch.arange(first_key, first_key + s.shape[-1], device=s.device)
    return s.masked_fill(keys > rows[:, None], -math.inf)
