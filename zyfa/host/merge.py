"""Attention over several key ranges from their outputs and log-sum-exps (chunked prefill)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from zyfa.host import types


def merge_attention(
    outs: Sequence[torch.Tensor], lses: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) of the union of disjoint key ranges.

    outs: (B, S, H, D) each; lses: (B, H, S) float32 natural logarithms, -inf for a row without keys
    (its output is ignored; a row with no key at all gives 0 and -inf). Computed in float32; out has
    the dtype of the first output. Raises ValueError for no or mismatched inputs, TypeError for what
    are no lists of floating point tensors.
    """
    check(outs, lses)
    stacked = torch.stack([lse.float() for lse in lses])
    top = stacked.amax(0)
    top = torch.where(torch.isfinite(top), top, 0.0)
    weights = torch.exp(stacked - top)
    total = weights.sum(0)
    values = torch.stack([out.float() for out in outs])
    share = (weights / total.clamp_min(torch.finfo(torch.float32).tiny)).transpose(-1, -2)
    used = torch.where(share[..., None] == 0, 0.0, values * share[..., None])
    return used.sum(0).to(outs[0].dtype), top + torch.log(total)


def check(outs: Sequence[torch.Tensor], lses: Sequence[torch.Tensor]) -> None:
    """Raise TypeError and ValueError for what merge_attention does not take."""
    types.tensors("outs", outs)
    types.tensors("lses", lses)
    if not outs or len(outs) != len(lses):
        raise ValueError(f"outs and lses: {len(outs)} outputs but {len(lses)} log-sum-exps")
    for out, lse in zip(outs, lses, strict=True):
        expected = (out.shape[0], out.shape[2], out.shape[1]) if out.dim() == 4 else None
        if out.shape != outs[0].shape or tuple(lse.shape) != expected:
            raise ValueError(
                f"outs and lses: out {tuple(out.shape)} and lse {tuple(lse.shape)} "
                "are not (B, S, H, D) and (B, H, S) of one shape"
            )
