"""Perfetto files, parsed back by Perfetto's own message classes."""

import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.bubbles import bubbles
from tracekit.export import pftrace
from tracekit.export.pftrace import varint
from traces import generate

trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


@pytest.fixture(scope="module")
def timeline():
    return tracekit.open(generate.ROOT / "lockstep").timeline()


@pytest.fixture(scope="module")
def trace(timeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "lockstep.pftrace"
    pftrace.write(Analysis(timeline), path)
    found = trace_pb2.Trace()
    found.ParseFromString(path.read_bytes())
    return found


def paths(trace):
    """uuid -> names from the outside in."""
    about = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet
             if p.HasField("track_descriptor")}  # fmt: skip

    def of(uuid):
        track = about[uuid]
        return (*(of(track.parent_uuid) if track.parent_uuid else ()), track.name)

    return {uuid: of(uuid) for uuid in about}


def slices(trace):
    """path -> [(begin, end, name)], checking that every begin has its end in order."""
    names, tracks, found, stacks = {}, paths(trace), {}, {}
    for packet in trace.packet:
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, names[event.name_iid]))
        elif event.type == event.TYPE_SLICE_END:
            begin, name = stack.pop()
            assert packet.timestamp >= begin
            found.setdefault(tracks[event.track_uuid], []).append((begin, packet.timestamp, name))
    assert not any(stacks.values())
    return found


def test_the_first_track_names_the_unit_and_that_it_is_simulated(trace):
    first = min(paths(trace).items())[1]
    assert first == ("tracekit: lockstep (simulated, 1 ns = 1 shader cycle)",)


def test_tracks_go_from_se_to_slot(trace):
    ends = {path[1:] for path in paths(trace).values() if len(path) == 5}
    for simd in range(4):
        place = ("SE 0", "CU 1", f"SIMD {simd}")
        for name in ("matrix pipe", "vector pipe", "matrix idle", "slot 0", "slot 1"):
            assert (*place, name) in ends


def test_slices_are_what_the_pipes_did(trace, timeline):
    found = slices(trace)
    (root,) = {path[0] for path in found}
    place = (root, "SE 0", "CU 1", "SIMD 0")
    matrix = found[*place, "matrix pipe"]
    assert len(matrix) == 128
    assert {end - begin for begin, end, _ in matrix} == {32}
    assert {name for _, _, name in matrix} == {"v_mfma_f32_32x32x16_bf16"}
    idle = sum(end - begin for begin, end, _ in found[*place, "matrix idle"])
    totals = bubbles(timeline, "span").totals
    assert idle == totals[totals["simd"] == 0]["matrix_idle_cycles"].iloc[0]
    own = timeline.instructions[
        (timeline.instructions["simd"] == 0) & (timeline.instructions["slot"] == 1)
    ]
    assert [begin for begin, _, _ in found[*place, "slot 1"]] == own["time"].tolist()


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"),
                            (-1, "ffffffffffffffffff01")],
)  # fmt: skip
def test_varints(value, expected):
    assert varint(value).hex() == expected


def test_the_worked_example_of_the_module():
    packet = trace_pb2.Trace()
    packet.ParseFromString(bytes.fromhex("0a0c 4064 5001 5a044802 5803 6802".replace(" ", "")))
    (only,) = packet.packet
    assert (only.timestamp, only.track_event.track_uuid) == (100, 3)
    assert only.track_event.type == only.track_event.TYPE_SLICE_END


def test_counters_become_counter_tracks(tmp_path):
    from tests.support import planned
    from tests.support.planned import Plan, lines

    kernel = lines("s_mov_b32 s0, s1", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)
    path = planned.write(
        tmp_path, kernel, [plan],
        after_waves=lambda writer: writer.perf(8000, 1, 0, [500, 0, 3, 1]),
    )  # fmt: skip
    out = tmp_path / "out.pftrace"
    pftrace.write(Analysis(planned.timeline(path)), out)
    trace = trace_pb2.Trace()
    trace.ParseFromString(out.read_bytes())
    values = [p.track_event.counter_value for p in trace.packet
              if p.track_event.type == p.track_event.TYPE_COUNTER]  # fmt: skip
    # One that is unnamed and never counts is left out.
    assert values == [500, 3, 1]
