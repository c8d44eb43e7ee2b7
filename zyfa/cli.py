"""The `zyfa` command line: subcommands are imported when they are used."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from tracekit.errors import TracekitError

COMMANDS: dict[str, tuple[str, str]] = {
    "sim": ("zyfa.commands.sim:command", "Run a code object on the gfx950 wave simulator."),
    "lint": ("zyfa.commands.lint:command", "Check a code object for missing wait states."),
    "build": ("zyfa.commands.build:command", "Assemble a kernel variant for gfx950."),
    "emit": ("zyfa.commands.emit:command", "Print the assembly of a kernel variant."),
    "trace": (
        "zyfa.commands.trace:command",
        "Record or simulate a variant's thread trace.",
    ),
    "accuracy": ("zyfa.commands.accuracy:command", "Errors of the FP8 variants against float64."),
}
"""Name -> ("module:function", one line of help)."""


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "ZYFA"},
    no_args_is_help=True,
)
def zyfa() -> None:
    """FP8 attention for gfx950: generate, check and simulate kernels without a GPU.

    Exit codes: 0 done, 1 unreadable data, 2 wrong usage, 3 a simulation or check failed, 130
    interrupted.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code (and exits with it as a script)."""
    code = _run(arguments)
    if arguments is None:
        sys.exit(code)
    return code


def _run(arguments: list[str] | None) -> int:
    if os.environ.get("ZYFA_DEBUG") == "1":
        return zyfa.main(arguments, standalone_mode=False) or 0
    try:
        return zyfa.main(arguments, standalone_mode=False) or 0
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except TracekitError as error:
        click.echo(f"zyfa: {error}", err=True)
        return error.exit_code
