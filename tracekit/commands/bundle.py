"""``tracekit bundle``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.output import quiet_option
from tracekit.commands.streams import tell
from tracekit.errors import TracekitError


@click.command("bundle", cls=Grouped)
@click.argument("path", type=click.Path(exists=True))
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The archive: .tar.zst (extra zstd), .tar.gz or .tar.",
)  # fmt: skip
@click.option("--list", "listed", is_flag=True, help="Say what would be in it, and write nothing.")
@click.option("--no-sources", is_flag=True, help="Leave out the source files that it names.")
@click.option("--force", is_flag=True, help="Write over FILE.")
@quiet_option
def command(path: str, output: Path | None, quiet: bool, **options: Any) -> int:
    """Put a capture into one archive to share: streams, listing, code object, sources.

    What goes in is listed first: the streams or decoded files, the listing and code objects that
    belong to them, what the profiler left beside, source files that the listing names and that
    are on this machine (of the kinds that sources have, up to 1 MiB each), and versions of
    tracekit, Python, ROCm and rocprofv3. The archive opens as the capture does.
    """
    from tracekit.build import open_capture
    from tracekit.record import bundle

    if output is None and not options["listed"]:
        raise click.UsageError("give -o FILE, or --list")
    if output is not None and not output.name.lower().endswith(bundle.ENDINGS):
        raise click.UsageError(f"-o {output}: expected a name in {', '.join(bundle.ENDINGS)}")
    capture = open_capture(path)
    items = bundle.contents(capture, sources=not options["no_sources"])
    for each in items:
        click.echo(f"{each.kind:<12} {each.size:>12,}  {each.inside}")
    click.echo(f"{'versions':<12} {'':>12}  {bundle.MANIFEST}")
    if options["listed"] or output is None:
        return 0
    if output.exists() and not options["force"]:
        raise TracekitError(f"{output}: exists; --force writes over it")
    size = bundle.write(capture, items, output)
    if not quiet:
        total = sum(each.size for each in items)
        tell(f"{output}: {len(items)} files, {total:,} bytes in {size:,}")
    return 0
