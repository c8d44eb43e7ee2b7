"""A digest as a value: captures, and what each command says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.digest.columns import packed, unpacked
from tracekit.digest.container import Container, assembled, compressed, dumped
from tracekit.digest.recording import Recording
from tracekit.errors import FormatError
from tracekit.present.explained.sheet import Row, Sheet
from tracekit.version import VERSION

if TYPE_CHECKING:
    from tracekit.digest.sides import Sides

#: Commands whose result is beside the pages, quick to open.
_FIRST = ("check", "info")


class Key(NamedTuple):
    """A command in a window ("" where none matters) with one of its options ("" for none)."""

    command: str
    window: str
    variant: str


Tables = Mapping[Key, Recording]


@dataclass(frozen=True)
class Explained:
    """The result of explain in a window: payload of the JSON result, sheet (a line where no wave
    was traced), notes."""

    payload: Mapping[str, Any]
    sheet: Sheet | str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """One capture.  ``verdict``: the line that commands say first; ``pages`` and ``sides`` by
    window; ``tables``: what the other commands say."""

    name: str
    capture_hash: str
    verdict: str
    pages: Mapping[str, Explained]
    tables: Tables
    sides: Mapping[str, Sides]


@dataclass(frozen=True)
class Digest:
    """Captures that were saved together with ``options`` of reading, beside the default."""

    options: Mapping[str, Any]
    windows: tuple[str, ...]
    captures: tuple[Kept, ...]

    def content(self) -> bytes:
        """The file."""
        head = {
            "tracekit": VERSION,
            "options": dict(self.options),
            "windows": list(self.windows),
            "captures": [
                {"capture": each.name, "capture_hash": each.capture_hash} for each in self.captures
            ],
        }
        members = {
            "pages": [
                {"verdict": each.verdict,
                 "pages": {window: _page(page) for window, page in each.pages.items()},
                 "tables": _tables(each, first=True)}
                for each in self.captures
            ],
            "tables": [_tables(each, first=False) for each in self.captures],
            "sides": [
                {window: packed(side.json()) for window, side in each.sides.items()}
                for each in self.captures
            ],
        }  # fmt: skip
        raw = {name: dumped({"captures": each}) for name, each in members.items()}
        return assembled(head, {name: (compressed(each), len(each)) for name, each in raw.items()})


def _page(page: Explained) -> dict[str, Any]:
    sheet = page.sheet if isinstance(page.sheet, str) else asdict(page.sheet)
    return {"payload": packed(page.payload), "sheet": sheet, "notes": list(page.notes)}


def _tables(kept: Kept, *, first: bool) -> list[Any]:
    return [
        [list(key), one.json()]
        for key, one in kept.tables.items()
        if (key.command in _FIRST) == first
    ]


@dataclass(frozen=True)
class Opened:
    """A digest in a file; its members are read when they are asked for.

    Raises FormatError, also later, for a file that is not as ``Digest.content`` makes it.
    """

    container: Container

    @classmethod
    def of(cls, path: str | Path) -> Opened:
        found = cls(Container.open(path))
        with found.trusted("its second line"):
            if not found.names or not all(map(str.__len__, found.windows)):
                raise ValueError
            dict(found.options)
        return found

    @property
    def path(self) -> Path:
        return self.container.path

    @property
    def options(self) -> dict[str, Any]:
        found: dict[str, Any] = self.container.head["options"]
        return found

    @property
    def windows(self) -> list[str]:
        found: list[str] = self.container.head["windows"]
        return found

    @property
    def names(self) -> list[str]:
        return [each["capture"] for each in self.container.head["captures"]]

    @contextmanager
    def trusted(self, what: str) -> Iterator[None]:
        """What a file may do that was not made by us."""
        try:
            yield
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
            raise FormatError(self.path, f"{what} is not as tracekit writes it") from None

    @cached_property
    def _pages(self) -> list[Any]:
        return self._member("pages")

    def verdicts(self) -> list[str]:
        """The line on the quality of each capture."""
        with self.trusted("member pages"):
            return [str(each["verdict"]) for each in self._pages]

    def explained(self, window: str) -> list[Explained]:
        """The pages of each capture."""
        with self.trusted("member pages"):
            found = [each["pages"][window] for each in self._pages]
            return [
                Explained(unpacked(e["payload"]), _sheet(e["sheet"]), tuple(e["notes"]))
                for e in found
            ]

    def recordings(self, key: Key) -> list[Recording] | None:
        """What a command says of each capture; None where that was not kept."""
        name = "pages" if key.command in _FIRST else "tables"
        found = self._pages if name == "pages" else self._member(name)
        with self.trusted(f"member {name}"):
            tables = [each["tables"] if name == "pages" else each for each in found]
            kept = [one for each in tables for at, one in each if tuple(at) == key]
            return list(map(Recording.of, kept)) if len(kept) == len(tables) else None

    def sides(self, window: str, at: int) -> Sides | None:
        """What comparisons need of a capture; None where that was not kept."""
        from tracekit.digest.sides import Sides

        found = self._member("sides")
        with self.trusted("member sides"):
            return Sides.told(unpacked(found[at][window])) if window in found[at] else None

    def _member(self, name: str) -> list[Any]:
        found = self.container.read(name)
        with self.trusted(f"member {name}"):
            captures: list[Any] = found["captures"]
            if len(captures) != len(self.names):
                raise ValueError
            return captures


def _sheet(found: Mapping[str, Any] | str) -> Sheet | str:
    if isinstance(found, str):
        return found
    rows = tuple(Row(**_tuples(row)) for row in found["rows"])
    return Sheet(**{**_tuples(found), "rows": rows})


def _tuples(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(each) if isinstance(each, list) else each for name, each in found.items()}
