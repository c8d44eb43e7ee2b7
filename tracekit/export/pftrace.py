"""Perfetto protobuf (.pftrace), by an encoder of our own.

A file is a sequence of TracePackets.  Only these messages are written (field numbers of
Perfetto's protos/perfetto/trace, read from the public .proto files):

    Trace.packet = 1                    TracePacket.timestamp = 8 (ns; here one per cycle)
    TracePacket.track_event = 11        TracePacket.trusted_packet_sequence_id = 10
    TracePacket.interned_data = 12      TracePacket.sequence_flags = 13
    TracePacket.track_descriptor = 60
    TrackDescriptor: uuid = 1, name = 2, parent_uuid = 5, counter = 8
    TrackEvent: type = 9 (1 begin, 2 end, 4 counter), name_iid = 10, track_uuid = 11,
                counter_value = 30
    InternedData.event_names = 2; EventName: iid = 1, name = 2

Worked example, a slice end on track 3 at 100: 0a 0c | 40 64 | 50 01 | 5a 04 48 02 58 03 |
68 02 (a packet of 12 bytes, timestamp, sequence, track event, flags).
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from tracekit.analysis.analysis import Analysis
from tracekit.export.tracks import Track, tracks

_SEQUENCE = b"\x50\x01"  # trusted_packet_sequence_id 1
_NEEDS_STATE = b"\x68\x02"  # sequence_flags: relies on interned names
_CLEARED = b"\x68\x01"


def write(analysis: Analysis, path: Path) -> None:
    """Write ``analysis`` to ``path``; one cycle of the shader clock is one nanosecond."""
    with path.open("wb") as file:
        _write(analysis, file)


def _write(analysis: Analysis, file: BinaryIO) -> None:
    timeline = analysis.timeline
    uuids: dict[tuple[str, ...], int] = {}
    names: dict[str, int] = {}
    origin = "simulated, " if timeline.simulated else ""
    root = (f"tracekit: {timeline.capture} ({origin}1 ns = 1 shader cycle)",)
    file.write(_packet(_CLEARED))
    _declare(file, uuids, root, False)
    for track in tracks(analysis):
        path = (*root, *track.path)
        for depth in range(2, len(path) + 1):
            _declare(file, uuids, path[:depth], track.counter and depth == len(path))
        uuid = varint(uuids[path])
        if track.counter:
            file.write(b"".join(_samples(track, uuid)))
        else:
            file.write(b"".join(_slices(track, uuid, names)))


def varint(value: int) -> bytes:
    """Base-128 encoding; negative numbers as 64-bit two's complement."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _field(tag: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(tag << 3 | 2) + varint(len(content)) + content


def _number(tag: int, value: int) -> bytes:
    return varint(tag << 3) + varint(value)


def _packet(content: bytes) -> bytes:
    return _field(1, content + _SEQUENCE)


def _declare(
    file: BinaryIO, uuids: dict[tuple[str, ...], int], path: tuple[str, ...], counter: bool
) -> None:
    """A TrackDescriptor, once per path."""
    if path in uuids:
        return
    uuids[path] = len(uuids) + 1
    content = _number(1, uuids[path]) + _field(2, path[-1].encode())
    if len(path) > 1:
        content += _number(5, uuids[path[:-1]])
    if counter:
        content += _field(8, b"")
    file.write(_packet(_field(60, content)))


def _event(time: int, event: bytes, interned: bytes = b"") -> bytes:
    content = b"\x40" + varint(max(time, 0)) + _SEQUENCE
    return _field(1, content + b"\x5a" + varint(len(event)) + event + interned + _NEEDS_STATE)


def _slices(track: Track, uuid: bytes, names: dict[str, int]) -> list[bytes]:
    found: list[bytes] = []
    end_event = b"\x48\x02\x58" + uuid
    open_ends: list[int] = []
    labels = track.names
    for start, end, name in zip(
        track.start.tolist(), track.end.tolist(), track.name.tolist(), strict=True
    ):
        while open_ends and open_ends[-1] <= start:
            found.append(_event(open_ends.pop(), end_event))
        label, interned = labels[name], b""
        iid = names.get(label)
        if iid is None:
            iid = names[label] = len(names) + 1
            interned = _field(12, _field(2, _number(1, iid) + _field(2, label.encode())))
        found.append(_event(start, b"\x48\x01\x50" + varint(iid) + b"\x58" + uuid, interned))
        open_ends.append(end)
    while open_ends:
        found.append(_event(open_ends.pop(), end_event))
    return found


def _samples(track: Track, uuid: bytes) -> list[bytes]:
    return [
        _event(time, b"\x48\x04\x58" + uuid + _number(30, value))
        for time, value in zip(track.start.tolist(), track.name.tolist(), strict=True)
    ]
