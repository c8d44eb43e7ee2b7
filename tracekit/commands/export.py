"""``tracekit export``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import quiet_option
from tracekit.commands.streams import tell
from tracekit.errors import TracekitError
from tracekit.export import FORMATS


def format_of(name: str | None, output: str | None) -> str:
    """The format asked for, else that of the extension; raises UsageError without either."""
    if name is not None:
        return name
    for known, (_, extension) in FORMATS.items():
        if output and output.endswith(extension):
            return known
    raise click.UsageError(f"which format? --format {'|'.join(FORMATS)}, or -o with its extension")


@click.command("export", cls=Grouped)
@source_options
@click.option("--format", "name", type=click.Choice(list(FORMATS)), help="What to write.")
@click.option(
    "-o", "--output", metavar="FILE",
    help="Where to; default: the capture's name with the format's extension.",
)  # fmt: skip
@click.option("-f", "--force", is_flag=True, help="Overwrite.")
@quiet_option
def command(source: Source, name: str | None, output: str | None, force: bool, quiet: bool) -> None:
    """Write a capture for another program.

    pftrace: tracks of pipes, waves, bubbles, markers and counters for ui.perfetto.dev (one
    cycle = 1 ns). parquet: a directory with one file a table. speedscope: waves as flame
    charts, hotspots by source. html: a report that opens offline. rcv: the directory that
    ROCprof Compute Viewer opens, always in AMD's timing; call it
    ui_output_agent_AGENT_dispatch_N to keep the dispatch id.
    """
    chosen = format_of(name, output)
    module, extension = FORMATS[chosen]
    writer = import_module(f"tracekit.export.{module}")
    timing = getattr(writer, "TIMING", source.timing)
    analyses = replace(source, timing=timing).analyses()
    if output is not None and len(analyses) > 1:
        raise click.UsageError("-o names one file: give one capture")
    for analysis in analyses:
        name_in_folder = analysis.timeline.capture.replace("/", "_")
        path = Path(output or f"{name_in_folder}{extension}")
        if path.exists() and not force:
            raise TracekitError(f"{path}: exists; use --force to overwrite it")
        try:
            writer.write(analysis, path)
        except OSError as error:
            raise TracekitError(f"{path}: {error.strerror}") from None
        if not quiet:
            for note in analysis.timeline.notes:
                tell(f"note: {note}")
        click.echo(path)
