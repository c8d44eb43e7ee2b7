"""``tracekit dashboard``."""

from __future__ import annotations

from typing import Any

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, bases, roots, source_options
from tracekit.commands.output import quiet_option
from tracekit.errors import TracekitError


@click.command("dashboard", cls=Grouped)
@source_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="Port on 127.0.0.1; a free one by default.")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@quiet_option
def command(source: Source, port: int, no_browser: bool, quiet: bool) -> None:
    """Browse captures in a browser: timeline, bubble map, ISA, comparison of two.

    PATH is a capture or a directory that holds some; with a second PATH both are compared.
    The server listens on 127.0.0.1 only and offers nothing outside of these paths. On a
    remote machine the line of ssh that forwards the port is printed. The filters and the
    options that say how to read hold for every capture.
    """
    try:
        from dashboard.app import create
        from dashboard.serve import serve
    except ImportError as error:
        raise TracekitError(
            f"the dashboard needs {error.name}: pip install tracekit[dashboard]"
        ) from None
    from pathlib import Path

    from tracekit.build import open_all

    paths = [Path(path) for path in source.paths]
    options: dict[str, Any] = {
        "listing": source.listing, "load_base": bases(source.load_base), "arch": source.arch,
        "source_root": roots(source.source_root), "assume_mfma_cycles": source.assume_mfma_cycles,
        "depth": source.depth,
    }  # fmt: skip
    for path in paths:
        if path.is_file():  # named by itself: better told here than on a page
            open_all([path], **options)
    app = create(paths, timing=source.timing, options=options, filters=source.filters)
    try:
        serve(app, port, not no_browser, click.echo)
    except OSError as error:
        raise TracekitError(f"port {port}: {error.strerror or error}") from None
