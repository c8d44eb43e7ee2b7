"""FP8 quantisation with one power-of-two descale per tensor."""

from __future__ import annotations

import torch

from zyfa.host import types

LARGEST = 448.0
"""Largest finite OCP E4M3 value."""
SMALLEST_EXPONENT = -126
"""Of a normal float32."""


def check(x: torch.Tensor) -> None:
    """Raise TypeError for what fp8_quantize does not take."""
    types.floating("x", x)
    if x.element_size() == 1:
        raise TypeError(f"x is {x.dtype}, quantised already")


def fp8_quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(q, descale) with x ≈ q * descale; q float8_e4m3fn like x, descale one float32 on x's device.

    descale = 2^ceil(log2(max |x| / 448)), at least 2^-126 so that it is no denormal, and 1 for an
    all-zero tensor; of the finite values, in float32. NaN, infinities and what float32 cannot hold
    become NaN: E4M3 has no infinity. Nothing waits for the device.
    Raises TypeError for an input that is no tensor or not floating point.
    """
    check(x)
    if x.numel() == 0:
        return x.to(torch.float8_e4m3fn), torch.ones(1, device=x.device)
    x = x.float()
    finite = x.isfinite()
    amax = torch.where(finite, x, 0.0).abs().amax()
    x = torch.where(finite, x, torch.nan)
    mantissa, exponent = torch.frexp(amax)
    # 448 = 0.875 * 2^9, so amax <= 448 * 2^(exponent - 9) exactly when mantissa <= 0.875.
    exponent = exponent - 9 + (mantissa > 0.875).to(exponent.dtype)
    exponent = torch.where(amax > 0, exponent.clamp_min(SMALLEST_EXPONENT), 0)
    descale = torch.ldexp(torch.ones_like(amax), exponent)
    return torch.ldexp(x, -exponent).to(torch.float8_e4m3fn), descale.reshape(1)
