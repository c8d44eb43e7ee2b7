"""Help: a command's own options come first."""

import importlib

import click
import pytest

from tracekit.commands import COMMANDS
from tracekit.commands.grouping import Grouped, Shared


def helped(name):
    command = importlib.import_module(f"tracekit.commands.{name}").command
    return command, command.get_help(click.Context(command, info_name=name))


def options(text):
    """What begins the entries of a section: the first name of each option."""
    starts = [line.split()[0] for line in text.splitlines() if line.startswith("  -")]
    rest = [line.split()[1] for line in text.splitlines() if line.startswith("  -")
            and len(line.split()) > 1]  # fmt: skip
    return {each.rstrip(",") for each in (*starts, *rest)}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_lists_each_option_once_and_shared_ones_last(name):
    command, text = helped(name)
    assert isinstance(command, Grouped)
    own, _, common = text.partition("\nShared options:\n")
    _, _, own = own.partition("\nOptions:\n")
    for each in command.params:
        if isinstance(each, click.Option):
            first, other = (common, own) if isinstance(each, Shared) else (own, common)
            assert each.opts[0] in options(first)
            assert each.opts[0] not in options(other)
    assert "PATH" not in [line.strip(" .") for line in own.splitlines()]


def test_the_minimum_of_bubbles_stands_before_how_to_read():
    _, text = helped("bubbles")
    assert text.index("--minimum") < text.index("Shared options:") < text.index("--timing")
