"""What `zyfa trace` runs under rocprofv3 on a gfx950: one variant, launched a few times.

Every CU gets what the simulator gives one: the first and the last query tile of a head, with the
same inputs. So there are as many heads as fill the device.
"""

from __future__ import annotations

import click
import torch

from zyfa import jobs, trace
from zyfa.chip import ARCH, LAUNCHES
from zyfa.codegen import Options
from zyfa.host import backend, launch


def heads_to_fill(units: int, length: int) -> int:
    """Heads of `length` tokens whose jobs are at least one for each of `units` CUs."""
    head = jobs.Problem(1, jobs.padded(length), 1, 1)
    return -(-units // head.job_count)


def run(
    options: Options, length: int, data: str, device: torch.device, target: launch.Target
) -> None:
    """Enqueue LAUNCHES launches on `device`."""
    heads = heads_to_fill(target.units, length)
    q, k, v = (
        torch.from_numpy(x).to(device).expand(-1, -1, heads, -1).contiguous()
        for x in trace.codes(data, length)
    )
    q, k, v = (x.view(torch.float8_e4m3fn) for x in (q, k, v))
    one = torch.ones(1, device=device)
    for _ in range(LAUNCHES):
        launch.attention((q, k, v), (one, one, one), trace.SCALE, options, target)


@click.command()
@click.option("--variant", required=True)
@click.option("--seqlen", type=int, required=True)
@click.option("--input", "data", type=click.Choice(trace.INPUTS), required=True)
def command(variant: str, seqlen: int, data: str) -> None:
    """Run the kernel on the first device, which must be a gfx950."""
    device = torch.device("cuda", 0)
    if not torch.cuda.is_available() or not backend.is_gfx950(device):
        raise click.ClickException(f"torch (for ROCm) sees no {ARCH} as its first device")
    run(Options.parse(variant), seqlen, data, device, launch.Target.of(device))
    torch.cuda.synchronize(device)


if __name__ == "__main__":
    command()
