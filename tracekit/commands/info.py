"""``tracekit info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.digests import from_digests
from tracekit.commands.grouping import Grouped
from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, output_options
from tracekit.present.payload import header, records, results
from tracekit.present.report import Report, emit_notes
from tracekit.present.sentences import origin

if TYPE_CHECKING:
    from tracekit.tables.timeline import Timeline

_STREAM_COLUMNS = (
    "se", "dispatch", "file", "bytes", "target_cu", "instructions", "phase", "truncated_at",
    "packets_lost", "tt_stalls",
)  # fmt: skip


@click.command("info", cls=Grouped)
@source_options
@output_options
@from_digests()
def command(source: Source, output: Output) -> None:
    """What a capture holds: streams, kernels, waves, architecture, decoder.

    Streams without instructions show only where waves ran (their CUs were not traced).
    """
    reports = [
        Report(analysis, analysis.timeline.streams[list(_STREAM_COLUMNS)])
        for analysis in source.analyses(tables=("streams", "occupancy"))
    ]
    payloads = [_describe(report) for report in reports]
    if "json" in output.forms:
        output.json(results("tracekit.info/2", payloads))
    if "csv" in output.forms:
        output.csv([report.csv for report in reports])
    if "text" in output.forms:
        with output.open() as out:
            for report, payload in zip(reports, payloads, strict=True):
                out.write(_text(report.analysis.timeline, payload))
    emit_notes(output, reports)


def _describe(report: Report) -> dict[str, Any]:
    from tracekit.analysis.checks.traced import traced_waves
    from tracekit.sqtt.decode import kind

    timeline = report.analysis.timeline
    waves = traced_waves(timeline)
    stitched, total = int(waves["stitched"].sum()), int(waves["instructions"].sum())
    kernels = timeline.dispatches[["dispatch", "kernel"]].drop_duplicates()
    return {
        **header(report.analysis),
        "decoder": "decoded JSON" if timeline.decoded else kind(),
        "streams": records(report.rows),
        "kernels": records(kernels),
        "listing_rows": len(timeline.listing),
        "waves_on_the_se": int(timeline.occupancy["start"].sum()),
        "traced_waves": len(waves),
        "complete_waves": int(waves["complete"].sum()),
        "instructions": total,
        "stitched": stitched,
        "counters": list(timeline.counter_names),
        "notes": report.all_notes,
    }


def _streams(streams: int, engines: int) -> str:
    """One dispatch leaves a stream per engine, several leave more."""
    return (
        f"{streams} stream{'s' if streams != 1 else ''} of "
        f"{engines} shader engine{'s' if engines != 1 else ''}"
    )


def _text(timeline: Timeline, payload: dict[str, Any]) -> str:
    from tracekit.analysis.model.kernels import short_name

    streams = timeline.streams
    traced = streams[streams["instructions"] > 0]
    places = traced[["se", "target_cu"]].drop_duplicates().to_numpy().tolist()
    where = ", ".join(f"SE {se} CU {cu if cu >= 0 else 'unknown'}" for se, cu in places)
    total, stitched = payload["instructions"], payload["stitched"]
    share = f" ({100 * stitched / total:.1f} %)" if total else ""
    lines = [
        f"{timeline.capture}{origin(timeline)}",
        f"  architecture   {timeline.arch}",
        f"  decoder        {payload['decoder']}, {timeline.shown_timing} timing",
        f"  streams        {_streams(len(streams), streams['se'].nunique())}, {len(traced)} with "
        "instructions" + (f" ({where})" if where else ""),
        f"  listing        {payload['listing_rows']} instructions",
        f"  waves          {payload['traced_waves']} traced "
        f"({payload['complete_waves']} complete), {payload['waves_on_the_se']} started in all",
        f"  instructions   {total:,} executed, {stitched:,} stitched{share}",
    ]
    lines += [
        f"  dispatch {k['dispatch']:<5} {short_name(k['kernel'])}" for k in payload["kernels"]
    ]
    return "\n".join(lines) + "\n"
