"""``tracekit capture``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import window_option
from tracekit.commands.output import quiet_option
from tracekit.commands.streams import tell
from tracekit.errors import TracekitError

if TYPE_CHECKING:
    from tracekit.record.recording import Attempt, Recording

_NEEDED = (
    "rocprofv3 was not found on PATH, in $ROCM_PATH or in /opt/rocm: recording needs an AMD "
    "Instinct GPU and ROCm 7.0 or later (tracekit doctor tells more)"
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _number(low: int, high: int) -> Callable[[str], int]:
    """An integer, decimal or hexadecimal, within limits."""

    def convert(value: str) -> int:
        try:
            number = int(value, 0)
        except ValueError:
            raise click.BadParameter(f"expected a number, found {value!r}") from None
        if not low <= number <= high:
            raise click.BadParameter(f"expected {low:#x} to {high:#x}, found {value}")
        return number

    return convert


def _engines(value: str) -> int:
    """A mask, by name or as a number."""
    from tracekit.record.recording import MASKS

    return MASKS[value] if value in MASKS else _number(1, (1 << 64) - 1)(value)


def _arguments(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from None


def _size(value: str) -> int:
    """Bytes, with K, M or G for powers of 1024."""
    from tracekit.record.recording import BUFFER

    found = re.fullmatch(r"(\d+|0x[0-9a-fA-F]+)([KMG]?)(?:i?B)?", value)
    size = int(found[1], 0) * _UNITS[found[2]] if found else -1
    if not BUFFER[0] <= size <= BUFFER[1]:
        raise click.BadParameter(f"expected 1M to 2G (bytes; K, M, G), found {value!r}")
    return size


def _iterations(value: str) -> str:
    """``N`` or ``N-M``, from 1, as rocprofv3's ``[N-M]``."""
    found = re.fullmatch(r"\[?(\d+)(?:-(\d+))?\]?", value)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise click.BadParameter(f"expected N or N-M with 1 <= N <= M, found {value!r}")
    return f"[{first}-{last}]"


@click.command("capture", cls=Grouped, context_settings={"allow_interspersed_args": False})
@click.option("--kernel", metavar="REGEX", help="Trace the kernels whose name matches.")
@click.option(
    "--iterations",
    type=_iterations,
    metavar="N[-M]",
    help="Which launches of each kernel, from 1. Without it rocprofv3 traces the first, "
    "which is cold.",
)
@click.option(
    "--se-mask",
    type=_engines,
    default="0x1",
    show_default=True,
    metavar="MASK",
    help="Shader engines; on MI300 and MI350 one hexadecimal digit per XCD. By name: one, xcd "
    "(the first), each-xcd (one of each), all.",
)
@click.option(
    "--cu",
    type=_number(0, 15),
    default="1",
    show_default=True,
    metavar="CU",
    help="CU of each engine whose instructions are traced.",
)
@click.option(
    "--simd-mask",
    type=_number(1, 15),
    default="0xF",
    show_default=True,
    metavar="MASK",
    help="SIMDs of that CU.",
)
@click.option(
    "--buffer-size",
    type=_size,
    metavar="SIZE",
    help="Trace buffer, 1M to 2G.",
)
@click.option(
    "--counter",
    "counters",
    multiple=True,
    metavar="NAME[:SIMDS]",
    help="SQ counter to record in the trace; repeat it (4 advised, 8 at most).",
)
@click.option(
    "--counter-period",
    type=_number(1, 32),
    default="3",
    show_default=True,
    metavar="N",
    help="How seldom counters are read.",
)
@click.option(
    "--library-path",
    metavar="DIR",
    help="Folder of AMD's decoder library, for rocprofv3.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1, 16),
    default=4,
    show_default=True,
    help="Runs at most: another CU is tried when the traced one got no wave.",
)
@click.option(
    "-o",
    "--output",
    default="tracekit_capture",
    show_default=True,
    metavar="DIR",
    help="Where the capture goes, a folder per CU tried.",
)
@click.option(
    "--rocprofv3",
    "more",
    type=_arguments,
    default="",
    metavar="ARGUMENTS",
    help="Further arguments for rocprofv3, as one word.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Record N runs: what differs between them is noise.",
)
@click.option("--explain", is_flag=True, help="End with the page of explain, not occupancy.")
@click.option("--dry-run", is_flag=True, help="Show and explain the command line; run nothing.")
@window_option()
@quiet_option
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(output: str, window: str, quiet: bool, **options: Any) -> int:
    """Record a thread trace of COMMAND with rocprofv3, and show what it says.

    Runs rocprofv3 --att with the right options. When no wave ran on the traced CU, tries
    another: one that ran waves by the trace's own occupancy records.
    """
    from tracekit.analysis.model.window import check
    from tracekit.record import rocm
    from tracekit.record.recording import Effort, repeated

    check(window)
    dry_run, explain = options.pop("dry_run"), options.pop("explain")
    effort = Effort(options.pop("attempts"), options.pop("repeat"))
    recording = _recording(**options)
    found = rocm.rocprofv3()
    if dry_run:
        _explain(recording, found, Path(output))
        return 0
    if found is None:
        raise TracekitError(_NEEDED)
    if not rocm.knows_att(found):
        raise TracekitError(
            f"{found} has no --att ({rocm.rocprofv3_version(found) or 'version unknown'}): thread "
            "trace needs ROCm 7.0 or later"
        )
    say = (lambda _: None) if quiet else tell
    done = repeated(recording, found, Path(output), effort, say)
    return _shown(done, window, explain, quiet)


