"""Commands that a digest serves: what was saved is written as if the capture had been read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from tracekit.commands.streams import tell
from tracekit.errors import TracekitError
from tracekit.present.payload import results
from tracekit.present.report import emit_notes

if TYPE_CHECKING:
    from tracekit.commands.output import Output
    from tracekit.digest.digest import Opened
    from tracekit.digest.recording import Recording
    from tracekit.digest.sides import Sides

F = TypeVar("F", bound=Callable[..., Any])
#: What decides the exit code: the JSON entries and the options.
Gate = Callable[[Sequence[Mapping[str, Any]], Mapping[str, Any]], int]
#: Commands that a digest serves besides explain, compare's BASE and explain's --base.
SERVED = ("check", "info", "occupancy", "loops", "budget", "bubbles", "memory", "waits",
          "overlap", "hotspots", "shapes")  # fmt: skip
#: The flag of many commands that an Output has; what they say with it is kept as well.
PER_SIMD = "per_simd"
#: Options that a digest honours as a capture does.
_ALWAYS = {"paths", "window", "as_csv", "as_json", "path", "force", "everything", "wide", "quiet",
           PER_SIMD}  # fmt: skip


class NotInDigest(TracekitError):
    """What was asked for is in the capture, and not in its digest."""

    exit_code = 2


class Given(Protocol):
    """The part of a Source that is about digests."""

    @property
    def digests(self) -> Sequence[str]: ...
    def opened_digests(self) -> Sequence[Opened]: ...


@dataclass(frozen=True)
class Served:
    """How a command is kept.  ``variants``: flags with which it is kept too, each alone;
    ``judged``: whether it says the verdict first; ``gate``, with the ``gated`` options, decides
    the exit code; ``between``: what stands between the texts of captures."""

    variants: tuple[str, ...] = ()
    judged: bool = True
    gate: Gate | None = None
    gated: tuple[str, ...] = ()
    between: str = ""


def from_digests(served: Served = Served()) -> Callable[[F], F]:
    """Make a command (source, options, output) write what digests hold where it is given some."""

    def decorated(function: F) -> F:
        @wraps(function)
        def wrapper(source: Given, *, output: Output, **options: Any) -> Any:
            if not source.digests:
                return function(source, output=output, **options)
            return _replayed(served, source.opened_digests(), options, output)

        wrapper.served = function.served = served  # type: ignore[attr-defined]
        return wrapper  # type: ignore[return-value]

    return decorated


def refuse(path: object, command: str) -> NotInDigest:
    """That ``command`` cannot be served."""
    return NotInDigest(
        f"{path}: a digest holds no instructions, which {command} needs; it serves explain, "
        f"compare (as BASE), {', '.join(SERVED)}"
    )


def plain(value: Any) -> Any:
    """The value of an option as JSON has it; None where there is none."""
    if isinstance(value, list | tuple):
        return list(value) or None
    # Without a default click has an object of its own.
    return value if isinstance(value, str | int | float) else None


def explains_digests(function: F) -> F:
    """Mark a command that opens digests itself."""
    function.served = Served()  # type: ignore[attr-defined]
    return function


def check_options(found: Opened, *honoured: str, only: Collection[str] = ()) -> None:
    """Raise NotInDigest for an option of the running command (one of ``only``, if there are)
    that the digest cannot honour."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if only and name not in only:
            continue
        given = context.get_parameter_source(name)
        if given is None or given.name not in ("COMMANDLINE", "ENVIRONMENT"):
            continue
        saved = found.options.get(name, plain(parameter.default))
        if name in _ALWAYS or name in honoured or plain(context.params.get(name)) == saved:
            continue
        raise NotInDigest(
            f"{found.path}: {parameter.opts[0]} needs the capture; the digest was saved with "
            f"{saved_with(found)}"
        )


def check_window(found: Opened, window: str) -> None:
    """Raise NotInDigest for a window that was not saved."""
    if window not in found.windows:
        raise NotInDigest(
            f"{found.path}: --window {window} needs the capture; the digest was saved with "
            f"{saved_with(found)}"
        )


def only_sides(found: Opened, window: str, *, quiet: bool) -> Sides:
    """What comparisons need of the only capture of a digest; its verdict is said unless quiet.

    Raises NotInDigest where it has several captures or did not keep this.
    """
    if len(found.names) != 1:
        raise NotInDigest(
            f"{found.path}: holds {len(found.names)} captures; a comparison takes one"
        )
    check_window(found, window)
    sides = found.sides(window, 0)
    if sides is None:
        raise NotInDigest(f"{found.path}: holds nothing to compare: it was left out to keep small")
    if not quiet:
        tell(found.verdicts()[0])
    return sides


def saved_with(found: Opened) -> str:
    """Windows and options."""
    options = ", ".join(f"--{name.replace('_', '-')} {' '.join(map(str, each))}"
                        if isinstance(each, list) else f"--{name.replace('_', '-')} {each}"
                        for name, each in found.options.items())  # fmt: skip
    return f"windows {', '.join(found.windows)}; {options or 'no other option'}"


def _replayed(
    served: Served, digests: Sequence[Opened], options: Mapping[str, Any], output: Output
) -> int:
    recordings: list[Recording] = []
    verdicts: list[str] = []
    for found in digests:
        check_options(found, *served.variants, *served.gated)
        recordings += _recordings(served, found, {**options, PER_SIMD: output.per_simd})
        verdicts += found.verdicts()
    if served.judged and not output.quiet:
        for line in verdicts:
            tell(line)
    if output.format == "json":
        output.json(results(recordings[0].schema, [each.result for each in recordings]))
    elif output.format == "csv":
        with output.open() as out:
            for number, each in enumerate(recordings):
                heading, _, rows = each.csv.partition("\n")
                out.write(rows if number else f"{heading}\n{rows}")
    elif recordings[0].tables:
        output.cells([table for each in recordings for table in each.tables])
    else:
        with output.open() as out:
            out.write(served.between.join(each.text for each in recordings))
    emit_notes(output, recordings)
    return 0 if served.gate is None else served.gate([e.payload for e in recordings], options)


def _recordings(served: Served, found: Opened, options: Mapping[str, Any]) -> list[Recording]:
    from tracekit.digest.digest import Key

    window = options.get("window", "")
    if window:
        check_window(found, window)
    chosen = [name for name in (*served.variants, PER_SIMD) if options.get(name)]
    command = str(click.get_current_context().command.name)
    kept = found.recordings(Key(command, window, " ".join(chosen)))
    if kept is None:
        together = "of several such options at once" if len(chosen) > 1 else "to keep it small"
        flags = [each.opts[0] for each in click.get_current_context().command.params
                 if each.name in chosen]  # fmt: skip
        raise NotInDigest(
            f"{found.path}: {' '.join((command, *flags))} was left out of the digest, {together}"
        )
    return kept
