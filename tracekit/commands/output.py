"""How a command's result is written: a table for people, CSV or JSON for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from tracekit.commands.grouping import shared
from tracekit.commands.stand_in import output_of
from tracekit.commands.streams import silence, tell
from tracekit.errors import TracekitError
from tracekit.present.payload import plain
from tracekit.present.tables import (
    Cells,
    CsvWriter,
    Shown,
    room,
    wrapped,
    write_cells,
    write_csv,
    write_table,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Output:
    """What was asked for: format (text, csv or json), file, all rows, all columns, quiet."""

    format: str
    path: str | None
    force: bool
    everything: bool
    wide: bool
    quiet: bool
    #: Whether each SIMD has a row, not only those of an SE together.
    per_simd: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        """The formats to write: the one that was asked for."""
        return (self.format,)

    def note(self, text: str) -> None:
        """A remark on stderr."""
        if not self.quiet:
            tell(f"note: {text}")

    def warn(self, text: str) -> None:
        """A warning on stderr."""
        if not self.quiet:
            tell(f"warning: {text}")

    @contextmanager
    def open(self, form: str = "text") -> Iterator[IO[str]]:
        """Where the result goes, in whichever ``form``; never over a file unless forced.

        What a closed pipe does not take is dropped: the exit code stays the command's.
        """
        if self.path is None:
            try:
                yield sys.stdout
                sys.stdout.flush()
            except BrokenPipeError:
                silence()
            return
        path = Path(self.path)
        if path.exists() and not self.force:
            raise TracekitError(f"{path}: exists; use --force to overwrite it")
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                yield file
        except OSError as error:
            raise TracekitError(f"{path}: {error.strerror}") from None

    def json(self, payload: object) -> None:
        with self.open("json") as out:
            json.dump(payload, out, indent=2, default=plain, allow_nan=False)
            out.write("\n")

    def csv(self, tables: Sequence[pd.DataFrame], write: CsvWriter = write_csv) -> None:
        with self.open("csv") as out:
            write(out, tables)

    def tables(self, tables: Sequence[Shown], head: Sequence[str] = ()) -> None:
        """Lines and tables for people, a blank line apart."""
        with self.open() as out:
            width = None if self.wide or self.path else room(out)
            out.writelines(f"{wrapped(line, width)}\n" for line in head)
            for number, shown in enumerate(tables):
                if number or head:
                    out.write("\n")
                write_table(out, shown, whole=self.everything, width=width)

    def cells(self, tables: Sequence[Cells]) -> None:
        """Tables that are in words already."""
        with self.open() as out:
            width = None if self.wide or self.path else room(out)
            for number, shown in enumerate(tables):
                if number:
                    out.write("\n")
                write_cells(out, shown, whole=self.everything, width=width)


quiet_option = shared("-q", "--quiet", is_flag=True, help="No notes and no verdict on stderr.")


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--csv, --json, -o, --force, --all, --wide, -q; passes ``output``."""

    @wraps(function)
    def wrapper(*arguments: Any, as_csv: bool, as_json: bool, **rest: Any) -> Any:
        if as_csv and as_json:
            raise click.UsageError("--csv and --json exclude each other")
        own = {name: rest.pop(name) for name in ("path", "force", "everything", "wide", "quiet")}
        own["per_simd"] = rest.pop("per_simd", False)
        extension = Path(own["path"] or "").suffix.lower()
        chosen = "csv" if as_csv or (extension == ".csv" and not as_json) else "text"
        chosen = "json" if as_json or (extension == ".json" and not as_csv) else chosen
        return function(*arguments, output=output_of(Output(chosen, **own)), **rest)

    decorated: Callable[..., Any] = wrapper
    for option in (
        quiet_option,
        shared("--wide", is_flag=True, help="All columns, whatever the width."),
        shared("--all", "everything", is_flag=True, help="All rows, not the first ten."),
        shared("-f", "--force", is_flag=True, help="Overwrite the file of -o."),
        shared(
            "-o", "--output", "path", metavar="FILE",
            help="Write to FILE; .csv and .json choose the format.",
        ),
        shared("--json", "as_json", is_flag=True, help="JSON on stdout."),
        shared("--csv", "as_csv", is_flag=True, help="CSV on stdout."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated


#: --allow-bad-quality of the commands that are gates.
bad_quality_option = click.option(
    "--allow-bad-quality", is_flag=True,
    help="Let the gate decide though the verdict (see check) does not carry the question.",
)  # fmt: skip
#: For commands whose tables have rows of SIMDs; passed in ``output``.
per_simd_option = click.option(
    "--per-simd", is_flag=True, help="A row for each SIMD, not the range over those of an SE."
)
