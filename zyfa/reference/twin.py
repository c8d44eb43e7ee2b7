"""The numerics twin: the kernel's arithmetic step by step, all rows at once.

Order and rounding follow `zyfa.codegen.phases`; names are the same. A row's result depends on
nothing but its own scores, so rows, heads and batches vectorise; only the blocks are a loop.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from zyfa.codegen.phases import setup
from zyfa.jobs import BLOCK, TILE
from zyfa.reference import ops

LOWEST_EXCESS = -119.0
LAZY_THRESHOLD = 0.125
LN2 = torch.tensor(0x3F317218, dtype=torch.int32).view(torch.float32)
PARTS = (
    torch.cat([torch.arange(0, 32), torch.arange(64, 96)]),
    torch.cat([torch.arange(32, 64), torch.arange(96, 128)]),
)
"""Keys of the two PV operands: 32 of either 64-key half."""


def twin(
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
    padded = -(-length // TILE) * TILE
    qd, kd, vd = (_heads_first(x, padded) for x in (q, k, v))
    group = heads // kd.shape[1]
    qd = qd.reshape(batch, kd.shape[1], group, padded, dim)

    log2_scale = _log2_scale(scale, descales, device)
    coefficient = log2_scale * 2.0 ** setup.element_exponent(softmax)
    qk_scale = 2.0**setup.QK_EXPONENT if softmax == "lean_ashr" else 1.0
    if softmax == "lean_ashr":
        log2_scale = log2_scale * 2.0**-setup.QK_EXPONENT
    slope, origin = (ops.from_bits(x, device) for x in setup.bias_constants(softmax))

    rows = qd.shape[:4]
    o = torch.zeros(*rows, dim, device=device)
    row_sum = torch.zeros(*rows, 1 if rowsum == "a" else 2, device=device)
    m = ops.from_bits(setup.LOWEST, device).expand(rows).clone()
    for block in range(padded // BLOCK):
        live = slice(block // 2 * TILE, padded)  # tiles above do not visit this block
        keys = slice(block * BLOCK, (block + 1) * BLOCK)
        s = _scores(qd[:, :, :, live], kd[:, :, None, keys], qk_scale)
        s = _mask(s, live.start, keys.start)
        peak = s.unflatten(-1, (2, 64)).amax(-1) * log2_scale

        old = m[:, :, :, live]
        row = peak.amax(-1)
        new = torch.where(row - old > LAZY_THRESHOLD, row, old)
        alpha = ops.exp2(old - new)[..., None]
        m[:, :, :, live] = new

        excess = torch.ceil((peak - new[..., None]).clamp_min(LOWEST_EXCESS))
        addend = ops.fma(excess + new[..., None], slope, origin)
        exponent = excess + 119.0
        x = ops.fma(s.unflatten(-1, (2, 64)), coefficient, addend[..., None]).flatten(-2)
        p = ops.decode(_codes(x, softmax))
        weight = torch.where(exponent > 0, torch.exp2(exponent - 127.0), 0.0)
        unscaled = torch.exp2(exponent.double() - 127.0)
        weighted = (p.unflatten(-1, (2, 64)) * unscaled[..., None]).flatten(-2)

        values = vd[:, :, None, keys]
        acc = o[:, :, :, live] * alpha
        sums = row_sum[:, :, :, live] * alpha
        for part in PARTS:
            index = part.to(device)
            acc = ops.accumulate(acc, weighted[..., index] @ values[..., index, :])
            if rowsum == "a":
                sums = ops.accumulate(sums, weighted[..., index].sum(-1, keepdim=True))
        if rowsum == "b":
            total = p.unflatten(-1, (2, 64)).sum(-1).float()
            sums = ops.fma(total, weight, sums)
        o[:, :, :, live], row_sum[:, :, :, live] = acc, sums

    total = row_sum[..., 0] if rowsum == "a" else row_sum[..., 0] + row_sum[..., 1]
    inverse = ops.rcp(total) * descales[2].to(device).float().reshape(())
    out = (o * inverse[..., None]).to(torch.bfloat16)
    lse = (m + ops.log2(total)) * LN2.to(device)
    out = out.reshape(batch, heads, padded, dim)[:, :, :length].transpose(1, 2)
    return out.contiguous(), lse.reshape(batch, heads, padded)[:, :, :length].contiguous()


def _heads_first(x: Tensor, padded: int) -> Tensor:
    """(B, S, H, D) FP8 to (B, H, S padded with zeros, D) float64."""
    y = x.transpose(1, 2).float().double()
    return torch.nn.functional.pad(y, (0, 0, 0, padded - x.shape[1]))


def _log2_scale(scale: float, descales: tuple[Tensor, ...], device: torch.device) -> Tensor:
    base = torch.tensor(scale * math.log2(math.e), dtype=torch.float32, device=device)
    first = base * descales[0].to(device).float().reshape(())
    return descales[1].to(device).float().reshape(()) * first


def _scores(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """S in two steps of 64 dimensions, float32 [..., rows, 128]."""
    kt = k.transpose(-1, -2)
    first = (q[..., :64] @ kt[..., :64, :] * scale).float()
    return ops.accumulate(first, q[..., 64:] @ kt[..., 64:, :] * scale)


def _mask(s: Tensor, first_row: int, first_key: int) -> Tensor:
    """-inf where the key comes after the query; blocks below the diagonal pass unchanged."""
    rows = torch.arange(first_row, first_row + s.shape[-2], device=s.device)
    keys = torch.arange(first_key, first_key + s.shape[-1], device=s.device)
    return s.masked_fill(keys > rows[:, None], -math.inf)


def _codes(x: Tensor, softmax: str) -> Tensor:
    if softmax == "exact":
        return ops.e4m3(ops.exp2(x))
    if softmax == "lean_u8":
        return ops.nearest_codes(x)
    return ops.shifted_codes(x, setup.ASHR_FRACTION)
