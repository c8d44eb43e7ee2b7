"""The accuracy study: errors of the FP8 variants against float64 attention, on synthetic data.

All kernels are their numerics twins, which the simulator reproduces bit for bit. Nothing here was
measured on a chip or on a trained model; `docs/accuracy.md` says what that leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from zyfa.host.hadamard import hadamard_rotate
from zyfa.host.quantize import fp8_quantize
from zyfa.reference import aiter_like, attention_fp64, inputs, twin
from zyfa.shape import D128

HEAD_DIM = D128.d_qk
SCALE = HEAD_DIM**-0.5
LENGTHS = (1024, 2048, 4096, 8192)
NAMES = ("gaussian", "sink")
Triple = tuple[Tensor, Tensor, Tensor]
Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Error:
    """Against float64 attention on the same FP8 inputs: root mean square and maximum."""

    data: str
    length: int
    variant: str
    rms: float
    worst: float


def quantised(tensors: Triple) -> tuple[Triple, Triple]:
    """(codes, descales)."""
    (q, dq), (k, dk), (v, dv) = (fp8_quantize(x) for x in tensors)
    return (q, k, v), (dq, dk, dv)


def variants() -> dict[str, Callable[..., tuple[Tensor, Tensor]]]:
    """Name to function(q, k, v, scale, descales)."""
    made = {name: partial(twin, softmax=name) for name in ("exact", "lean_ashr", "lean_u8")}
    return {**made, "AITER-like": aiter_like}


def errors(data: str, length: int, seed: int = 0) -> Iterator[Error]:
    """One row a variant, 2 query heads on 1 key head."""
    tensors, descales = quantised(inputs.make(data, 1, length, 2, 1, seed))
    truth, _ = attention_fp64(*tensors, SCALE, descales)
    for name, function in variants().items():
        out, _ = function(*tensors, SCALE, descales)
        difference = out.double() - truth
        rms = float(difference.pow(2).mean().sqrt())
        yield Error(data, length, name, rms, float(difference.abs().max()))


def input_error(data: str, length: int, rotate: bool, seed: int = 0) -> float:
    """RMS error that quantising Q, K and V causes by itself (float64 attention on both sides)."""
    q, k, v = inputs.make(data, 1, length, 2, 1, seed)
    truth, _ = attention_fp64(q, k, v, SCALE)
    if rotate:
        q, k = hadamard_rotate(q, k)
    tensors, descales = quantised((q, k, v))
    out, _ = attention_fp64(*tensors, SCALE, descales)
    return float((out - truth).pow(2).mean().sqrt())


class Transformer:
    """A small causal language model with random weights: the method's demonstration, no more."""

    def __init__(self, layers: int = 4, heads: int = 4, vocabulary: int = 512, seed: int = 0):
        g = torch.Generator().manual_seed(seed)
        width = heads * HEAD_DIM
        self.heads = heads
        self.embedding = torch.randn(vocabulary, width, generator=g)
        self.layers = [
            [torch.randn(width, n * width, generator=g) * width**-0.5 for n in (3, 1, 4)]
            + [torch.randn(4 * width, width, generator=g) * (4 * width) ** -0.5]
            for _ in range(layers)
        ]

    def logits(self, tokens: Tensor, attention: Attention) -> Tensor:
        """Log-probabilities (B, S, vocabulary) in float64."""
        x = self.embedding[tokens]
        for qkv, mix, up, down in self.layers:
            parts = (_norm(x) @ qkv).unflatten(-1, (3 * self.heads, HEAD_DIM)).chunk(3, dim=2)
            # Sharper than random projections give, as trained heads are.
            mixed = attention(parts[0] * 2.0, parts[1] * 2.0, parts[2])
            x = x + mixed.float().flatten(2) @ mix
            x = x + torch.nn.functional.gelu(_norm(x) @ up) @ down
        width = self.embedding.shape[1]
        return torch.log_softmax((_norm(x) @ self.embedding.T).double() * 2 * width**-0.5, -1)


def _norm(x: Tensor) -> Tensor:
    return x / x.pow(2).mean(-1, keepdim=True).sqrt()


def divergences(length: int = 512, seed: int = 0) -> dict[str, float]:
    """Mean KL(float64 attention || variant) per token, in nats."""
    model = Transformer(seed=seed)
    tokens = torch.randint(0, 512, (1, length), generator=torch.Generator().manual_seed(seed))
    truth = model.logits(tokens, lambda q, k, v: attention_fp64(q, k, v, SCALE)[0])
    made: dict[str, Attention] = {
        name: partial(_fp8, function) for name, function in variants().items()
    }
    made["FP8 inputs only"] = partial(_fp8, attention_fp64)
    made["FP8 inputs only, Hadamard"] = lambda q, k, v: _fp8(
        attention_fp64, *hadamard_rotate(q, k), v
    )
    out = {}
    for name, attention in made.items():
        other = model.logits(tokens, attention)
        out[name] = float((truth.exp() * (truth - other)).sum(-1).mean())
    return out


def _fp8(function: Callable[..., tuple[Tensor, Tensor]], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    tensors, descales = quantised((q, k, v))
    return function(*tensors, SCALE, descales)[0]
