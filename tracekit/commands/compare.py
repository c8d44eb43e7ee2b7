"""``tracekit compare``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Output, output_options
from tracekit.present.cells import Column, decimal, signed
from tracekit.present.report import Report, Shown, emit_json

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis
    from tracekit.analysis.compare import Comparison

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
    "base_line": Column("base line"),
    "new_line": Column("new line"),
    "instruction": Column("instruction", left=True),
}


@click.command("compare")
@source_options
@window_option()
@click.option(
    "--require", multiple=True, metavar="METRIC>=CHANGE",
    help='Exit with 3 unless the change is met, as "overlap>=+5" or "cycles<=-3%".',
)  # fmt: skip
@click.option("--simds", is_flag=True, help="Show each SIMD, not only their sum.")
@output_options
def command(
    source: Source, window: str, require: tuple[str, ...], simds: bool, output: Output
) -> int:
    """What NEW changed against BASE, and whether it is more than noise: PATH... = BASE NEW...

    cycles: median cycles of an iteration of the dominant loop. matrix, vector: pipe busy, in
    % of the window. overlap: both busy. matrix_idle: the rest, split into cause:NAME (see
    bubbles). budget:NAME: what the code asks per iteration (see budget). difference: points
    of the window, or cycles. from, to: its 95 % interval when waves and iterations are drawn
    again; within noise: the interval contains 0. changes: instructions of the loop body that
    were added, removed or moved.

    --require takes matrix, vector, overlap, matrix_idle (points) and cycles (cycles or %).
    """
    from tracekit.analysis.compare import NotComparable, compare_of, requirement

    wanted = [requirement(text) for text in require]
    if len(source.paths) < 2:
        raise NotComparable("compare needs two captures or more: BASE NEW [MORE...]")
    first, *others = (replace(source, paths=(path,)).analyses(window)[0] for path in source.paths)
    results = [(other, compare_of(first, other)) for other in others]
    failed = [
        f"{other.timeline.capture}: {need.text} not met: {signed(change[0])}"
        + (f" ({100 * change[1]:+.1f} %)" if change[1] == change[1] else "")
        for other, result in results
        for need in wanted
        if not need.met(*(change := result.change(need.metric)))
    ]
    reports = [_report(first, other, result, simds) for other, result in results]
    if output.format == "json":
        emit_json(
            output, [report.payload("tracekit.compare/1") | {"unmet": failed} for report in reports]
        )
    elif output.format == "csv":
        output.csv([report.rows for report in reports])
    else:
        output.tables([table for report in reports for table in _tables(first, report, window)])
    if output.format != "json":
        for _, result in results:
            for note in result.notes:
                output.note(note)
    for text in failed:
        click.echo(f"tracekit: {text}", err=True)
    return 3 if failed else 0


def _report(first: Analysis, other: Analysis, result: Comparison, simds: bool) -> Report:
    import numpy as np

    shown = (result.rows if simds else result.rows[result.rows["se"] < 0]).copy()
    shown["where"] = [
        "all" if se < 0 else f"SE {se} SIMD {simd}"
        for se, simd in shown[["se", "simd"]].to_numpy().tolist()
    ]
    shown["relative_percent"] = 100 * shown["relative"].astype(float)
    shown["noise"] = np.where(
        shown["within_noise"], "within noise", np.where(shown["difference"] == 0, "same", "")
    )
    return Report(
        other,
        result.rows,
        result.notes,
        tables={"bodies": result.bodies},
        facts={"base": first.timeline.capture, "base_quality": first.quality.summary()},
        shown={"differences": shown},
        first_notes=first.timeline.notes,
    )


def _tables(first: Analysis, report: Report, window: str) -> Iterator[Shown]:
    other, bodies = report.analysis.timeline, report.tables["bodies"]
    title = f"{first.timeline.capture} -> {other.capture}"
    timing = f"window {window}, {other.timing} timing, {other.arch}"
    yield report.shown["differences"], f"{title}: {timing}", _VIEW
    if len(bodies):
        counts = bodies["change"].value_counts()
        summary = ", ".join(f"{counts[name]} {name}" for name in counts.index)
        yield bodies, f"{title}: changes of the loop body: {summary}", _BODY
