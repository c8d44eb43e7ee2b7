"""One attention call on a HIP device: padding, job table, kernel arguments, launch."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from zyfa import jobs, toolchain
from zyfa.codegen import Kernel, Options, kernargs, kernel
from zyfa.host import runtime
from zyfa.shape import D128, Shape

Descales = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Target:
    """Where kernels run: the HIP runtime, a stream handle, compute units."""

    library: runtime.Library
    stream: int
    units: int

    @classmethod
    def of(cls, device: torch.device) -> Target:
        """Torch's runtime and current stream on `device`."""
        units = torch.cuda.get_device_properties(device).multi_processor_count
        return cls(runtime.default(), torch.cuda.current_stream(device).cuda_stream, units)


@functools.cache
def job_table(problem: jobs.Problem, device: torch.device) -> Tensor:
    """The problem's job table on the device; the only copy from the host, made once."""
    return torch.from_numpy(jobs.table(problem).view("int32").reshape(-1)).to(device)


@functools.cache
def variant(options: Options) -> Kernel:
    return kernel(options)


@functools.cache
def code_object(options: Options) -> bytes:
    return toolchain.build(variant(options).text)


def padded(x: Tensor, shape: Shape = D128) -> Tensor:
    """Contiguous (B, S up to whole tiles, H, D); copies only when it must."""
    extra = jobs.padded(x.shape[1], shape) - x.shape[1]
    if not extra:
        return x.contiguous()
    flat = torch.nn.functional.pad(x.view(torch.uint8), (0, 0, 0, 0, 0, extra))
    return flat.view(x.dtype)


def attention(
    qkv: tuple[Tensor, Tensor, Tensor],
    descales: Descales,
    scale: float,
    options: Options,
    target: Target | None = None,
) -> tuple[Tensor, Tensor]:
    """(out, lse) as the kernel writes them. Nothing waits for the device.

    target: by default torch's device of q.
    """
    shape, device = options.shape, qkv[0].device
    length = qkv[0].shape[1]
    q, k, v = (padded(x, shape) for x in qkv)
    batch, rows, heads, _ = q.shape
    problem = jobs.Problem(batch, rows, heads, k.shape[2], shape)
    out = torch.empty((batch, rows, heads, shape.d_v), dtype=torch.bfloat16, device=device)
    lse = torch.empty((batch, heads, rows), dtype=torch.float32, device=device)
    target = target or Target.of(device)
    grid = jobs.grid_size(problem.job_count, target.units)
    pointers = {
        "q": q, "k": k, "v": v, "out": out, "lse": lse, "jobs": job_table(problem, device),
        "q_descale": descales[0], "k_descale": descales[1], "v_descale": descales[2],
    }  # fmt: skip
    call = kernargs.Call(problem, scale, grid)
    given = kernargs.values(call, {name: x.data_ptr() for name, x in pointers.items()})
    function = target.library.function(code_object(options), options.symbol, device.index or 0)
    target.library.launch(function, grid, shape.threads, kernargs.pack(given), target.stream)
    return out[:, :length].contiguous(), lse[..., :length].contiguous()
