"""Options that several commands share, and what they open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.build import OpenCapture

Decorated = Callable[..., Any]
#: The window that a number is about by default (analysis.model.window.DEFAULT).
STEADY = "steady"


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

    def captures(self) -> list[list[str]]:
        """Paths of each capture: streams given together are one, directories are one each."""
        if all(Path(path).is_file() for path in self.paths):
            return [list(self.paths)]
        return [[path] for path in self.paths]

    def opened(self) -> Iterator[OpenCapture]:
        """Every capture of the paths; a directory or archive may hold several."""
        from tracekit.build import open_all

        for paths in self.captures():
            yield from open_all(
                paths, listing=self.listing, load_base=bases(self.load_base), arch=self.arch,
                source_root=roots(self.source_root), assume_mfma_cycles=self.assume_mfma_cycles,
            )  # fmt: skip

    def analyses(self, window: str = STEADY) -> list[Analysis]:
        """The part asked for of every capture, judged as a whole (one line on stderr).

        Raises UnknownWindow, before anything is decoded, for a window that is none.
        """
        from tracekit.analysis.model.window import check

        check(window)
        found = []
        for whole in self.whole(window):
            if not self.quiet:
                name, verdict = whole.timeline.capture, whole.quality.line()
                click.echo(f"tracekit: {name}: {verdict}", err=True)
            found.append(whole.select(**self.filters))
        return found

    def whole(self, window: str = STEADY) -> Iterator[Analysis]:
        """Every capture, of one SE where that was asked for."""
        from tracekit.analysis.analysis import Analysis
        from tracekit.commands.progress import Progress

        for capture in self.opened():
            with Progress(capture, self.filters["se"], self.quiet) as progress:
                timeline = capture.timeline(
                    self.timing, se=self.filters["se"], progress=progress.advance
                )
            yield Analysis(timeline, window)


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


_FILTERS = {
    "se": "shader engine",
    "cu": "compute unit",
    "simd": "SIMD (0-3)",
    "slot": "wave slot",
    "wave": "n-th wave of its slot, from 0",
    "dispatch": "dispatch id",
}


def source_options(function: Decorated) -> Decorated:
    """PATH and the options that say how to read it; passes ``source``."""

    @wraps(function)
    def wrapper(paths: tuple[str, ...], timing: str, listing: tuple[str, ...],
                load_base: tuple[str, ...], arch: str | None, source_root: tuple[str, ...],
                assume_mfma_cycles: int | None, **rest: Any) -> Any:  # fmt: skip
        filters = {name: rest.pop(name) for name in _FILTERS}
        quiet = bool(click.get_current_context().params.get("quiet"))
        source = Source(
            paths, timing, listing, load_base, arch, filters, quiet, source_root,
            assume_mfma_cycles,
        )  # fmt: skip
        return function(source, **rest)

    decorated: Decorated = wrapper
    for name, what in reversed(_FILTERS.items()):
        decorated = click.option(f"--{name}", type=int, help=f"Only this {what}.")(decorated)
    decorated = click.option(
        "--assume-mfma-cycles", type=click.IntRange(4, 1024), metavar="N",
        help="Cycles of an MFMA where no listing or table tells its opcode (a note says so).",
    )(decorated)  # fmt: skip
    decorated = click.option(
        "--source-root", multiple=True, metavar="OLD=NEW",
        help="Replace the beginning OLD of source paths by NEW.",
    )(decorated)  # fmt: skip
    decorated = click.option(
        "--arch", metavar="GFX", help="Architecture, where nothing in the capture tells it."
    )(decorated)
    decorated = click.option(
        "--load-base", multiple=True, metavar="ID=ADDR",
        help="Address where code object ID was loaded (overrides the stream).",
    )(decorated)  # fmt: skip
    decorated = click.option(
        "--listing", multiple=True, metavar="[ID=]PATH",
        help="Listing to use: code.json, ui_output directory or ELF code object.",
    )(decorated)  # fmt: skip
    decorated = click.option(
        "--timing", type=click.Choice(["exact", "amd"]), default="exact", show_default=True,
        help="exact: what the tokens say; amd: the rows that AMD's decoder ships.",
    )(decorated)  # fmt: skip
    decorated = click.argument(
        "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True)
    )(decorated)
    return decorated


def window_option(default: str = STEADY) -> Callable[[Decorated], Decorated]:
    """``--window``."""
    return click.option(
        "--window", default=default, show_default=True, metavar="WINDOW",
        help="steady (every wave is past its first and before its last iteration of the dominant "
        "loop), span (first issue to last issue + 4 of the SIMD), START:END in cycles, "
        "START%:END% of the span, or marker:NAME.",
    )  # fmt: skip
