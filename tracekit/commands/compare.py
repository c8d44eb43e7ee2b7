"""``tracekit compare``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.digests import check_options, explains_digests, only_sides
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, bad_quality_option, output_options
from tracekit.commands.selection import FILTERS
from tracekit.commands.streams import tell
from tracekit.present.cells import signed
from tracekit.present.payload import envelope, records

if TYPE_CHECKING:
    from tracekit.analysis.compare import Comparison
    from tracekit.analysis.comparison.runs import Run
    from tracekit.analysis.requirements import Requirement


class _Sides(Grouped):
    """Takes all paths behind --new, up to the next option, for NEW."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        taking = False
        for at, each in enumerate(args):
            if taking and not each.startswith("-") and args[at - 1] != "--new":
                spread.append("--new")
            taking = each == "--new" or (taking and not each.startswith("-"))
            spread.append(each)
        return super().parse_args(ctx, spread)


@dataclass(frozen=True)
class _Asked:
    """Runs of the new side, what is shown and kept, what --require asks and how strictly."""

    new: tuple[str, ...]
    diff: bool
    simds: bool
    save: str | None
    require: tuple[str, ...]
    point_estimate: bool
    allow_bad_quality: bool

    @property
    def wanted(self) -> list[Requirement]:
        from tracekit.analysis.requirements import requirement

        return [requirement(text) for text in self.require]


@dataclass(frozen=True)
class _Judged:
    """A comparison, and what the gate says of it."""

    result: Comparison
    #: One entry for each requirement.
    required: list[dict[str, Any]]
    refused: list[str]

    @property
    def name(self) -> str:
        return "; ".join(run.origin.capture for run in self.result.new)

    @property
    def failures(self) -> list[str]:
        """Why the gate does not pass: refusals first, one sentence each."""
        unmet = [
            f"{self.name}: {each['require']} not met: {_told(each)}"
            for each in self.required
            if not each["met"]
        ]
        return [*(f"refused: {reason} (--allow-bad-quality)" for reason in self.refused), *unmet]


@click.command("compare", cls=_Sides)
@source_options
@click.option(
    "--new", multiple=True, metavar="PATH...", type=click.Path(exists=True),
    help="Runs of the new side; all other paths are runs of the base.",
)  # fmt: skip
@window_option()
@click.option(
    "--require", multiple=True, metavar="METRIC>=CHANGE",
    help='Exit with 3 unless all of the interval meets it, as "overlap>=+5" or "cycles<=-3%".',
)  # fmt: skip
@click.option("--point-estimate", is_flag=True,
              help="--require looks at the difference alone, not at its interval.")  # fmt: skip
@bad_quality_option
@click.option("--diff", is_flag=True, help="Also the instructions of the loop body that changed.")
@click.option("--simds", is_flag=True, help="Also every metric of each SIMD.")
@click.option(
    "--save", metavar="FILE.json",
    help="Keep the runs of --new as a baseline, to be given as a path later; without --new all "
    "paths, and nothing is compared.",
)  # fmt: skip
@output_options
@explains_digests
def command(source: Source, window: str, output: Output, **given: Any) -> int:
    """What a change did, and whether it is more than noise: BASE NEW, or BASE... --new NEW...

    The mean cycles of an iteration (steady cycles / iterations of the dominant loop), its
    median, and where the cycles went: the matrix pipe busy, or idle for a cause (see bubbles),
    while one wave runs one iteration; these sum to the mean. Then shares of the window in
    points, and what the code asks per iteration (see budget) where that changed. from, to: the
    95 % interval of the difference: between runs where a side has several, else within the run,
    over batches of its iterations; within noise: it contains 0.

    A path is a capture, a baseline that --save wrote, or a digest (see explain --save).
    --require takes cycles and median_cycles (cycles or %), matrix, vector, overlap and
    matrix_idle (points). It holds only if the whole interval satisfies it; the smallest change
    that these runs could show is printed. Captures whose verdict does not carry the question
    are refused. A warning says when the two run different kernels or code.

    -o with a name in .md writes the page for a pull request.
    """
    asked = _Asked(**given)
    wanted = asked.wanted
    base, young = _sides(source, asked, window)
    if asked.save is not None:
        _save(young or base, asked.save, output)
    if not young:
        return 0
    judged = _judge(base, young, asked, wanted)
    _write(judged, output, asked)
    _remarks(output, judged)
    for text in judged.failures:
        tell(text)
    return 3 if judged.failures else 0


def _sides(source: Source, asked: _Asked, window: str) -> tuple[list[Run], list[Run]]:
    """Runs of base and new; raises NotComparable where the paths do not say which is which."""
    from tracekit.analysis.requirements import NotComparable

    base, new = list(source.paths), list(asked.new)
    if not new and asked.save is None:
        if len(base) != 2:
            raise NotComparable(
                "compare needs two captures, BASE NEW, or runs of both: BASE... --new NEW..."
            )
        base, new = base[:1], base[1:]
    runs = _runs(replace(source, paths=(*base, *new)), window)
    ends = len(base)
    return [run for each in runs[:ends] for run in each], [
        run for each in runs[ends:] for run in each
    ]


