"""The one exception base: a message for the user and the exit code of the command."""

from __future__ import annotations


class TracekitError(Exception):
    """A problem with the user's data or request, told in one line.

    ``exit_code`` is what the command line returns: 1 for unreadable data,
    3 for a check that failed (all of them: ``README.md``).
    """

    exit_code = 1


class FormatError(TracekitError):
    """A file is not what it should be; names file, byte offset and what was expected."""

    def __init__(self, path: object, message: str, *, offset: int | None = None) -> None:
        where = f"{path}: byte {offset:#x}: " if offset is not None else f"{path}: "
        super().__init__(where + message)
