"""Synthetic activations by name, for tests and the accuracy study. Deterministic by seed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Generator = torch.Generator
Triple = tuple[Tensor, Tensor, Tensor]


def _normal(shape: tuple[int, ...], g: Generator) -> Tensor:
    return torch.randn(shape, generator=g)


def gaussian(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """Independent standard normals."""
    return _normal(q, g), _normal(kv, g), _normal(kv, g)


def sink(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """In the manner of trained models: an attention sink and outlier channels.

    A shared direction lifts key 0 to a score of about 9 nats, so it takes most of the weight of
    some thousand keys while the rest lie many binades below; its value is small. Four channels of
    the keys carry a constant of 8, and the queries are three times larger there: softmax hardly
    sees it, FP8 rounding does.
    """
    qs, ks, vs = gaussian(q, kv, g)
    dim = kv[-1]
    outliers = torch.randperm(dim, generator=g)[:4]
    direction = _normal((dim,), g)
    direction[outliers] = 0.0
    direction = direction / direction.norm()
    qs = qs + 8.0 * direction
    ks[:, 0] = ks[:, 0] * 0.1 + 9.0 / 8.0 * dim**0.5 * direction
    vs[:, 0] = vs[:, 0] * 0.05
    qs[..., outliers] *= 3.0
    ks[..., outliers] += 8.0
    return qs, ks, vs


def equal(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """Every key the same: all visible probabilities are equal."""
    qs, ks, vs = gaussian(q, kv, g)
    return qs, ks[:, :1].expand(kv).clone(), vs


def huge(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """Scores of thousands: softmax becomes a choice of one key."""
    qs, ks, vs = gaussian(q, kv, g)
    return qs * 100.0, ks * 100.0, vs * 1e6


def tiny(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """Inputs near 2^-20: scores vanish, softmax is flat."""
    qs, ks, vs = gaussian(q, kv, g)
    return qs * 1e-6, ks * 1e-6, vs * 1e-6


def zeros(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    return torch.zeros(q), torch.zeros(kv), torch.zeros(kv)


def gaps(q: tuple[int, ...], kv: tuple[int, ...], g: Generator) -> Triple:
    """Long runs of keys some hundred binades below the rest, as if masked by a large negative."""
    qs, ks, vs = gaussian(q, kv, g)
    direction = torch.zeros(kv[-1])
    direction[0] = 1.0
    qs = qs + 30.0 * direction
    low = (torch.arange(kv[1]) // 48) % 3 > 0
    ks[:, low] = ks[:, low] - 60.0 * direction
    return qs, ks, vs


INPUTS: dict[str, Callable[[tuple[int, ...], tuple[int, ...], Generator], Triple]] = {
    f.__name__: f for f in (gaussian, sink, equal, huge, tiny, zeros, gaps)
}


def make(  # noqa: PLR0913 - the sizes of q and k
    name: str, batch: int, length: int, heads: int, kv_heads: int, seed: int = 0, dim: int = 128
) -> Triple:
    """q (B, S, H, dim), k and v (B, S, Hk, dim), float32. KeyError for an unknown name."""
    g = torch.Generator().manual_seed(seed)
    return INPUTS[name]((batch, length, heads, dim), (batch, length, kv_heads, dim), g)
