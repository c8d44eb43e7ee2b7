"""``tracekit listing``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tracekit.commands.grouping import Grouped


@click.command("listing", cls=Grouped)
@click.argument("path", metavar="CODE_OBJECT", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False),
    help="The code.json to write.",
)  # fmt: skip
@click.option(
    "--id", "number", type=click.IntRange(1, (1 << 31) - 1), metavar="ID",
    help="Id of the code object in the trace (default: that of its file name, else 1).",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Do not say what was written.")
def command(path: str, output: str, number: int | None, quiet: bool) -> int:
    """Disassemble a code object to a code.json, for machines without LLVM.

    Beside the stream, or with --listing, it is read as the code object would be: the same
    instructions, kernels, sources and chip.
    """
    from tracekit.capture.names import code_object_id
    from tracekit.errors import FormatError
    from tracekit.isa import codejson, elf

    number = number or code_object_id(Path(path)) or 1
    listing = elf.CodeObject(path).listing(number)
    text = json.dumps(codejson.document(listing), separators=(",", ":")) + "\n"
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(output, error.strerror or "cannot be written") from None
    if not quiet:
        click.echo(f"{output}: {len(listing)} instructions of code object {number}", err=True)
    return 0
