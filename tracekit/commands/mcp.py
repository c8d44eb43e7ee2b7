"""``tracekit mcp``."""

from __future__ import annotations

import click

from tracekit.commands.grouping import Grouped
from tracekit.errors import TracekitError


@click.command("mcp", cls=Grouped)
@click.argument("folders", nargs=-1, metavar="[FOLDER...]",
                type=click.Path(exists=True, file_okay=False))  # fmt: skip
def command(folders: tuple[str, ...]) -> None:
    """Answer a coding agent's questions about captures, over MCP on stdin and stdout.

    FOLDER: where captures and digests may lie, by default the current folder; nothing outside
    of them is read, links followed. Tools: open, explain, waits, compare, instructions,
    occupancy; read-only, each with the JSON of the command of that name (instructions: of
    hotspots, around a PC), cut to 24,000 characters. Captures stay decoded between questions.

    docs/agents.md says how to set it up, and how to read the answers.
    """
    try:
        from tracekit.commands.agents.server import create
    except ImportError as error:
        raise TracekitError(f"mcp needs {error.name}: pip install tracekit[mcp]") from None
    from tracekit.commands.agents.folders import Folders

    create(Folders(folders or (".",))).run("stdio")
