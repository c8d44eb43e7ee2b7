"""An output that keeps what a command writes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import IO, Any

import click

from tracekit.commands.output import Output
from tracekit.commands.stand_in import StandIn
from tracekit.present.tables import Cells, Shown, cells

FORMS = ("json", "csv", "text")


@dataclass(frozen=True)
class Recorder(Output):
    """Keeps what is written in each of the ``forms``: texts, tables in words, notes."""

    forms: tuple[str, ...] = FORMS
    written: dict[str, io.StringIO] = field(
        default_factory=lambda: {form: io.StringIO() for form in FORMS}
    )
    shown: list[Cells] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, own: Output, *forms: str) -> Recorder:
        """One in these forms, else as ``own``."""
        given = {each.name: getattr(own, each.name) for each in fields(Output)}
        return cls(**{**given, "format": forms[0], "path": None}, forms=forms)

    @property
    def result(self) -> dict[str, Any]:
        """What was written as JSON."""
        found: dict[str, Any] = json.loads(self.written["json"].getvalue())
        return found

    @contextmanager
    def open(self, form: str = "text") -> Iterator[IO[str]]:
        yield self.written[form]

    def tables(self, tables: Sequence[Shown], head: Sequence[str] = ()) -> None:
        self.written["text"].writelines(f"{line}\n" for line in head)
        self.shown.extend(map(cells, tables))

    def note(self, text: str) -> None:
        self.notes.append(text)


def recorded(
    name: str, command: click.Command, line: list[str], source: Callable[[Any], Any], *forms: str
) -> Recorder:
    """What ``command`` writes in ``forms`` with the arguments ``line``; ``source`` makes the
    source it has of the one that the line names.  Raises what the command raises."""
    made: list[Recorder] = []

    def recorder(own: Output) -> Recorder:
        made.append(Recorder.of(own, *forms))
        return made[-1]

    StandIn(source, recorder).run(name, command, line)
    return made[0]
