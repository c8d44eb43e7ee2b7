"""Options that several commands share, and what they open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands import digests
from tracekit.commands.grouping import shared
from tracekit.commands.selection import FILTERS, missing, refuse
from tracekit.commands.stand_in import source_of
from tracekit.commands.streams import tell
from tracekit.digest.container import is_digest
from tracekit.errors import TracekitError
from tracekit.gfx9 import ARCHS

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.build import OpenCapture
    from tracekit.digest.digest import Opened
    from tracekit.tables.timeline import Timeline

Decorated = Callable[..., Any]
#: The window that a number is about by default (analysis.model.window.DEFAULT).
STEADY = "steady"
#: Folders below a path that are searched (capture.finding.DEPTH).
DEPTH = 4


@dataclass(frozen=True)
class Source:
    """Where the data comes from and which part of it is wanted."""

    paths: tuple[str, ...]
    timing: str
    listing: tuple[str, ...]
    load_base: tuple[str, ...]
    arch: str | None
    filters: dict[str, int | None]
    quiet: bool = False
    source_root: tuple[str, ...] = ()
    assume_mfma_cycles: int | None = None
    #: Whether every path is a capture of its own, also where all are streams.
    each: bool = False
    depth: int = DEPTH
    #: Folders outside of which nothing beside a path is looked at.
    within: tuple[Path, ...] = ()

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The paths that are digests, not captures."""
        return tuple(filter(is_digest, self.paths))

    def opened_digests(self) -> list[Opened]:
        """The digests; raises NotInDigest where some of the paths are captures."""
        from tracekit.digest.digest import Opened

        if len(self.digests) < len(self.paths):
            raise digests.NotInDigest("give captures or digests (.tkd), not both at once")
        return [Opened.of(path) for path in self.digests]

    def captures(self) -> list[list[str]]:
        """Paths of each capture: streams given together are one, directories are one each."""
        if not self.each and all(Path(path).is_file() for path in self.paths):
            return [list(self.paths)]
        return [[path] for path in self.paths]

    def opened(self) -> list[OpenCapture]:
        """Every capture of the paths; a directory or archive may hold several."""
        return [capture for captures in self.together() for capture in captures]

    def together(self) -> Iterator[list[OpenCapture]]:
        """The captures of each path."""
        from tracekit.build import open_all

        for paths in self.captures():
            yield open_all(
                paths, listing=self.listing, load_base=bases(self.load_base), arch=self.arch,
                source_root=roots(self.source_root), assume_mfma_cycles=self.assume_mfma_cycles,
                depth=self.depth, within=self.within,
            )  # fmt: skip

    def analyses(
        self, window: str = STEADY, tables: tuple[str, ...] = (), *, tell_verdict: bool = True
    ) -> list[Analysis]:
        """The part asked for of every capture, judged as a whole (one line on stderr, unless the
        result itself tells).

        A filter that selects nothing of some capture is a note there.  ``tables``: those of
        the timeline that the command is about beside its waves.  Raises UnknownWindow, before
        anything is decoded, for a window that is none; NothingSelected where the filters
        select nothing of any capture.
        """
        from tracekit.analysis.model.window import check

        check(window)
        whole = list(self.whole(window))
        reasons = {
            each.timeline.capture: missing(each.timeline, self.filters, tables) for each in whole
        }
        refuse(reasons)
        for each in whole:
            if tell_verdict and not self.quiet:
                tell(f"{each.timeline.capture}: {each.quality.line()}")
        return [each.select(**self.filters).noted(reasons[each.timeline.capture]) for each in whole]

    def checked(self) -> list[Analysis]:
        """Every capture as a whole; raises NothingSelected as ``analyses``."""
        whole = list(self.whole())
        refuse({each.timeline.capture: missing(each.timeline, self.filters, ("streams",))
                for each in whole})  # fmt: skip
        return whole

    def whole(self, window: str = STEADY) -> Iterator[Analysis]:
        """Every capture under a name of its own, of one SE where that was asked for.

        Of several in one path those that cannot be decoded are told of, unless none can be.
        """
        from tracekit.analysis.analysis import Analysis

        groups = list(self.together())
        names = iter(unique_names([capture for group in groups for capture in group]))
        for captures in groups:
            broken: list[TracekitError] = []
            for capture, name in zip(captures, names, strict=False):
                try:
                    timeline = self._decoded(capture)
                except TracekitError as error:
                    broken.append(error)
                    continue
                yield Analysis(replace(timeline, capture=name), window)
            if len(broken) == len(captures):
                raise broken[0]
            for each in broken:
                tell(f"{each}; this capture was left out")

    def _decoded(self, capture: OpenCapture) -> Timeline:
        """The capture's SE that was asked for; all of it where that has no waves."""
        from tracekit.commands.progress import Progress

        se = self.filters["se"]
        if capture.streams and se not in {stream.se for stream in capture.streams}:
            se = None
        with Progress(capture, se, self.quiet) as progress:
            timeline = capture.timeline(self.timing, se=se, progress=progress.advance)
            if se is not None and not len(timeline.waves):
                # All of it, to say where there are some.
                timeline = capture.timeline(self.timing)
        return timeline


