"""``explain --save``: every command that a digest serves is run once, and what it says is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.digests import PER_SIMD, SERVED, Served, plain
from tracekit.commands.options import READING, STEADY, Source
from tracekit.commands.output import Output
from tracekit.commands.recorder import FORMS, recorded
from tracekit.commands.selection import NothingSelected
from tracekit.commands.streams import tell
from tracekit.digest.digest import Digest, Explained, Kept, Key
from tracekit.digest.fitting import fitted, limit
from tracekit.digest.recording import Recording
from tracekit.errors import TracekitError

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis

#: Windows that are kept beside the one asked for.
_WINDOWS = (STEADY, "span")


@dataclass(frozen=True)
class _Held(Source):
    """Captures that are decoded; their analyses are kept by window."""

    kept: dict[str, list[Analysis]] = field(default_factory=dict)
    parts: dict[Any, list[Analysis]] = field(default_factory=dict)

    def analyses(
        self, window: str = STEADY, tables: tuple[str, ...] = (), *, tell_verdict: bool = True
    ) -> list[Analysis]:
        if (window, tables) not in self.parts:
            self.parts[window, tables] = super().analyses(window, tables, tell_verdict=False)
        return self.parts[window, tables]

    def whole(self, window: str = STEADY) -> Iterator[Analysis]:
        if window not in self.kept:
            first = next(iter(self.kept.values()))
            self.kept[window] = [each.in_window(window) for each in first]
        yield from self.kept[window]


@dataclass(frozen=True)
class Wanted:
    """A digest: its ``path``, the window asked for, and ``options`` of explain alone that are
    not the default."""

    path: str
    window: str
    options: Mapping[str, Any]


def save(
    wanted: Wanted, source: Source, output: Output, explained: Callable[[Analysis], Explained]
) -> Source:
    """Write the digest of ``source``; ``explained``: what explain says of an analysis.  The
    source that is returned has decoded its captures.

    Raises TracekitError where the file is there and not to be overwritten.
    """
    from tracekit.analysis.model.window import check

    file, window = Path(wanted.path), wanted.window
    if file.exists() and not output.force:
        raise TracekitError(f"{file}: exists; use --force to overwrite it")
    windows = tuple(dict.fromkeys((window, *_WINDOWS)))
    check(window)
    own = {each.name: getattr(source, each.name) for each in fields(Source)} | {"quiet": True}
    held = _Held(**own, kept={window: list(source.whole(window))})
    held.analyses(window)
    captures = []
    for whole in held.kept[window]:
        one = _Held(**own, kept={window: [whole]})
        try:
            captures.append(_kept(one, windows, explained))
        except NothingSelected as error:
            tell(f"{error}; left out of {file}")
    digest = Digest({**_options(source), **wanted.options}, windows, tuple(captures))
    content = fitted(digest, limit(source.paths, len(captures)))
    try:
        file.write_bytes(content)
    except OSError as error:
        raise TracekitError(f"{file}: {error.strerror}") from None
    if not output.quiet:
        tell(f"{file}: {len(content):,} bytes, windows {', '.join(windows)}")
    return held


def _options(source: Source) -> dict[str, Any]:
    """How the captures were read and which part of them, where that is not the default."""
    given = {name: getattr(source, name) for name in READING if name != "paths"}
    given |= source.filters
    defaults = {str(each.name): each.default for each in
                click.get_current_context().command.params}  # fmt: skip
    return {
        name: plain(value)
        for name, value in given.items()
        if plain(value) != plain(defaults.get(name))
    }


def _kept(
    held: _Held, windows: tuple[str, ...], explained: Callable[[Analysis], Explained]
) -> Kept:
    from tracekit.analysis.comparison.runs import measure
    from tracekit.analysis.explain.pages import capture_hash, ordered
    from tracekit.digest.sides import Sides

    found = {window: held.analyses(window)[0] for window in windows}
    first = found[windows[0]]
    return Kept(
        name=first.timeline.capture,
        capture_hash=capture_hash(first.timeline),
        verdict=f"{first.timeline.capture}: {first.quality.line()}",
        pages={window: explained(each) for window, each in found.items()},
        tables=dict(_recordings(held, windows)),
        sides={
            window: Sides.of(measure(each, held.filters), ordered(each))
            for window, each in found.items()
        },
    )


def _recordings(held: _Held, windows: tuple[str, ...]) -> Iterator[tuple[Key, Recording]]:
    for name in SERVED:
        command: click.Command = import_module(f"tracekit.commands.{name}").command
        served: Served = command.callback.served  # type: ignore[union-attr]
        flags = {str(each.name): each.opts[0] for each in command.params}
        variants = (*served.variants, *((PER_SIMD,) if PER_SIMD in flags else ()))
        for window in windows if "window" in flags else ("",):
            line = [*held.paths, *(["--window", window] if window else [])]
            for variant in ("", *variants):
                chosen = [flags[variant]] if variant else []
                yield Key(name, window, variant), _recorded(name, command, held, [*line, *chosen])


def _recorded(name: str, command: click.Command, held: _Held, line: list[str]) -> Recording:
    made = recorded(name, command, line, lambda _: held, *FORMS)
    return Recording(
        schema=made.result["schema"],
        payload=made.result["captures"][0],
        csv=made.written["csv"].getvalue(),
        tables=tuple(made.shown),
        text=made.written["text"].getvalue(),
        notes=tuple(made.notes),
    )
