"""``tracekit info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tracekit.commands.options import Source, source_options
from tracekit.commands.output import Output, header, origin, output_options, records

if TYPE_CHECKING:
    from tracekit.tables.timeline import Timeline

_STREAM_COLUMNS = (
    "se", "dispatch", "file", "bytes", "target_cu", "instructions", "phase", "truncated_at",
    "packets_lost", "tt_stalls",
)  # fmt: skip


@click.command("info")
@source_options
@output_options
def command(source: Source, output: Output) -> int:
    """What a capture holds: streams, kernels, waves, architecture, decoder.

    Streams without instructions show only where waves ran (their CUs were not traced).
    """
    timelines = source.timelines()
    payloads = [_describe(timeline) for timeline in timelines]
    if output.format == "json":
        output.json(payloads[0] if len(payloads) == 1 else payloads)
        return 0
    if output.format == "csv":
        output.csv([t.streams[list(_STREAM_COLUMNS)] for t in timelines])
    else:
        with output.open() as out:
            for timeline, payload in zip(timelines, payloads, strict=True):
                out.write(_text(timeline, payload))
    for timeline in timelines:
        for note in timeline.notes:
            output.note(note)
    return 0


def _describe(timeline: Timeline) -> dict[str, Any]:
    from tracekit.sqtt.decode import kind

    waves, streams = timeline.waves, timeline.streams
    stitched, total = int(waves["stitched"].sum()), int(waves["instructions"].sum())
    kernels = timeline.dispatches[["dispatch", "kernel"]].drop_duplicates()
    return {
        **header("tracekit.info/1", timeline),
        "decoder": "decoded JSON" if timeline.decoded else kind(),
        "streams": records(streams[list(_STREAM_COLUMNS)]),
        "kernels": records(kernels),
        "listing_rows": len(timeline.listing),
        "waves_on_the_se": int(timeline.occupancy["start"].sum()),
        "traced_waves": len(waves),
        "complete_waves": int(waves["complete"].sum()),
        "instructions": total,
        "stitched": stitched,
        "counters": timeline.counter_names,
        "notes": timeline.notes,
    }


def _text(timeline: Timeline, payload: dict[str, Any]) -> str:
    streams = timeline.streams
    traced = streams[streams["instructions"] > 0]
    where = ", ".join(
        f"SE {se} CU {cu}" for se, cu in zip(traced["se"], traced["target_cu"], strict=True)
    )
    total, stitched = payload["instructions"], payload["stitched"]
    share = f" ({100 * stitched / total:.1f} %)" if total else ""
    lines = [
        f"{timeline.capture}{origin(timeline)}",
        f"  architecture   {timeline.arch}",
        f"  decoder        {payload['decoder']}, {timeline.shown_timing} timing",
        f"  streams        {len(streams)} shader engines, {len(traced)} with instructions"
        + (f" ({where})" if where else ""),
        f"  listing        {payload['listing_rows']} instructions",
        f"  waves          {payload['traced_waves']} traced "
        f"({payload['complete_waves']} complete), {payload['waves_on_the_se']} started in all",
        f"  instructions   {total:,} executed, {stitched:,} stitched{share}",
    ]
    lines += [f"  dispatch {k['dispatch']:<5} {k['kernel']}" for k in payload["kernels"]]
    return "\n".join(lines) + "\n"