def unique_names(captures: Sequence[OpenCapture]) -> list[str]:
    """The captures' names, with as many parent folders in front as tell equal ones apart.

    One path given twice is told apart by its order.
    """
    paths = [Path(str(capture.path)).resolve() for capture in captures]
    places = dict.fromkeys(zip((capture.name for capture in captures), paths, strict=True))
    own = {place: place[0] for place in places}
    for depth in range(1, 1 + max((len(path.parts) for path in paths), default=0)):
        names = list(own.values())
        double = [place for place in own if names.count(own[place]) > 1]
        if not double:
            break
        for name, path in double:
            own[name, path] = "/".join((*path.parts[:-1][-depth:], name))
    names = [own[capture.name, path] for capture, path in zip(captures, paths, strict=True)]
    return [
        f"{name} ({names[:at].count(name) + 1})" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def bases(options: tuple[str, ...]) -> dict[int, int]:
    """``ID=ADDR`` options as numbers."""
    found: dict[int, int] = {}
    for option in options:
        number, _, address = option.partition("=")
        try:
            found[int(number)] = int(address, 0)
        except ValueError:
            raise click.BadParameter(
                f"expected ID=ADDR (as 4=0x7f0000000000), found {option!r}",
                param_hint="--load-base",
            ) from None
    return found


def roots(options: tuple[str, ...]) -> dict[str, str]:
    """``OLD=NEW`` options as pairs."""
    for option in options:
        if not option.partition("=")[0] or "=" not in option:
            raise click.BadParameter(
                f"expected OLD=NEW (as /build/src=/home/me/src), found {option!r}",
                param_hint="--source-root",
            )
    return {old: new for old, _, new in (option.partition("=") for option in options)}


#: Options that say how to read, as Source has them.
READING = ("paths", "timing", "listing", "load_base", "arch", "source_root",
            "assume_mfma_cycles", "depth")  # fmt: skip


def source_options(function: Decorated) -> Decorated:
    """PATH and the options that say how to read it; passes ``source``."""

    @wraps(function)
    def wrapper(**given: Any) -> Any:
        own = {name: given.pop(name) for name in READING}
        filters = {name: given.pop(name) for name in FILTERS}
        quiet = bool(click.get_current_context().params.get("quiet"))
        source = source_of(Source(filters=filters, quiet=quiet, **own))
        if source.digests and not hasattr(function, "served"):
            raise digests.refuse(source.digests[0], str(click.get_current_context().command.name))
        return function(source, **given)

    decorated: Decorated = wrapper
    for name, what in reversed(FILTERS.items()):
        decorated = shared(f"--{name}", type=int, help=f"Only this {what}.")(decorated)
    decorated = shared(
        "--assume-mfma-cycles", type=click.IntRange(4, 1024), metavar="N",
        help="Cycles of an MFMA where no listing or table tells its opcode (a note says so).",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--depth", type=click.IntRange(0, 100), default=DEPTH, show_default=True, metavar="N",
        help="Folders below PATH to search for captures.",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--source-root", multiple=True, metavar="OLD=NEW",
        help="Replace the beginning OLD of source paths by NEW.",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--arch", type=click.Choice(ARCHS), metavar="GFX",
        help="Architecture, where nothing in the capture tells it.",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--load-base", multiple=True, metavar="ID=ADDR",
        help="Address where code object ID was loaded (overrides the stream).",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--listing", multiple=True, metavar="[ID=]PATH",
        help="Listing to use: code.json, ui_output directory or ELF code object.",
    )(decorated)  # fmt: skip
    decorated = shared(
        "--timing", type=click.Choice(["exact", "amd"]), default="exact", show_default=True,
        help="exact: what the tokens say; amd: the rows that AMD's decoder ships.",
    )(decorated)  # fmt: skip
    decorated = click.argument(
        "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True)
    )(decorated)
    return decorated


def window_option(default: str = STEADY) -> Callable[[Decorated], Decorated]:
    """``--window``."""
    return shared(
        "--window", default=default, show_default=True, metavar="WINDOW",
        help="steady (every wave is past its first and before its last iteration of the dominant "
        "loop), span (first issue to last issue + 4 of the SIMD), START:END in cycles, "
        "START%:END% of the span, or marker:NAME.",
    )  # fmt: skip
