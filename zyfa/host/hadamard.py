"""Hadamard rotation of Q and K: spreads outliers before FP8 quantisation, keeps Q K^T."""

from __future__ import annotations

import torch

from zyfa.host import types


def blocks(dim: int) -> list[int]:
    """Powers of two, largest first, that sum to `dim`: 128 -> [128], 192 -> [128, 64]."""
    return [1 << bit for bit in range(dim.bit_length() - 1, -1, -1) if dim >> bit & 1]


def transform(x: torch.Tensor) -> torch.Tensor:
    """x H / sqrt(n) over the last dimension n, a power of two (Sylvester order, float32 inside)."""
    n = x.shape[-1]
    y = x.float()
    step = 1
    while step < n:
        pair = y.reshape(*x.shape[:-1], n // (2 * step), 2, step)
        first, second = pair.unbind(-2)
        y = torch.stack((first + second, first - second), dim=-2).reshape(x.shape)
        step *= 2
    scaled: torch.Tensor = y * n**-0.5
    return scaled


def check(q: torch.Tensor, k: torch.Tensor) -> None:
    """Raise TypeError and ValueError for what hadamard_rotate does not take."""
    for name, x in (("q", q), ("k", k)):
        types.floating(name, x)
        if x.dim() == 0 or x.shape[-1] == 0:
            raise ValueError(f"{name} has shape {tuple(x.shape)}: a last dimension is needed")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"the head dimensions of q and k, {q.shape[-1]} and {k.shape[-1]}, differ")


def hadamard_rotate(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(q', k') of the same shapes and dtypes with q' k'^T = q k^T up to rounding.

    The last dimensions must agree (ValueError); TypeError for what is no floating point tensor. A
    dimension that is no power of two is rotated in blocks: 192 as 128 + 64.
    """
    check(q, k)
    return _rotate(q), _rotate(k)


def _rotate(x: torch.Tensor) -> torch.Tensor:
    parts = torch.split(x, blocks(x.shape[-1]), dim=-1)
    return torch.cat([transform(part) for part in parts], dim=-1).to(x.dtype)
