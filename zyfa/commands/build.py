"""`zyfa build`: a kernel's code object."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("build")
@click.option("--variant", default="", help="softmax=lean_ashr,schedule=pingpong,... (defaults)")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: <variant>.co")
@click.option("-f", "--force", is_flag=True, help="Overwrite an existing file.")
def command(variant: str, output: Path | None, force: bool) -> None:
    """Assemble one variant for gfx950 (ROCm's clang, else the ziglang wheel)."""
    from zyfa import toolchain
    from zyfa.codegen import Options, emit

    try:
        options = Options.parse(variant)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--variant") from error
    path = output or Path(f"{options.name}.co")
    if path.exists() and not force:
        raise click.UsageError(f"{path} exists; use --force to overwrite it")
    path.write_bytes(toolchain.build(emit(options)))
    click.echo(f"{path}: {options.symbol} ({toolchain.find().name})", err=True)
