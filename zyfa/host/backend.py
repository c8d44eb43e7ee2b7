"""Where a call runs: the generated kernel on gfx950, otherwise the numerics twin."""

from __future__ import annotations

import functools
import warnings

import torch
from torch import Tensor

from zyfa.codegen import Options
from zyfa.host import launch
from zyfa.reference import twin

KERNEL = Options()
"""The default variant: the best in simulation that is also correct."""


def is_gfx950(device: torch.device) -> bool:
    """True for a ROCm device whose architecture is gfx950."""
    if device.type != "cuda" or torch.version.hip is None:
        return False
    return torch.cuda.get_device_properties(device).gcnArchName.startswith("gfx950")


@functools.cache
def _say_once() -> None:
    warnings.warn(
        "zyfa: no gfx950 device, running the numerics twin in torch (same results, slow)",
        stacklevel=2,
    )


def forward(
    q: Tensor, k: Tensor, v: Tensor, descales: tuple[Tensor, Tensor, Tensor], scale: float
) -> tuple[Tensor, Tensor]:
    """(out bf16 (B, S, H, 128), lse float32 (B, H, S)) of checked FP8 inputs.

    E4M3 codes may also come as uint8 (torch's own operator checks cannot compare FP8 tensors).
    """
    if not q.numel():
        batch, length, heads, _ = q.shape
        empty = torch.empty(q.shape, dtype=torch.bfloat16, device=q.device)
        return empty, torch.empty((batch, heads, length), dtype=torch.float32, device=q.device)
    q, k, v = (x.view(torch.float8_e4m3fn) for x in (q, k, v))
    if is_gfx950(q.device):
        return launch.attention((q, k, v), descales, scale, KERNEL)
    _say_once()
    return twin(q, k, v, scale, descales, KERNEL.softmax, KERNEL.rowsum)
