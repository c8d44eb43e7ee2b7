"""Writing to a reader that may be gone: ``| head`` is no error, and no gate passes by it."""

from __future__ import annotations

import os
import sys

import click


def tell(text: str) -> None:
    """A line on stderr, behind the program's name."""
    try:
        click.echo(f"tracekit: {text}", err=True)
    except BrokenPipeError:
        silence()


def silence() -> None:
    """Drop what is still written to a pipe that was closed, by stdout or stderr."""
    gone = os.open(os.devnull, os.O_WRONLY)
    try:
        for file in (sys.__stdout__, sys.__stderr__):
            if file is not None and _closed(file.fileno()):
                os.dup2(gone, file.fileno())
    finally:
        os.close(gone)


def _closed(file: int) -> bool:
    """Whether ``file`` is a pipe without a reader."""
    import select

    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return any(event & select.POLLERR for _, event in poll.poll(0))
