"""One attention call on a HIP device: padding, job table, kernel arguments, launch."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

from zyfa import jobs, toolchain
from zyfa.codegen import Options, emit, kernargs
from zyfa.codegen.text import THREADS
from zyfa.host import runtime


@functools.cache
def job_table(shape: jobs.Shape, device: torch.device) -> Tensor:
    """The shape's job table on the device; the only copy from the host, made once."""
    table = torch.from_numpy(jobs.table(shape).view("int32").reshape(-1))
    return table.to(device)


@functools.cache
def code_object(options: Options) -> bytes:
    return toolchain.build(emit(options))


def padded(x: Tensor) -> Tensor:
    """Contiguous (B, S up to a multiple of 256, H, 128); copies only when it must."""
    extra = -x.shape[1] % jobs.TILE
    if not extra:
        return x.contiguous()
    flat = torch.nn.functional.pad(x.view(torch.uint8), (0, 0, 0, 0, 0, extra))
    return flat.view(x.dtype)


def arguments(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    table: Tensor,
    descales: tuple[Tensor, Tensor, Tensor],
    scale: float,
    grid: int,
) -> dict[str, int | float]:
    """Values of `zyfa.codegen.kernargs`; tensors become addresses."""
    heads, kv_heads = q.shape[2], k.shape[2]
    names = ("q", "k", "v", "out", "lse", "jobs", "q_descale", "k_descale", "v_descale")
    pointers = (q, k, v, out, lse, table, *descales)
    return {
        **{name: x.data_ptr() for name, x in zip(names, pointers, strict=True)},
        "scale_log2e": scale * math.log2(math.e),
        "job_count": table.numel() // (2 * jobs.ITEM_WORDS),
        "q_stride": heads * jobs.HEAD_DIM,
        "kv_stride": kv_heads * jobs.HEAD_DIM,
        "out_stride": heads * jobs.HEAD_DIM * 2,
        "grid": grid,
    }


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    descales: tuple[Tensor, Tensor, Tensor],
    scale: float,
    options: Options,
    library: runtime.Library | None = None,
    stream: int | None = None,
    units: int | None = None,
) -> tuple[Tensor, Tensor]:
    """(out, lse) as the kernel writes them. Nothing waits for the device.

    library, stream, units: the HIP runtime, stream handle and compute units; by default torch's.
    """
    length = q.shape[1]
    qp, kp, vp = (padded(x) for x in (q, k, v))
    batch, rows, heads, _ = qp.shape
    table = job_table(jobs.Shape(batch, rows, heads, k.shape[2]), q.device)
    out = torch.empty(qp.shape, dtype=torch.bfloat16, device=q.device)
    lse = torch.empty((batch, heads, rows), dtype=torch.float32, device=q.device)
    count = table.numel() // (2 * jobs.ITEM_WORDS)
    if units is None:
        units = torch.cuda.get_device_properties(q.device).multi_processor_count
    if stream is None:
        stream = torch.cuda.current_stream(q.device).cuda_stream
    grid = jobs.grid_size(count, units)
    values = arguments(qp, kp, vp, out, lse, table, descales, scale, grid)
    chosen = library or runtime.default()
    function = chosen.function(code_object(options), options.symbol, q.device.index or 0)
    chosen.launch(function, grid, THREADS, kernargs.pack(values), stream)
    return out[:, :length].contiguous(), lse[..., :length].contiguous()
