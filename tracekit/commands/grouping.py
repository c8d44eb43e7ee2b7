"""Help: a command's own options first, those that all commands share in a group below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorated = Callable[..., Any]


class Shared(click.Option):
    """An option that many commands have."""


def shared(*names: str, **given: Any) -> Callable[[Decorated], Decorated]:
    """``click.option`` of a Shared one."""
    return click.option(*names, cls=Shared, **given)


class Grouped(click.Command):
    """A command whose help lists shared options last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "Shared options": []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and not isinstance(each, click.Argument):
                groups["Shared options" if isinstance(each, Shared) else "Options"].append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
