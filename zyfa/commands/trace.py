"""`zyfa trace`: a kernel variant as a thread trace for tracekit."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("trace")
@click.option("--variant", default="", help="softmax=lean_ashr,schedule=pingpong,... (defaults)")
@click.option("--seqlen", default=2048, show_default=True, help="Sequence length.")
@click.option("--input", "data", default="sink", show_default=True, help="sink or gaussian.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: trace-<variant>")
@click.option("-f", "--force", is_flag=True, help="Write into an existing directory.")
@click.option("--set", "settings", type=click.Path(exists=True, dir_okay=False),
              help="TOML file of simulator parameters.")  # fmt: skip
def command(
    variant: str, seqlen: int, data: str, output: Path | None, force: bool, settings: str | None
) -> None:
    """Simulate one head and leave a capture directory (all times *simulated*).

    One workgroup on one CU computes the first and the last query tile of the head. Read it with
    `tracekit occupancy`, `budget`, `overlap`, `bubbles` and `compare`.
    """
    from zyfa import trace
    from zyfa.codegen import Options
    from zyfa.sim.parameters import Parameters

    try:
        options = Options.parse(variant)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--variant") from error
    if data not in trace.INPUTS:
        raise click.BadParameter(f"choose from {', '.join(trace.INPUTS)}", param_hint="--input")
    if seqlen < 1:
        raise click.BadParameter("at least 1", param_hint="--seqlen")
    folder = output or Path(f"trace-{options.name}")
    if folder.exists() and not force:
        raise click.UsageError(f"{folder} exists; use --force to write into it")
    parameters = Parameters.from_toml(settings) if settings else Parameters()
    done = trace.record(options, seqlen, folder, data, parameters)
    p = parameters
    click.echo(
        f"{folder}: {done.result.cycles} cycles of one CU, simulated; memory latency "
        f"{p.vmem_latency} cycles, 16 B loads {p.vmem_x4_service} cycles a wave; "
        f"parameters {p.digest}"
    )
