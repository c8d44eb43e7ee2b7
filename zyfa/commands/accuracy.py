"""`zyfa accuracy`: the error study, printed as Markdown tables."""

from __future__ import annotations

import click


@click.command("accuracy")
@click.option("--length", "lengths", type=int, multiple=True, help="Sequence lengths (repeat).")
@click.option("--seed", type=int, default=0, show_default=True)
def command(lengths: tuple[int, ...], seed: int) -> None:
    """Errors of exact, lean and an AITER-like baseline against fp64 attention (torch twins)."""
    from zyfa import accuracy

    chosen = lengths or accuracy.LENGTHS
    click.echo("| data | length | exact | lean_ashr | lean_u8 | AITER-like | lean/exact | cut |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for data in accuracy.NAMES:
        for length in chosen:
            rms = {e.variant: e.rms for e in accuracy.errors(data, length, seed)}
            cells = [f"{rms[v]:.3e}" for v in ("exact", "lean_ashr", "lean_u8", "AITER-like")]
            ratio = rms["lean_ashr"] / rms["exact"]
            cut = 1 - rms["lean_ashr"] / rms["AITER-like"]
            click.echo(f"| {data} | {length} | {' | '.join(cells)} | {ratio:.2f} | {cut:.0%} |")
    click.echo("\n| data | length | input error | with Hadamard | ratio |")
    click.echo("|---|---|---|---|---|")
    for data in accuracy.NAMES:
        for length in chosen:
            plain = accuracy.input_error(data, length, False, seed)
            turned = accuracy.input_error(data, length, True, seed)
            row = f"{plain:.3e} | {turned:.3e} | {turned / plain:.2f}"
            click.echo(f"| {data} | {length} | {row} |")
    click.echo("\n| attention | KL divergence per token, nats |\n|---|---|")
    for name, value in accuracy.divergences(seed=seed).items():
        click.echo(f"| {name} | {value:.3e} |")