def _shown(done: list[Attempt], window: str, explain: bool, quiet: bool) -> int:
    """The result of the first run, or a table of all, and what differs between runs."""
    from tracekit.commands import explain as explaining
    from tracekit.commands import occupancy

    folders = [str(each.folder) for each in done]
    line = ["--window", window, *(["--quiet"] if quiet else [])]
    shown = explaining.command if explain else occupancy.command
    code = shown.main([*(folders[:1] if explain else folders), *line], standalone_mode=False)
    if len(done) > 1:
        click.echo(_noise(done, window))
    return int(code or 0)


def _noise(done: list[Attempt], window: str) -> str:
    """Matrix occupancy from run to run."""
    from tracekit.analysis.analysis import Analysis

    found = []
    for run in done:
        rows = [Analysis(each, window).occupancy.rows for each in run.timelines]
        cycles = sum(int(table["window_cycles"].sum()) for table in rows)
        busy = sum(int(table["matrix_busy_cycles"].fillna(0).sum()) for table in rows)
        found += [100 * busy / cycles] if cycles else []
    if len(found) < 2:
        return f"noise: fewer than two of {len(done)} runs have a {window} window"
    middle = sum(found) / len(found)
    spread = (sum((each - middle) ** 2 for each in found) / (len(found) - 1)) ** 0.5
    return (
        f"noise over {len(found)} runs: matrix pipe busy {min(found):.1f} % to {max(found):.1f} % "
        f"of {window}, standard deviation {spread:.2f} points; tracekit compare takes several "
        "runs a side (--new)"
    )


def _recording(
    program: tuple[str, ...],
    buffer_size: int | None,
    library_path: str | None,
    more: list[str],
    **options: Any,
) -> Recording:
    from tracekit.record.recording import Recording

    if len(options["counters"]) > 8:
        raise click.BadParameter("at most 8 counters fit in a trace", param_hint="--counter")
    return Recording(
        command=program, buffer_bytes=buffer_size, library=library_path, more=tuple(more),
        **options,
    )  # fmt: skip


def _explain(recording: Recording, found: str | None, output: Path) -> None:
    folder = output / f"cu{recording.cu}"
    click.echo(shlex.join(recording.line(found or "rocprofv3", recording.cu, folder)))
    groups = [(shlex.join(words), what) for words, what in recording.options(recording.cu, folder)]
    width = max(len(words) for words, _ in groups)
    for words, what in groups:
        click.echo(f"  {words:<{width}}  {what}")
    if found is None:
        tell(f"note: {_NEEDED}")
