"""The command line: subcommands are loaded when they are used."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from tracekit import __version__
from tracekit.commands import COMMANDS
from tracekit.commands.streams import silence
from tracekit.errors import TracekitError


class LazyGroup(click.Group):
    """A group that knows names and one-line helps without importing its commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"tracekit.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from tracekit.gfx9 import ARCHS
    from tracekit.isa.disassembler import available
    from tracekit.isa.llvm import what_to_install
    from tracekit.sqtt.decode import kind

    llvm = available() or f"not found ({what_to_install()})"
    click.echo(
        f"tracekit {__version__}\ndecoder: {kind()}\nLLVM: {llvm}\nchips: {', '.join(ARCHS)}"
    )
    ctx.exit()


@click.command(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "TRACEKIT",
    },
    no_args_is_help=True,
)
@click.option(
    "-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
    help="Show the version, the decoder that runs, the LLVM found and the chips supported.",
)  # fmt: skip
def tracekit() -> None:
    """Is the matrix pipe busy, and if not, why?

    Reads AMD CDNA thread traces (rocprofv3 --att) without a GPU or ROCm.  PATH is an .att
    stream, several, a directory that holds them, or a decoded ui_output directory.

    Exit codes: 0 done, 1 unreadable data (or check --strict), 2 wrong usage, 3 a
    check that was asked for failed, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code (and exits with it as a script)."""
    code = _run(arguments)
    if arguments is None:
        sys.exit(code)
    return code


def _run(arguments: list[str] | None) -> int:
    if os.environ.get("TRACEKIT_DEBUG") == "1":
        tracekit.main(args=arguments, standalone_mode=False)
        return 0
    try:
        result = tracekit.main(args=arguments, prog_name="tracekit", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except TracekitError as error:
        click.echo(f"tracekit: {error}", err=True)
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("tracekit: interrupted", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit:
        # click ends so where `| head` closed the pipe: that is no error.
        silence()
        return 0
    except MemoryError:
        click.echo("tracekit: out of memory (restrict the work with --se)", err=True)
        return 1


if __name__ == "__main__":
    main()
