"""``tracekit explain``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands import digests
from tracekit.commands.digests import explains_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.commands.selection import FILTERS
from tracekit.errors import TracekitError
from tracekit.present.payload import header, results
from tracekit.present.report import emit_notes
from tracekit.present.tables import room

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.analysis.explain.changes import Change, Side
    from tracekit.analysis.explain.evidence import Evidence
    from tracekit.analysis.explain.page import Gains
    from tracekit.digest.digest import Explained, Opened
    from tracekit.present.explained.sheet import Sheet


_NOTHING = "no wave was traced: nothing to explain"


@dataclass(frozen=True)
class _Part:
    """A capture: its result, and its first kernel, which can be compared with a base."""

    explained: Explained
    side: Callable[[], Side | None]
    base: str | None = None
    changes: Sequence[Change] = ()
    warnings: Sequence[str] = ()

    @property
    def capture(self) -> str:
        return str(self.explained.payload["capture"])

    @property
    def all_notes(self) -> list[str]:
        """As in a Report."""
        return [*self.explained.notes, *self.warnings]

    @property
    def payload(self) -> dict[str, Any]:
        entry = dict(self.explained.payload)
        if self.base is not None:
            entry |= {"base": self.base, "changes": [asdict(each) for each in self.changes],
                      "warnings": list(self.warnings)}  # fmt: skip
        return entry

    @property
    def sheet(self) -> Sheet | str:
        """The page; a line where there is none."""
        from tracekit.present.explained.sheet import with_changes

        found = self.explained.sheet
        return found if isinstance(found, str) else with_changes(found, self.changes)


@click.command("explain", cls=Grouped)
@source_options
@window_option()
@click.option("--base", metavar="OLD", type=click.Path(exists=True),
              help="A capture or digest from before: also what shrank and grew.")  # fmt: skip
@click.option("--what-if", "what_if", metavar="CHANGE", multiple=True,
              help='Replay a change: "0x2cb0 one iteration earlier", "loads of 0x2cb8 one '
              'iteration earlier", "vmcnt(1) at 0x2cb8", "no s_nop at 0x40", "no vmcnt_wait". '
              "May be given again.")  # fmt: skip
@click.option("--gain/--no-gain", default=True, show_default=True,
              help="Replay what removing a cause gains (seconds).")  # fmt: skip
@click.option("--save", metavar="FILE.tkd", type=click.Path(dir_okay=False),
              help="Also write a digest, which other commands open in place of the capture.",
              )  # fmt: skip
@output_options
@explains_digests
def command(
    source: Source, window: str, base: str | None, save: str | None, output: Output, **replay: Any
) -> None:
    """Why the matrix pipe idles, at which instruction, and what to try: one page a kernel.

    The kernel with most matrix cycles of each capture has the page, the others a line. share:
    of the matrix-idle cycles, by what the wave that ends the bubble does (see bubbles); they
    sum to 100 %. removable: what removing that cause could take off the idle time at most, over
    the chain of that wave since its previous MFMA; these do not add up. gain: mean cycles of an
    iteration that a replay on the simulator saves with the cause at zero and everything else as
    recorded: simulated, an upper end. A chain reads load → wait → consumer → MFMA (see waits).
    try: rules that fired, with their numbers; none where the verdict of check is "do not
    conclude". --base: each cause in cycles an iteration, before and after, with the 95 %
    interval of the difference.

    -o with a name in .md writes the page for a pull request, in .html as one file. --save
    FILE.tkd: a digest of at most 64 KB (or 1 % of the capture) that most commands open in place
    of the capture, in the windows steady and span and the one given.
    """
    if output.format == "csv":
        raise click.UsageError("explain writes a page or --json; bubbles and waits write CSV")
    gaining = _Gaining(**replay, quiet=source.quiet)
    if gaining.what_if and not gaining.gain:
        raise click.UsageError("--what-if is a replay, and --no-gain wants none")
    old = None if base is None else _base(source, window, base)
    parts = [_with(each, old) for each in _parts(source, window, save, gaining, output)]
    if output.format == "json":
        output.json(results("tracekit.explain/1", [each.payload for each in parts]))
        return
    with output.open() as out:
        out.write(_rendered([each.sheet for each in parts], output.path, room(out)))
    emit_notes(output, parts)


def _parts(
    source: Source, window: str, save: str | None, gaining: _Gaining, output: Output
) -> list[_Part]:
    """Every capture of the paths, or of digests."""
    if source.digests:
        if save is not None:
            raise digests.NotInDigest("--save needs the capture: copy the digest instead")
        found = source.opened_digests()
        for each in found:
            digests.check_options(each, "base")
            digests.check_window(each, window)
        return [part for each in found for part in _kept(each, window)]
    made: dict[int, _Part] = {}

    def part(analysis: Analysis) -> _Part:
        if id(analysis) not in made:
            made[id(analysis)] = _part(analysis, gaining)
        return made[id(analysis)]

    if save is not None:
        from tracekit.commands import saving

        wanted = saving.Wanted(save, window, gaining.saved)
        source = saving.save(wanted, source, output, lambda each: part(each).explained)
    return [part(each) for each in source.analyses(window, tell_verdict=False)]


def _part(analysis: Analysis, gaining: _Gaining) -> _Part:
    """The result for a capture."""
    from tracekit.analysis.explain.pages import NO_GAINS, ordered, page
    from tracekit.digest.digest import Explained
    from tracekit.present.explained.sheet import sheet
    from tracekit.present.sentences import origin

    timeline, quality = analysis.timeline, analysis.quality
    kernels = ordered(analysis)
    pages = [page(each, NO_GAINS if at else gaining.of(each)) for at, each in enumerate(kernels)]
    notes = timeline.notes
    payload = {**header(analysis), "notes": notes if pages else [*notes, _NOTHING],
               "kernels": [each.json() for each in pages]}  # fmt: skip
    verdict = "" if quality.verdict == "good" else quality.line()
    name = f"{timeline.capture}{origin(timeline)}"
    said: Sheet | str = f"{name}: {_NOTHING}"
    if pages:
        where = f"{name}, {timeline.shown_timing} timing, {timeline.arch.name}"
        said = sheet(where, verdict, pages)
    first = kernels[0] if kernels else None
    return _Part(Explained(payload, said, tuple(notes)), lambda: first)


def _kept(found: Opened, window: str) -> list[_Part]:
    """The results that a digest holds."""

    def side(at: int) -> Side | None:
        kept = found.sides(window, at)
        if kept is None:
            raise digests.NotInDigest(f"{found.path}: holds nothing to compare with a base")
        return next(iter(kept.kernels), None)

    return [_Part(each, partial(side, at)) for at, each in enumerate(found.explained(window))]


def _with(part: _Part, base: tuple[str, Sequence[Side]] | None) -> _Part:
    """The result with what changed since ``base``, in its first kernel."""
    if base is None:
        return part
    from tracekit.analysis.explain.changes import changes, matching

    name, kernels = base
    side = part.side()
    before = None if side is None else matching(side.kernel, kernels)
    if before is None or side is None:
        return replace(part, base=name, warnings=("nothing is compared with the base: no kernel",))
    found = changes(before, side)
    return replace(part, base=name, changes=found.rows, warnings=found.warnings)


def _base(source: Source, window: str, path: str) -> tuple[str, Sequence[Side]]:
    """Name and kernels of the capture or digest from before."""
    from tracekit.analysis.explain.pages import ordered

    one = replace(source, paths=(path,))
    if one.digests:
        (found,) = one.opened_digests()
        digests.check_options(found, only=("timing", *FILTERS))
        return found.names[0], digests.only_sides(found, window, quiet=source.quiet).kernels
    analyses = one.analyses(window)
    if len(analyses) != 1:
        raise TracekitError(f"{path}: holds {len(analyses)} captures; --base takes one")
    return analyses[0].timeline.capture, ordered(analyses[0])


@dataclass(frozen=True)
class _Gaining:
    """What to replay of the first kernel of each capture."""

    what_if: tuple[str, ...]
    gain: bool
    quiet: bool

    @property
    def saved(self) -> dict[str, Any]:
        """What the options are where they are not the default."""
        asked = {"what_if": list(self.what_if)} if self.what_if else {}
        return asked if self.gain else {**asked, "gain": False}

    def of(self, evidence: Evidence) -> Gains:
        from tracekit.analysis.explain.gains import gains, zeroed
        from tracekit.analysis.explain.page import Gains
        from tracekit.analysis.explain.pages import concludes
        from tracekit.analysis.explain.whatif import asked
        from tracekit.commands.progress import replays

        if not self.gain:
            return Gains(None, "no gain: --no-gain")
        if not concludes(evidence):
            return Gains(None, "no gain: the verdict of check is: do not conclude")
        wishes = [asked(evidence, text, zeroed) for text in self.what_if]
        with replays(self.quiet) as progress:
            return gains(evidence, wishes, progress)


def _rendered(sheets: Sequence[Sheet | str], path: str | None, columns: int | None) -> str:
    """By the ending of the file: markdown, HTML, else text."""
    from tracekit.present.explained.text import markdown, text

    ending = Path(path or "").suffix.lower()
    if ending in (".html", ".htm"):
        from tracekit.present.explained.html import html

        return html("tracekit explain", sheets)
    page = markdown if ending == ".md" else partial(text, width=columns)
    return "\n".join(f"{each}\n" if isinstance(each, str) else page(each) for each in sheets)