def _runs(source: Source, window: str) -> list[list[Run]]:
    """The runs of each path: one of a capture, those of a baseline."""
    from tracekit.analysis.comparison import saved
    from tracekit.analysis.comparison.runs import measure
    from tracekit.analysis.requirements import NotComparable

    kept = {path: saved.read(path) for path in source.paths if saved.is_saved(path)}
    digested = {path: _digested(source, path, window) for path in source.digests}
    paths = tuple(path for path in source.paths if path not in kept | digested)
    found = replace(source, paths=paths, each=True).analyses(window) if paths else []
    if len(found) != len(paths):
        names = ", ".join(each.timeline.capture for each in found[:8])
        raise NotComparable(
            f"{len(paths)} paths hold {len(found)} captures; name one a path: {names}"
        )
    for run in (run for runs in kept.values() for run in runs):
        if not source.quiet:
            tell(f"{run.origin.capture} (baseline): {run.quality.line()}")
    measured = iter(found)
    known = kept | digested
    return [
        known[path] if path in known else [measure(next(measured), source.filters)]
        for path in source.paths
    ]


def _digested(source: Source, path: str, window: str) -> list[Run]:
    """The run that a digest holds."""
    (found,) = replace(source, paths=(path,)).opened_digests()
    check_options(found, only=("timing", *FILTERS))
    return [only_sides(found, window, quiet=source.quiet).run]


def _save(runs: Sequence[Run], path: str, output: Output) -> None:
    from tracekit.analysis.comparison import saved

    with replace(output, path=path).open() as out:
        json.dump(saved.payload(runs), out, allow_nan=False, separators=(",", ":"))
        out.write("\n")
    if not output.quiet:
        count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        tell(f"{path}: baseline of {count}")


def _judge(
    base: Sequence[Run], new: Sequence[Run], asked: _Asked, wanted: Sequence[Requirement]
) -> _Judged:
    from tracekit.analysis.compare import compare_runs
    from tracekit.analysis.requirements import refusals

    result = compare_runs(base, new)
    qualities = {run.origin.capture: run.quality for run in (*base, *new)}
    refused = [] if asked.allow_bad_quality else refusals(wanted, qualities)
    required = []
    for need in () if refused else wanted:
        change = result.change(need.metric, relative=need.relative)
        required.append(
            {
                "require": need.text, "unit": need.unit,
                "met": need.met(change, point_estimate=asked.point_estimate),
                "difference": change.difference, "low": change.low, "high": change.high,
                "smallest": change.smallest, "point_estimate": asked.point_estimate,
            }
        )  # fmt: skip
    return _Judged(result, required, refused)


def _told(each: dict[str, Any]) -> str:
    """ "-302.0 cycles, 95 % interval -956.0 to +308.0"."""
    return (
        f"{signed(each['difference'])} {each['unit']}, 95 % interval {signed(each['low'])} to "
        f"{signed(each['high'])}"
    )


def _write(judged: _Judged, output: Output, asked: _Asked) -> None:
    from tracekit.present import compared

    result = judged.result
    if output.format == "json":
        output.json(_payload(judged))
        return
    if output.format == "csv":
        rows = result.rows.copy()
        rows.insert(0, "capture", result.rows["new"])
        output.csv([rows])
        return
    shown = list(compared.tables(result, simds=asked.simds, diff=asked.diff))
    if Path(output.path or "").suffix.lower() == ".md":
        with output.open() as out:
            out.write(compared.markdown(result, shown))
        return
    head = [f"warning: {text}" for text in result.warnings]
    output.tables(shown, [*head, *compared.sentences(result)])


def _payload(judged: _Judged) -> dict[str, Any]:
    from tracekit.present.compared import entry

    result = judged.result
    return envelope(
        "tracekit.compare/3",
        base=[entry(run) for run in result.base],
        new=[entry(run) for run in result.new],
        noise=result.noise,
        warnings=result.warnings,
        notes=result.notes,
        requirements=judged.required,
        unmet=judged.failures,
        rows=records(result.rows),
        bodies=records(result.bodies),
    )


def _remarks(output: Output, judged: _Judged) -> None:
    """Notes, warnings, and what the gate could see, on stderr."""
    for text in judged.result.warnings:
        output.warn(text)
    for note in judged.result.notes:
        output.note(note)
    for each in judged.required:
        tell(
            f"{judged.name}: {each['require']}: {_told(each)}; smallest change these runs "
            f"could show: {each['smallest']:,.1f} {each['unit']}"
        )
