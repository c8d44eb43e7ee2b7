"""Captures that stay decoded and answers that stay known while a server runs."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.options import STEADY, Source
from tracekit.commands.recorder import recorded

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis

#: Captures kept decoded, windows of each, and answers.
CAPTURES, WINDOWS, ANSWERS = 4, 4, 64
#: What tells one state of a path from another: size and time of change of its files.
State = tuple[tuple[str, int, int], ...]


class _Recent(OrderedDict[Any, Any]):
    """The ``most`` that were asked for last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def keep(self, key: Any, value: Any) -> None:
        self[key] = value
        while len(self) > self.most:
            self.popitem(last=False)

    def known(self, key: Any) -> Any:
        if key in self:
            self.move_to_end(key)
        return self.get(key)


class Library:
    """Runs commands and keeps what they found; ``within``: folders that nothing leaves."""

    def __init__(self, within: tuple[Path, ...]) -> None:
        self.within = within
        self._captures, self._answers = _Recent(CAPTURES), _Recent(ANSWERS)
        self._lock = RLock()

    def ask(
        self, name: str, paths: list[Path], *options: str, base: Path | None = None
    ) -> dict[str, Any]:
        """The JSON result of a command on ``paths``, with ``--base``; raises what that raises."""
        with self._lock:
            states = [*map(state, paths), None if base is None else state(base)]
            key = (name, *paths, base, *options, *states)
            text = self._answers.known(key)
            if text is None:
                options = options if base is None else (*options, "--base", str(base))
                text = self._run(name, [*map(str, paths), *options, "--json", "--quiet"])
                self._answers.keep(key, text)
            found: dict[str, Any] = json.loads(text)
            return found

    def _run(self, name: str, line: list[str]) -> str:
        command: click.Command = import_module(f"tracekit.commands.{name}").command
        return recorded(name, command, line, self._source, "json").written["json"].getvalue()

    def _source(self, own: Source) -> Source:
        given = {each.name: getattr(own, each.name) for each in fields(Source)}
        return _Kept(**{**given, "within": self.within}, library=self)

    def whole(self, source: Source, window: str) -> list[Analysis]:
        """Every capture of a source of one path, decoded once."""
        key = (source.paths, source.timing, source.filters["se"], state(Path(source.paths[0])))
        windows = self._captures.known(key)
        if windows is None:
            windows = _Recent(WINDOWS)
            windows.keep(window, list(source.whole(window)))
            self._captures.keep(key, windows)
        if windows.known(window) is None:
            first = next(iter(windows.values()))
            windows.keep(window, [each.in_window(window) for each in first])
        made: list[Analysis] = windows.known(window)
        return made


@dataclass(frozen=True)
class _Kept(Source):
    """A source whose captures the library keeps."""

    library: Library | None = field(default=None)

    def whole(self, window: str = STEADY) -> Iterator[Analysis]:
        assert self.library is not None
        found = []
        for path in self.paths:
            own = {each.name: getattr(self, each.name) for each in fields(Source)}
            one = Source(**{**own, "paths": (path,), "quiet": True})
            found += [(path, each) for each in self.library.whole(one, window)]
        names = Counter(each.timeline.capture for _, each in found)
        for path, each in found:
            name = each.timeline.capture
            yield each if names[name] == 1 else _renamed(each, f"{Path(path).parent.name}/{name}")


def _renamed(analysis: Analysis, name: str) -> Analysis:
    from tracekit.analysis.analysis import Analysis

    return Analysis(replace(analysis.timeline, capture=name), analysis.window)


def state(path: Path) -> State:
    """Of a file, or of all files below a folder, and of the files beside it."""
    files = sorted({*(path.rglob("*") if path.is_dir() else [path]), *path.parent.glob("*")})
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    return tuple((name, each.st_size, each.st_mtime_ns) for name, each in stats)
