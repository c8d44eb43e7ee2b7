"""Run many command lines of one installed tree, each in a fork of one warm process.

    python -S run_commands.py SYSPATH --describe
    python -S run_commands.py SYSPATH --run N < jobs.json

``same_output``'s half that lives inside a tree.  A fork sees what a fresh process would see,
less the seconds of importing: no state of one command reaches the next.  Only ``uuid4`` counts
instead of drawing, for plotly names its figures by it.  ``--describe`` prints
program -> command -> option -> choices; ``--run`` reads [[program, argument, ...], ...] and
leaves ``results/NUMBER/`` with ``code``, ``stdout``, ``stderr`` and the files that it wrote.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import pkgutil
import sys
import traceback
import uuid
from importlib import import_module
from pathlib import Path

PROGRAMS = ("tracekit", "zyfa")


def describe() -> dict[str, dict[str, object]]:
    """What the programs offer; a positional argument stands as its name in capitals."""
    import click

    told: dict[str, dict[str, object]] = {}
    for program in PROGRAMS:
        try:
            group = getattr(import_module(f"{program}.cli"), program)
        except ModuleNotFoundError as error:
            if error.name not in (program, f"{program}.cli"):
                raise
            told[program] = {}
            continue
        context = click.Context(group)
        commands: dict[str, object] = {}
        for name in group.list_commands(context):
            options = {}
            for parameter in group.get_command(context, name).params:
                choices = getattr(parameter.type, "choices", None)
                argument = isinstance(parameter, click.Argument)
                names = ["PATH"] if argument and name not in NO_PATH else parameter.opts
                options.update({each: list(choices or ()) for each in names})
            commands[name] = options
        told[program] = commands
    told["choices"] = choices_of_kernels() if "emit" in told["zyfa"] else {}
    return told


def preload() -> None:
    """Import what commands import when they run, so that the forks need not."""
    for program in PROGRAMS:
        with contextlib.suppress(ModuleNotFoundError):
            package = import_module(program)
            for module in pkgutil.walk_packages(package.__path__, f"{program}."):
                if not module.name.endswith("__main__"):
                    with contextlib.suppress(ImportError):  # of an extra that is not installed
                        import_module(module.name)
    for name in ("pandas", "rich.table", "plotly.graph_objects", "pyarrow.parquet"):
        with contextlib.suppress(ImportError):
            import_module(name)


#: Commands whose argument is the command line of another program.
NO_PATH = ("capture",)


def choices_of_kernels() -> dict[str, object]:
    """Option of a kernel -> its values, as ``zyfa emit --list`` prints them."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        import_module("zyfa.cli").main(["emit", "--list"])
    pairs = (line.partition(" = ") for line in printed.getvalue().splitlines())
    return {name: values.split(" | ") for name, _, values in pairs}


def run(program: str, arguments: list[str], folder: Path) -> int:
    """Process id of a child that runs one command line in ``folder``."""
    folder.mkdir(parents=True)
    for shared in Path.cwd().iterdir():
        if shared.is_symlink():  # the folders of captures
            (folder / shared.name).symlink_to(shared.resolve())
    child = os.fork()
    if child:
        return child
    code: object = 70
    try:
        for number, name, mode in ((0, os.devnull, "r"), (1, "stdout", "w"), (2, "stderr", "w")):
            with open(folder / name, mode) as stream:
                os.dup2(stream.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - till _exit
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        os.chdir(folder)
        count = itertools.count(1)
        uuid.uuid4 = lambda: uuid.UUID(int=next(count))
        sys.argv = [program, *arguments]
        code = import_module(f"{program}.cli").main(arguments)
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    Path("code").write_text(f"{code}\n")
    os._exit(0)


def main() -> None:
    sys.path[:] = sys.argv[1].split(os.pathsep)
    if sys.argv[2] == "--describe":
        json.dump(describe(), sys.stdout)
        return
    preload()
    running: set[int] = set()
    for number, (program, *arguments) in enumerate(json.load(sys.stdin)):
        if len(running) >= int(sys.argv[3]):
            running.discard(os.wait()[0])
        running.add(run(program, arguments, Path("results", str(number)).absolute()))
    while running:
        running.discard(os.wait()[0])


if __name__ == "__main__":
    main()
