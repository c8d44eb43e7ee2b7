"""gfx950 arithmetic on tensors: `zyfa.arithmetic` itself on the CPU, its formulas elsewhere.

On the CPU the twin and the simulator run the same code, so equality is bit for bit. On a GPU the
multiply-add can differ where float64 rounds onto a float32 tie (about 2^-29 of cases).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from zyfa import arithmetic


def _shared(function: Callable[..., np.ndarray], *tensors: Tensor) -> Tensor:
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.asarray(function(*(t.numpy() for t in tensors))))


def on_cpu(x: Tensor) -> bool:
    """Whether the simulator's own arithmetic can run on this tensor."""
    return x.device.type == "cpu"


def fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """a * b + c, float32, rounded once."""
    if on_cpu(a):
        return _shared(arithmetic.fma_f32, a, b, c)
    return (a.double() * b.double() + c.double()).float()


def exp2(x: Tensor) -> Tensor:
    if on_cpu(x):
        return _shared(arithmetic.exp2_f32, x)
    return torch.exp2(x.double()).float()


def ldexp(x: Tensor, exponent: Tensor | int) -> Tensor:
    """x * 2^exponent, float32, rounded once (torch.ldexp's power need not be exact)."""
    biased = torch.as_tensor(exponent, device=x.device).long() + 1023
    return (x.double() * (biased << 52).view(torch.float64)).float()


def log2(x: Tensor) -> Tensor:
    if on_cpu(x):
        return _shared(arithmetic.log2_f32, x)
    return torch.log2(x.double()).float()


def rcp(x: Tensor) -> Tensor:
    if on_cpu(x):
        return _shared(arithmetic.rcp_f32, x)
    return (1.0 / x.double()).float()


def e4m3(x: Tensor) -> Tensor:
    """E4M3 codes (uint8) of float32, nearest even."""
    if on_cpu(x):
        return _shared(arithmetic.fp8_e4m3_encode, x.contiguous())
    return x.to(torch.float8_e4m3fn).view(torch.uint8)


def clamp(x: Tensor) -> Tensor:
    """The clamp modifier: 0..1, NaN to 0 (DX10_CLAMP)."""
    return torch.where(x.isnan(), 0.0, x).clamp(0.0, 1.0)


def shifted_codes(x: Tensor, shift: int) -> Tensor:
    """v_ashr_pk_u8_i32 of float32 bits: shifted right, saturated to 0..255 (uint8)."""
    return (x.contiguous().view(torch.int32) >> shift).clamp(0, 255).to(torch.uint8)


def nearest_codes(x: Tensor) -> Tensor:
    """v_cvt_pk_u8_f32: nearest even, saturated to 0..255 (uint8)."""
    if on_cpu(x):
        return _shared(arithmetic.u8_encode, x)
    return torch.nan_to_num(torch.round(x), nan=0.0).clamp(0, 255).to(torch.uint8)


def decode(codes: Tensor) -> Tensor:
    """E4M3 codes (uint8) as float64."""
    return codes.view(torch.float8_e4m3fn).float().double()


def accumulate(c: Tensor, dot: Tensor) -> Tensor:
    """MFMA: float32 C plus an exact float64 dot product, rounded once."""
    return (c.double() + dot).float()


def from_bits(bits: int, device: torch.device) -> Tensor:
    """One float32 from its bit pattern (denormals survive)."""
    signed = bits - (1 << 32) if bits >> 31 else bits
    return torch.tensor(signed, dtype=torch.int32, device=device).view(torch.float32)
