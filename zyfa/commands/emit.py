"""`zyfa emit`: a kernel's assembly on stdout."""

from __future__ import annotations

import click


@click.command("emit")
@click.option("--variant", default="", help="softmax=lean_ashr,schedule=pingpong,... (defaults)")
@click.option("--list", "show", is_flag=True, help="List the options and their values instead.")
def command(variant: str, show: bool) -> None:
    """Print the gfx950 assembly of one variant."""
    from zyfa.codegen import Options, emit
    from zyfa.codegen.options import CHOICES

    if show:
        for name, values in CHOICES.items():
            click.echo(f"{name} = {' | '.join(values)}")
        return
    try:
        options = Options.parse(variant)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--variant") from error
    click.echo(emit(options), nl=False)
