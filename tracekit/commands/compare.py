"""``tracekit compare``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, bad_quality_option, output_options
from tracekit.commands.streams import tell
from tracekit.present.cells import Column, decimal, line, signed
from tracekit.present.payload import envelope, header, records
from tracekit.present.report import Shown

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.analysis.compare import Comparison
    from tracekit.analysis.requirements import Requirement

_VIEW = {
    "where": Column("SIMD", left=True),
    "metric": Column("metric", left=True),
    "base_value": Column("base", decimal),
    "new_value": Column("new", decimal),
    "unit": Column("unit", left=True),
    "difference": Column("difference", signed),
    "relative_percent": Column("%", signed),
    "low": Column("from", signed),
    "high": Column("to", signed),
    "noise": Column("", left=True),
}
_BODY = {
    "change": Column("change", left=True),
    "base_line": Column("base line", line),
    "new_line": Column("new line", line),
    "instruction": Column("instruction", left=True),
}


@dataclass(frozen=True)
class _Gate:
    """What --require asks, and how strictly."""

    wanted: tuple[Requirement, ...]
    point_estimate: bool
    allow_bad_quality: bool


@dataclass(frozen=True)
class _Pair:
    """One comparison, and what the gate says of it."""

    base: Analysis
    new: Analysis
    result: Comparison
    #: One entry for each requirement.
    required: list[dict[str, Any]]
    refused: list[str]

    @property
    def failures(self) -> list[str]:
        """Why the gate does not pass: refusals first, one sentence each."""
        name = self.new.timeline.capture
        unmet = [
            f"{name}: {each['require']} not met: {_told(each)}"
            for each in self.required
            if not each["met"]
        ]
        return [*(f"refused: {reason} (--allow-bad-quality)" for reason in self.refused), *unmet]


@click.command("compare")
@source_options
@window_option()
@click.option(
    "--require", multiple=True, metavar="METRIC>=CHANGE",
    help='Exit with 3 unless all of the interval meets it, as "overlap>=+5" or "cycles<=-3%".',
)  # fmt: skip
@click.option("--point-estimate", is_flag=True,
              help="--require looks at the difference alone, not at its interval.")  # fmt: skip
@bad_quality_option
@click.option("--simds", is_flag=True, help="Show each SIMD, not only their sum.")
@output_options
def command(
    source: Source, window: str, require: tuple[str, ...], simds: bool, output: Output,
    **gate: bool,
) -> int:  # fmt: skip
    """What NEW changed against BASE, and whether it is more than noise: PATH... = BASE NEW...

    cycles: median cycles of an iteration of the dominant loop. matrix, vector: pipe busy, in
    % of the window. overlap: both busy. matrix_idle: the rest, split into cause:NAME (see
    bubbles). budget:NAME: what the code asks per iteration (see budget). difference: points
    of the window, or cycles. from, to: its 95 % interval when waves and iterations are drawn
    again; within noise: the interval contains 0. changes: instructions of the loop body that
    were added, removed or moved.

    --require takes matrix, vector, overlap, matrix_idle (points) and cycles (cycles or %). It
    holds only if the whole interval satisfies it; the smallest change that this pair could
    show is printed. Captures whose verdict does not carry the question are refused. A warning
    says when the two run different kernels or code.
    """
    from tracekit.analysis.requirements import requirement

    asked = _Gate(tuple(map(requirement, require)), **gate)
    first, *others = _opened(source, window)
    pairs = [_pair(first, other, asked) for other in others]
    if output.format == "json":
        output.json(_payload(first, pairs))
    elif output.format == "csv":
        output.csv([_csv(pair) for pair in pairs])
    else:
        output.tables([table for pair in pairs for table in _tables(pair, window, simds)])
    _remarks(output, pairs)
    failed = [text for pair in pairs for text in pair.failures]
    for text in failed:
        tell(f"{text}")
    return 3 if failed else 0


def _opened(source: Source, window: str) -> list[Analysis]:
    """Base and new captures, one a path; raises NotComparable for fewer and for folders of
    several."""
    from tracekit.analysis.requirements import NotComparable

    if len(source.paths) < 2:
        raise NotComparable("compare needs two captures or more: BASE NEW [MORE...]")
    found = replace(source, each=True).analyses(window)
    if len(found) != len(source.paths):
        names = ", ".join(each.timeline.capture for each in found[:8])
        raise NotComparable(
            f"{len(source.paths)} paths hold {len(found)} captures; name one a path: {names}"
        )
    return found


def _pair(first: Analysis, other: Analysis, gate: _Gate) -> _Pair:
    from tracekit.analysis.compare import compare_of
    from tracekit.analysis.requirements import refusals

    result = compare_of(first, other)
    judged = {each.timeline.capture: each.quality for each in (first, other)}
    refused = [] if gate.allow_bad_quality else refusals(gate.wanted, judged)
    required = []
    for need in () if refused else gate.wanted:
        change = result.change(need.metric, relative=need.relative)
        required.append(
            {
                "require": need.text, "unit": need.unit,
                "met": need.met(change, point_estimate=gate.point_estimate),
                "difference": change.difference, "low": change.low, "high": change.high,
                "smallest": change.smallest, "point_estimate": gate.point_estimate,
            }
        )  # fmt: skip
    return _Pair(first, other, result, required, refused)


def _told(each: dict[str, Any]) -> str:
    """ "-302.0 cycles, 95 % interval -956.0 to +308.0"."""
    return (
        f"{signed(each['difference'])} {each['unit']}, 95 % interval {signed(each['low'])} to "
        f"{signed(each['high'])}"
    )


def _payload(first: Analysis, pairs: list[_Pair]) -> dict[str, Any]:
    def entry(analysis: Analysis) -> dict[str, Any]:
        return {**header(analysis), "notes": analysis.timeline.notes}

    return envelope(
        "tracekit.compare/2",
        base=[entry(first)],
        new=[entry(pair.new) for pair in pairs],
        pairs=[
            {
                "base": pair.base.timeline.capture,
                "new": pair.new.timeline.capture,
                "warnings": pair.result.warnings,
                "notes": pair.result.notes,
                "requirements": pair.required,
                "unmet": pair.failures,
                "rows": records(pair.result.rows),
                "bodies": records(pair.result.bodies),
            }
            for pair in pairs
        ],
    )


def _csv(pair: _Pair) -> Any:
    rows = pair.result.rows.copy()
    rows.insert(0, "capture", pair.new.timeline.capture)
    return rows


def _tables(pair: _Pair, window: str, simds: bool) -> Iterator[Shown]:
    import numpy as np

    rows, bodies = pair.result.rows, pair.result.bodies
    shown = (rows if simds else rows[rows["se"] < 0]).copy()
    shown["where"] = [
        "all" if se < 0 else f"SE {se} SIMD {simd}"
        for se, simd in shown[["se", "simd"]].to_numpy().tolist()
    ]
    shown["relative_percent"] = 100 * shown["relative"].astype(float)
    shown["noise"] = np.where(
        shown["within_noise"], "within noise", np.where(shown["difference"] == 0, "same", "")
    )
    base, new = pair.base.timeline, pair.new.timeline
    title = f"{base.capture} -> {new.capture}"
    timings = dict.fromkeys((base.shown_timing, new.shown_timing))
    timing = f"window {window}, {' -> '.join(timings)} timing, {new.arch}"
    warnings = "".join(f"warning: {text}\n" for text in pair.result.warnings)
    yield shown, f"{warnings}{title}: {timing}", _VIEW
    if len(bodies):
        counts = bodies["change"].value_counts()
        summary = ", ".join(f"{counts[name]} {name}" for name in counts.index)
        yield bodies, f"{title}: changes of the loop body: {summary}", _BODY


def _remarks(output: Output, pairs: list[_Pair]) -> None:
    """Notes, warnings, and what the gate could see, on stderr."""
    for pair in pairs:
        name = pair.new.timeline.capture
        for text in pair.result.warnings:
            output.warn(text if len(pairs) == 1 else f"{name}: {text}")
        for note in pair.result.notes:
            output.note(note)
        for each in pair.required:
            tell(
                f"{name}: {each['require']}: {_told(each)}; smallest change this pair "
                f"could show: {each['smallest']:,.1f} {each['unit']}"
            )
