"""Another command, or a server, that runs a command: it stands in for its source and output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

T = TypeVar("T")


@dataclass(frozen=True)
class StandIn:
    """The object of a command's context: makes another source (output) of its own."""

    source: Callable[[Any], Any]
    output: Callable[[Any], Any]

    def run(self, name: str, command: click.Command, line: list[str]) -> Any:
        """Run ``command`` with the arguments ``line``; raises what it raises."""
        with command.make_context(name, line, obj=self) as context:
            return command.invoke(context)


def source_of(own: T) -> T:
    """The source that the running command takes instead of its ``own``."""
    found = click.get_current_context().find_object(StandIn)
    return own if found is None else found.source(own)


def output_of(own: T) -> T:
    """The same of its output."""
    found = click.get_current_context().find_object(StandIn)
    return own if found is None else found.output(own)
