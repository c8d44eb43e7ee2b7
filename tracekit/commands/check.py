"""``tracekit check``."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, header, origin, output_options

if TYPE_CHECKING:
    from tracekit.analysis.checks.findings import Quality
    from tracekit.tables.timeline import Timeline

_WIDTH = 96


@click.command("check")
@source_options
@click.option("--strict", is_flag=True, help='Exit with 1 when a verdict is "do not conclude".')
@output_options
def command(source: Source, strict: bool, output: Output) -> int:
    """Whether a capture can be trusted, why, and what to change.

    good: nothing is known against its numbers. usable: they hold within the limits that
    the warnings give. do not conclude: numbers would mislead; a fatal finding says why.
    Behind "->" stands what to change, with the option of rocprofv3 where it is one.
    docs/quality.md explains each finding. All of the capture is judged: of the filters
    only --se counts.
    """
    from tracekit.analysis.checks.quality import quality_of

    judged = [(timeline, quality_of(timeline)) for timeline in source.whole_timelines()]
    if output.format == "json":
        payloads = [_payload(timeline, found) for timeline, found in judged]
        output.json(payloads[0] if len(payloads) == 1 else payloads)
    elif output.format == "csv":
        import pandas as pd

        from tracekit.analysis.checks.findings import COLUMNS

        columns = ["capture", "verdict", *COLUMNS]
        output.csv(
            [
                pd.DataFrame(
                    [
                        {"capture": timeline.capture, "verdict": found.verdict, **asdict(finding)}
                        for timeline, found in judged
                        for finding in found.findings
                    ],
                    columns=columns,
                )
            ]
        )
    else:
        with output.open() as out:
            out.write("\n".join(_text(timeline, found) for timeline, found in judged))
    if output.format != "json":
        for timeline, _ in judged:
            for note in timeline.notes:
                output.note(note if len(judged) == 1 else f"{timeline.capture}: {note}")
    return int(strict and any(found.verdict == "do not conclude" for _, found in judged))


def _payload(timeline: Timeline, found: Quality) -> dict[str, object]:
    """The JSON result: the verdict and all findings instead of the summary."""
    start = header("tracekit.check/1", timeline)
    del start["quality"]
    return {
        **start,
        "notes": timeline.notes,
        "verdict": found.verdict,
        "findings": [asdict(finding) for finding in found.findings],
    }


def _text(timeline: Timeline, found: Quality) -> str:
    lines = [f"{timeline.capture}{origin(timeline)}: {found.verdict}"]
    for finding in found.findings:
        head = f"  {finding.severity:<8} "
        rest = " " * len(head)
        lines += textwrap.wrap(
            f"{finding.id}: {finding.reason}", _WIDTH, initial_indent=head, subsequent_indent=rest,
            break_on_hyphens=False,
        )  # fmt: skip
        if finding.remedy:
            lines += textwrap.wrap(
                f"-> {finding.remedy}", _WIDTH, initial_indent=rest,
                subsequent_indent=f"{rest}   ", break_on_hyphens=False,
            )  # fmt: skip
    return "\n".join(lines) + "\n"
