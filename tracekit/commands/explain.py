"""``tracekit explain``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.errors import TracekitError
from tracekit.present.payload import header, results
from tracekit.present.report import emit_notes

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.analysis.explain.changes import Change
    from tracekit.analysis.explain.evidence import Evidence
    from tracekit.analysis.explain.page import Gains, Page
    from tracekit.present.explained.sheet import Sheet


_NOTHING = "no wave was traced: nothing to explain"


@dataclass(frozen=True)
class _Explained:
    """A capture: its pages, and what changed in the first of them."""

    analysis: Analysis
    pages: list[Page]
    base: str | None
    changes: Sequence[Change]

    @property
    def all_notes(self) -> list[str]:
        """As in a Report."""
        return self.analysis.timeline.notes

    @property
    def payload(self) -> dict[str, Any]:
        notes = self.all_notes if self.pages else [*self.all_notes, _NOTHING]
        entry = {**header(self.analysis), "notes": notes,
                 "kernels": [page.json() for page in self.pages]}  # fmt: skip
        if self.base is not None:
            entry |= {"base": self.base, "changes": [asdict(each) for each in self.changes]}
        return entry

    @property
    def sheet(self) -> Sheet | str:
        """The page; a line where there is none."""
        from tracekit.present.explained.sheet import sheet
        from tracekit.present.sentences import origin

        timeline = self.analysis.timeline
        if not self.pages:
            return f"{timeline.capture}{origin(timeline)}: {_NOTHING}"
        quality = self.analysis.quality
        verdict = "" if quality.verdict == "good" else quality.line()
        name = f"{timeline.capture}{origin(timeline)}, {timeline.shown_timing} timing, "
        return sheet(f"{name}{timeline.arch.name}", verdict, self.pages, self.changes)


@click.command("explain", cls=Grouped)
@source_options
@window_option()
@click.option("--base", metavar="OLD", type=click.Path(exists=True),
              help="A capture from before: also what shrank and grew since.")  # fmt: skip
@click.option("--what-if", "what_if", metavar="CHANGE", multiple=True,
              help='Replay a change: "0x2cb0 one iteration earlier", "loads of 0x2cb8 one '
              'iteration earlier", "vmcnt(1) at 0x2cb8", "no s_nop at 0x40", "no vmcnt_wait". '
              "May be given again.")  # fmt: skip
@click.option("--gain/--no-gain", default=True, show_default=True,
              help="Replay what removing a cause gains (seconds).")  # fmt: skip
@output_options
def command(source: Source, window: str, base: str | None, output: Output, **replay: Any) -> None:
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

    -o with a name in .md writes the page for a pull request, in .html as one file.
    """
    if output.format == "csv":
        raise click.UsageError("explain writes a page or --json; bubbles and waits write CSV")
    old = _base(source, window, base)
    gaining = _Gaining(**replay, quiet=source.quiet)
    if gaining.what_if and not gaining.gain:
        raise click.UsageError("--what-if is a replay, and --no-gain wants none")
    explained = [
        _explain(analysis, old, gaining) for analysis in source.analyses(window, tell_verdict=False)
    ]
    if output.format == "json":
        output.json(results("tracekit.explain/1", [each.payload for each in explained]))
        return
    sheets = [each.sheet for each in explained]
    with output.open() as out:
        out.write(_rendered(sheets, output.path))
    emit_notes(output, explained)


def _base(source: Source, window: str, path: str | None) -> Analysis | None:
    if path is None:
        return None
    found = replace(source, paths=(path,)).analyses(window)
    if len(found) != 1:
        raise TracekitError(f"{path}: holds {len(found)} captures; --base takes one")
    return found[0]


@dataclass(frozen=True)
class _Gaining:
    """What to replay of the first kernel of each capture."""

    what_if: tuple[str, ...]
    gain: bool
    quiet: bool

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


def _explain(analysis: Analysis, base: Analysis | None, gaining: _Gaining) -> _Explained:
    from tracekit.analysis.explain.changes import changes, matching
    from tracekit.analysis.explain.pages import NO_GAINS, ordered, page

    kernels = ordered(analysis)
    made = [page(each, NO_GAINS if at else gaining.of(each)) for at, each in enumerate(kernels)]
    found: Sequence[Change] = ()
    if base is not None and kernels:
        before = matching(kernels[0], base)
        found = () if before is None else changes(before, kernels[0])
    name = None if base is None else base.timeline.capture
    return _Explained(analysis, made, name, found)


def _rendered(sheets: Sequence[Sheet | str], path: str | None) -> str:
    """By the ending of the file: markdown, HTML, else text."""
    from tracekit.present.explained.html import html
    from tracekit.present.explained.text import markdown, text

    ending = Path(path or "").suffix.lower()
    if ending in (".html", ".htm"):
        return html("tracekit explain", sheets)
    page = markdown if ending == ".md" else text
    return "\n".join(f"{each}\n" if isinstance(each, str) else page(each) for each in sheets)
