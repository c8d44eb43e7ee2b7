"""FP8 quantisation with one power-of-two descale per tensor."""

from __future__ import annotations

import torch

LARGEST = 448.0
"""Largest finite OCP E4M3 value."""


def fp8_quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(q, descale) with x ≈ q * descale; q float8_e4m3fn like x, descale one float32 on x's device.

    descale = 2^ceil(log2(max |x| / 448)), 1 for an all-zero tensor. Nothing waits for the device.
    Raises TypeError for an input that is not floating point.
    """
    if not x.is_floating_point():
        raise TypeError(f"fp8_quantize: floating point expected, got {x.dtype}")
    if x.numel() == 0:
        return x.to(torch.float8_e4m3fn), torch.ones(1, device=x.device)
    amax = x.abs().amax().float()
    mantissa, exponent = torch.frexp(amax / LARGEST)
    # amax / 448 = mantissa * 2^exponent, mantissa in [0.5, 1): its ceiling power of two.
    exponent = exponent - (mantissa == 0.5).to(exponent.dtype)
    descale = torch.where(amax > 0, torch.ldexp(torch.ones_like(amax), exponent), 1.0)
    # Dividing by a power of two is exact but for denormals; two steps keep its reciprocal finite.
    scaled = torch.ldexp(x.float(), -torch.where(amax > 0, exponent, 0))
    return scaled.to(torch.float8_e4m3fn), descale.reshape(1)
