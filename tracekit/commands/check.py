"""``tracekit check``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.digests import Served, from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.payload import header, results
from tracekit.present.report import Report, emit_notes
from tracekit.present.sentences import origin

if TYPE_CHECKING:
    from tracekit.analysis.analysis import Analysis

_WIDTH = 96


def _code(entries: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> int:
    """1 with --strict where an entry of the JSON result does not allow conclusions."""
    verdicts = [entry["quality"]["verdict"] for entry in entries]
    return int(options["strict"] and "do not conclude" in verdicts)


@click.command("check", cls=Grouped)
@source_options
@click.option("--strict", is_flag=True, help='Exit with 1 when a verdict is "do not conclude".')
@output_options
@from_digests(Served(judged=False, gate=_code, gated=("strict",), between="\n"))
def command(source: Source, strict: bool, output: Output) -> int:
    """Whether a capture can be trusted, why, and what to change.

    good: nothing is known against its numbers. usable: they hold within the limits that
    the warnings give. do not conclude: numbers would mislead; a finding says why. There is
    one verdict for each question: the matrix pipe, the vector pipe, wave time.
    Behind "->" stands what to change, with the option of rocprofv3 where it is one.
    docs/quality.md explains each finding. All of the capture is judged: of the filters
    only --se counts.
    """
    judged = source.checked()
    if "json" in output.forms:
        output.json(results("tracekit.check/2", [_payload(analysis) for analysis in judged]))
    if "csv" in output.forms:
        import pandas as pd

        from tracekit.analysis.checks.findings import COLUMNS

        columns = ["capture", "verdict", *COLUMNS]
        output.csv(
            [
                pd.DataFrame(
                    [
                        {
                            "capture": analysis.timeline.capture,
                            "verdict": analysis.quality.verdict,
                            **asdict(finding),
                            "blocks": " ".join(finding.blocks),
                        }
                        for analysis in judged
                        for finding in analysis.quality.findings
                    ],
                    columns=columns,
                )
            ]
        )
    if "text" in output.forms:
        with output.open() as out:
            out.write("\n".join(map(_text, judged)))
    emit_notes(output, [Report(analysis, analysis.timeline.waves) for analysis in judged])
    return _code([header(analysis) for analysis in judged], {"strict": strict})


def _payload(analysis: Analysis) -> dict[str, object]:
    """The capture's entry, with all findings where other commands have what lowers the verdict."""
    found = analysis.quality
    findings = [asdict(finding) for finding in found.findings]
    return {
        **header(analysis),
        "quality": {**found.summary(), "findings": findings},
        "notes": analysis.timeline.notes,
    }


def _text(analysis: Analysis) -> str:
    timeline, found = analysis.timeline, analysis.quality
    lines = [f"{timeline.capture}{origin(timeline)}: {found.sentence}"]
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
