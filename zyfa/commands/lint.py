"""`zyfa lint`: static hazards of a code object."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("lint")
@click.argument("kernel", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(kernel: Path) -> None:
    """Check a linked code object for missing wait states, by LLVM's counting.

    For gfx90a, gfx942 and gfx950: the ELF says which. Exit code 3 when something is found, 1 when
    KERNEL is not such a code object.
    """
    from zyfa.sim.isa.program import Program
    from zyfa.sim.rules.lint import lint
    from zyfa.sim.rules.waitstates import ARCHS
    from zyfa.sim.state import loader

    code = loader.load(kernel, ARCHS)
    program = Program(code, next(iter(code.kernels.values())))
    findings = lint(program)
    for finding in findings:
        click.echo(str(finding))
    click.echo(f"{len(program.instructions)} instructions, {len(findings)} findings", err=True)
    if findings:
        raise click.exceptions.Exit(3)
