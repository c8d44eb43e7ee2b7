"""How a command's result is written: a table for people, CSV or JSON for scripts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from tracekit.errors import TracekitError

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.tables.timeline import Timeline

#: Rows that a terminal shows before it says how many more there are.
TERMINAL_ROWS = 30


@dataclass(frozen=True)
class Output:
    """What was asked for: format (text, csv or json), file, all rows, quiet."""

    format: str
    path: str | None
    force: bool
    everything: bool
    quiet: bool

    def note(self, text: str) -> None:
        """A remark on stderr."""
        if not self.quiet:
            click.echo(f"tracekit: note: {text}", err=True)

    @contextmanager
    def open(self) -> Iterator[IO[str]]:
        """Where the result goes; never over a file unless forced."""
        if self.path is None:
            yield sys.stdout
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
        with self.open() as out:
            json.dump(payload, out, indent=2, default=_plain, allow_nan=False)
            out.write("\n")

    def csv(self, tables: Sequence[pd.DataFrame]) -> None:
        with self.open() as out:
            for number, table in enumerate(tables):
                table.to_csv(out, index=False, header=number == 0, lineterminator="\n")

    def table(self, table: pd.DataFrame, title: str, styles: dict[str, Column]) -> None:
        """A table with aligned columns: framed on a terminal, plain text otherwise."""
        self.tables([(table, title, styles)])

    def tables(self, tables: Sequence[tuple[pd.DataFrame, str, dict[str, Column]]]) -> None:
        """Several, a blank line apart."""
        with self.open() as out:
            for number, (table, title, styles) in enumerate(tables):
                if number:
                    out.write("\n")
                _write_table(out, table, title, styles, self.everything)


@dataclass(frozen=True)
class Column:
    """How a column shows: its heading and the text of a value."""

    heading: str
    text: Callable[[Any], str] = str
    left: bool = False


def percent(value: Any) -> str:
    """A fraction as per cent with one decimal."""
    return "-" if _missing(value) else f"{100 * value:.1f} %"


def number(value: Any) -> str:
    """An integer with thousands separated."""
    return "-" if _missing(value) else f"{int(value):,}"


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    """numpy scalars as Python numbers."""
    return value.item() if hasattr(value, "item") else str(value)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries; missing values are None."""
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return [
        {
            str(k): None if _missing(v) else _plain(v) if hasattr(v, "item") else v
            for k, v in row.items()
        }
        for row in rows
    ]


def header(schema: str, timeline: Timeline) -> dict[str, Any]:
    """What every JSON result begins with."""
    from tracekit import __version__
    from tracekit.analysis.checks.quality import quality_of

    return {
        "schema": schema,
        "tracekit": __version__,
        "capture": timeline.capture,
        "timing": timeline.shown_timing,
        "arch": timeline.arch.name,
        "arch_source": timeline.arch.source,
        "simulated": timeline.simulated,
        "synthetic": timeline.synthetic,
        "quality": quality_of(timeline).summary(),
    }


def origin(timeline: Timeline) -> str:
    """ " (simulated)" or " (synthetic)" where it applies, for titles."""
    if timeline.synthetic:
        return " (synthetic)"
    return " (simulated)" if timeline.simulated else ""


def _write_table(
    out: IO[str], table: pd.DataFrame, title: str, styles: dict[str, Column], everything: bool
) -> None:
    names = [name for name in styles if name in table.columns]
    shown = table if everything or not out.isatty() else table.head(TERMINAL_ROWS)
    cells = [
        [styles[name].text(value) for name, value in zip(names, row, strict=True)]
        for row in shown[names].itertuples(index=False, name=None)
    ]
    more = len(table) - len(shown)
    if out.isatty():
        _rich_table(title, names, styles, cells)
    else:
        out.write(f"{title}\n")
        headings = [styles[name].heading for name in names]
        widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
        for row in [headings, *cells]:
            line = "  ".join(
                text.ljust(width) if styles[name].left else text.rjust(width)
                for name, text, width in zip(names, row, widths, strict=True)
            )
            out.write(line.rstrip() + "\n")
    if more:
        out.write(f"... {more} more, use --all\n")


def _rich_table(
    title: str, names: list[str], styles: dict[str, Column], cells: list[list[str]]
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    view = Table(title=escape(title), title_justify="left")
    for name in names:
        view.add_column(styles[name].heading, justify="left" if styles[name].left else "right")
    for row in cells:
        view.add_row(*map(escape, row))
    Console().print(view)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--csv, --json, -o, --force, --all, -q; passes ``output``."""

    @wraps(function)
    def wrapper(*arguments: Any, as_csv: bool, as_json: bool, path: str | None, force: bool,
                everything: bool, quiet: bool, **rest: Any) -> Any:  # fmt: skip
        if as_csv and as_json:
            raise click.UsageError("--csv and --json exclude each other")
        extension = Path(path).suffix.lower() if path else ""
        chosen = "csv" if as_csv or (extension == ".csv" and not as_json) else "text"
        chosen = "json" if as_json or (extension == ".json" and not as_csv) else chosen
        return function(*arguments, output=Output(chosen, path, force, everything, quiet), **rest)

    decorated: Callable[..., Any] = wrapper
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="No notes and no verdict on stderr."),
        click.option("--all", "everything", is_flag=True, help="All rows on a terminal too."),
        click.option("-f", "--force", is_flag=True, help="Overwrite the file of -o."),
        click.option(
            "-o", "--output", "path", metavar="FILE",
            help="Write to FILE; .csv and .json choose the format.",
        ),
        click.option("--json", "as_json", is_flag=True, help="JSON on stdout."),
        click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated
