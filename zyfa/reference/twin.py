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
    base = _log2_scale(scale, descales, device)
    qk_scale = 2.0**chosen.qk_exponent
    slope, origin = (ops.from_bits(x, device) for x in (chosen.slope, chosen.origin))

    rows = qd.shape[:4]
    o = torch.zeros(*rows, dim, device=device)
    row_sum = torch.zeros(*rows, 1 if accumulates else 2, device=device)
    m = ops.from_bits(numbers.LOWEST, device).expand(rows).clone()
    cooled = torch.zeros(rows, dtype=torch.int32, device=device)
    for first in range(0, padded, D128.keys):
        live = slice(first // D128.rows * D128.rows, padded)  # tiles above do not visit it
        keys = slice(first, first + D128.keys)
        s = _scores(qd[:, :, :, live], kd[:, :, None, keys], qk_scale)
        s = _halves(_mask(s, live.start, keys.start))
        k_old = cooled[:, :, :, live]
        log2_scale = ops.ldexp(base, -chosen.qk_exponent - k_old)
        peak = s.amax(-1) * log2_scale[..., None]

        old = m[:, :, :, live]
        row = peak.amax(-1)
        new = torch.where(row - old <= numbers.LAZY_THRESHOLD, old, row)  # a NaN is a new one
        alpha = ops.exp2(old - new)[..., None]

        (new, peak), k_new = _cool(new, peak, k_old)
        coefficient = ops.ldexp(base, chosen.element_exponent - k_new)[..., None, None]
        m[:, :, :, live], cooled[:, :, :, live] = new, k_new

        excess = torch.ceil(_at_least(peak - new[..., None], numbers.LOWEST_EXCESS))
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
            sums = ops.fma(_spread_nan(p.sum(-1).float()), weight, sums)
        o[:, :, :, live], row_sum[:, :, :, live] = acc, sums

    total = row_sum[..., 0] if accumulates else row_sum[..., 0] + row_sum[..., 1]
    out = _scaled(o, ops.rcp(total)[..., None], descales[2].to(device).float().reshape(()))
    m = ops.ldexp(m, cooled)
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
    """scale log2(e) dq dk, rounded in this order, in the range that counts."""
    base = torch.tensor(numbers.log2_scale(scale), dtype=torch.float32, device=device)
    first = base * descales[0].to(device).float().reshape(())
    first = first.clamp_max(torch.finfo(torch.float32).max)
    product = descales[1].to(device).float().reshape(()) * first
    lowest, highest = (2.0**exponent for exponent in numbers.SCALE_RANGE)
    return product.clamp(lowest, highest)


def _cool(m: Tensor, peak: Tensor, k_old: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """(m, peaks) in units of 2^-K of the scale instead of 2^-k_old, and K (rescale.cool)."""
    k_new = (_exponent(m) + k_old - numbers.COOL_EXPONENT).clamp_min(0)
    step = k_old - k_new
    return (ops.ldexp(m, step), ops.ldexp(peak, step[..., None])), k_new


def _exponent(x: Tensor) -> Tensor:
    """v_frexp_exp_i32_f32: of a mantissa in 0.5..1; 0 for 0 and NaN."""
    return torch.where(x.isfinite(), torch.frexp(x).exponent, 0)


def _at_least(x: Tensor, limit: float) -> Tensor:
    """v_max_f32 with a constant, which a NaN gives way to."""
    return torch.where(x.isnan(), limit, x).clamp_min(limit)


def _spread_nan(sums: Tensor) -> Tensor:
    """Sums [..., rows, 2] as form b leaves them: its selector's zeros times a NaN code of a row are
    NaN in both halves of that row and of the row 16 off."""
    lost = sums.isnan().any(-1)
    pair = lost.reshape(*lost.shape[:-1], -1, 2, SIDE // 2).any(-2, keepdim=True)
    return sums.masked_fill(pair.expand(*pair.shape[:-2], 2, -1).flatten(-3)[..., None], math.nan)


def _scaled(o: Tensor, inverse: Tensor, descale: Tensor) -> Tensor:
    """O / l times V's descale in bf16; saturated where the descale alone could overflow it."""
    most = torch.finfo(torch.bfloat16).max
    saturated = (o * inverse * descale).clamp(-most, most)
    large = (descale > numbers.LARGEST_DESCALE) & descale.isfinite()
    return torch.where(large, saturated, o * (inverse * descale)).to(torch.bfloat16)


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
