"""Which sequences a packed (varlen) input holds, reading as little from the device as can be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from zyfa.errors import UnsupportedError
from zyfa.host import types


@dataclass(frozen=True, slots=True)
class Packed:
    """How many sequences have tokens, how many tokens each; `read`: the lengths of all, where they
    had to be looked at."""

    count: int
    length: int
    read: tuple[int, ...] | None = None


def packed(name: str, total: int, cu_seqlens: Tensor, longest: int) -> Packed:
    """The sequences of q or k, `total` tokens whose boundaries are cu_seqlens int32 (batch + 1,).

    Where batch * longest tokens are there, or none, nothing is read from the device. Otherwise the
    boundaries are read, which waits for it: all must have one length, or none.

    Raises ValueError for boundaries that are none, UnsupportedError for unequal lengths.
    """
    argument, bound = f"cu_seqlens_{name}", f"max_seqlen_{name}"
    types.tensor(argument, cu_seqlens)
    types.whole(bound, longest)
    if cu_seqlens.dim() != 1 or cu_seqlens.dtype != torch.int32 or cu_seqlens.numel() < 1:
        raise ValueError(f"{argument} must be int32 of shape (batch + 1,)")
    batch = cu_seqlens.numel() - 1
    if total == 0:
        return Packed(0, 0)
    if batch == 0:
        raise ValueError(f"{argument} is that of an empty batch, but {name} has {total} tokens")
    if batch * longest == total:
        return Packed(batch, longest)
    edges = cu_seqlens.tolist()
    lengths = tuple(b - a for a, b in pairwise(edges))
    if edges[0] != 0 or edges[-1] != total or min(lengths) < 0:
        raise ValueError(f"{argument} must rise from 0 to the {total} tokens of {name}")
    if max(lengths) > longest:
        raise ValueError(f"{bound}={longest}, but a sequence has {max(lengths)} tokens")
    kept = sorted(set(lengths) - {0})  # at least one, for the total is not 0
    if len(kept) > 1:
        raise UnsupportedError(
            f"{argument}: sequences of {kept[0]} to {kept[-1]} tokens: "
            "only sequences of equal length (or none) are supported"
        )
    return Packed(len(lengths) - lengths.count(0), kept[0], lengths)


def same(q: Packed, k: Packed) -> None:
    """Raise UnsupportedError unless queries and keys of every sequence are equally many."""
    both = q.read is not None and k.read is not None
    if q.count != k.count or q.length != k.length or (both and q.read != k.read):
        raise UnsupportedError(
            f"{q.count} sequences of {q.length} queries, {k.count} of {k.length} keys: "
            "query and key lengths must be equal"
        )
