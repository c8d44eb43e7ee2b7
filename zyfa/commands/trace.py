"""`zyfa trace`: a kernel variant as a thread trace for tracekit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from zyfa.codegen import Options


@click.command("trace")
@click.option("--variant", default="", help="softmax=lean_ashr,schedule=pingpong,... (defaults)")
@click.option("--seqlen", default=2048, show_default=True, help="Sequence length.")
@click.option("--input", "data", default="sink", show_default=True, help="sink or gaussian.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: trace-<variant>")
@click.option("-f", "--force", is_flag=True, help="Write into an existing directory.")
@click.option("--set", "settings", type=click.Path(exists=True, dir_okay=False),
              help="TOML file of simulator parameters; simulates.")  # fmt: skip
@click.option(
    "--on", "where", type=click.Choice(["auto", "chip", "simulator"]), default="auto",
    show_default=True, help="auto: the chip where there is a gfx950 and rocprofv3.",
)  # fmt: skip
def command(  # noqa: PLR0913 - its options
    variant: str, seqlen: int, data: str, output: Path | None, force: bool, settings: str | None,
    where: str,
) -> int:  # fmt: skip
    """Leave a capture directory of one kernel variant.

    On a gfx950: `tracekit capture` of a workload that fills the device. Elsewhere one head on
    the simulator (all times *simulated*). Either way a workgroup computes the first and the last
    query tile of a head. Read it with `tracekit occupancy`, `budget`, `overlap`, `bubbles` and
    `compare`.
    """
    from zyfa import chip, trace
    from zyfa.codegen import Options
    from zyfa.errors import ZyfaError
    from zyfa.sim.timing.parameters import Parameters

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
    if where == "chip" and settings:
        raise click.UsageError("--set is for the simulator")
    if where != "simulator" and not settings:
        lacking = chip.missing()
        if lacking is None:
            return _record(options, seqlen, data, folder)
        if where == "chip":
            raise ZyfaError(f"cannot record on the chip: {lacking}")
        click.echo(f"zyfa: simulating: {lacking}", err=True)
    parameters = Parameters.from_toml(settings) if settings else Parameters()
    done = trace.record(options, seqlen, folder, data, parameters)
    p = parameters
    click.echo(
        f"{folder}: {done.result.cycles} cycles of one CU, simulated; memory latency "
        f"{p.vmem_latency} cycles, 16 B loads {p.vmem_x4_service} cycles a wave; "
        f"parameters {p.digest}"
    )
    click.echo(f"steady window: {_shares(trace.shares(folder, options))}")
    return 0


def _shares(found: tuple[list[float], list[float]] | None) -> str:
    if found is None:
        return "none, the waves run too few blocks"
    busy, useful = (f"{100 * min(x):.1f} to {100 * max(x):.1f} %" for x in found)
    return f"matrix pipe of the SIMDs busy {busy}, useful (row sum apart) {useful}, simulated"


def _record(options: Options, seqlen: int, data: str, folder: Path) -> int:
    from tracekit.commands.capture import command as capture
    from zyfa import chip

    arguments = chip.recording(options, seqlen, data, folder)
    return int(capture.main(arguments, standalone_mode=False) or 0)
