"""``tracekit compare``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from tracekit.commands.options import Source, source_options, window_option
from tracekit.commands.output import Column, Output, header, output_options, records


def _value(value: Any) -> str:
    return "-" if value is None or value != value else f"{value:,.1f}"


def _signed(value: Any) -> str:
    return "-" if value is None or value != value else f"{value:+,.1f}"


_VIEW = {
    "where": Column("SIMD", left=True),
    "metric": Column("metric", left=True),
    "base_value": Column("base", _value),
    "new_value": Column("new", _value),
    "unit": Column("unit", left=True),
    "difference": Column("difference", _signed),
    "relative_percent": Column("%", _signed),
    "low": Column("from", _signed),
    "high": Column("to", _signed),
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
    from tracekit.analysis.checks.quality import quality_of
    from tracekit.analysis.compare import NotComparable, compare, requirement
    from tracekit.analysis.model.window import check

    check(window)
    wanted = [requirement(text) for text in require]
    if len(source.paths) < 2:
        raise NotComparable("compare needs two captures or more: BASE NEW [MORE...]")
    first, *others = (replace(source, paths=(path,)).timelines()[0] for path in source.paths)
    results = [(other, compare(first, other, window)) for other in others]
    failed = [
        f"{other.capture}: {need.text} not met: {_signed(change[0])}"
        + (f" ({100 * change[1]:+.1f} %)" if change[1] == change[1] else "")
        for other, result in results
        for need in wanted
        if not need.met(*(change := result.change(need.metric)))
    ]
    if output.format == "json":
        payloads = [
            {
                **header("tracekit.compare/1", other),
                "base": first.capture,
                "base_quality": quality_of(first).summary(),
                "notes": [*first.notes, *other.notes, *result.notes],
                "rows": records(result.rows),
                "bodies": records(result.bodies),
                "unmet": failed,
            }
            for other, result in results
        ]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
    elif output.format == "csv":
        output.csv([result.rows for _, result in results])
    else:
        output.tables([table for other, result in results
                       for table in _tables(first, other, result, window, simds)])  # fmt: skip
    if output.format != "json":
        for _, result in results:
            for note in result.notes:
                output.note(note)
    for text in failed:
        click.echo(f"tracekit: {text}", err=True)
    return 3 if failed else 0


def _tables(first: Any, other: Any, result: Any, window: str, simds: bool) -> list[Any]:
    import numpy as np

    rows = result.rows if simds else result.rows[result.rows["se"] < 0]
    rows = rows.copy()
    rows["where"] = [
        "all" if se < 0 else f"SE {se} SIMD {simd}"
        for se, simd in rows[["se", "simd"]].to_numpy().tolist()
    ]
    rows["relative_percent"] = 100 * rows["relative"].astype(float)
    rows["noise"] = np.where(
        rows["within_noise"], "within noise", np.where(rows["difference"] == 0, "same", "")
    )
    title = f"{first.capture} -> {other.capture}"
    tables = [(rows, f"{title}: window {window}, {other.timing} timing, {other.arch}", _VIEW)]
    if len(result.bodies):
        counts = result.bodies["change"].value_counts()
        summary = ", ".join(f"{counts[name]} {name}" for name in counts.index)
        tables.append((result.bodies, f"{title}: changes of the loop body: {summary}", _BODY))
    return tables
