"""Level of detail keeps what is busy, whatever the zoom; the binary answer can be read back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.detail import ARRAYS, cut, pack
from dashboard.lanes import Lane, bubble_lanes, waves_and_pipes

KEY = "0/pingpong"


def lane(spans, kinds=None):
    start, end = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
    n = np.arange(len(spans))
    kind = np.ones(len(spans), int) if kinds is None else np.array(kinds)
    return Lane.of("lane", "slot", 0, 0, start, end, kind, n, n)


def read(data):
    """Head and lanes of the binary answer, as the browser reads them."""
    size = int.from_bytes(data[:4], "little")
    head, at = json.loads(data[4 : 4 + size]), 4 + size
    for each in head["lanes"]:
        for name, dtype in ARRAYS:
            each[name] = np.frombuffer(data, dtype, each["count"], at)
            at += -(-each[name].nbytes // 4) * 4
    assert at == len(data)
    return head


def test_few_intervals_stay_as_they_are():
    found = cut(lane([(0, 4), (8, 12), (100, 120)]), 6, 110, 100)
    assert found["start"].tolist() == [2, 94]
    assert found["end"].tolist() == [6, 114]
    assert found["index"].tolist() == [1, 2]
    assert found["fill"].tolist() == [255, 255]


def test_many_short_intervals_become_one_a_pixel():
    spans = [(8 * i, 8 * i + 4) for i in range(1000)]
    found = cut(lane(spans), 0, 8000, 10)
    assert len(found["start"]) == 10
    assert set(found["fill"].tolist()) == {127}
    assert set(found["index"].tolist()) == {-1}


def test_the_kind_that_covers_most_of_a_pixel_names_it():
    spans = [(10 * i, 10 * i + (7 if i % 2 else 2)) for i in range(100)]
    found = cut(lane(spans, [2 if i % 2 else 4 for i in range(100)]), 0, 1000, 10)
    assert set(found["kind"].tolist()) == {2}


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 60)), min_size=1, max_size=300),
    st.integers(1, 60),
)
def test_covered_pixels_are_those_of_the_intervals(steps, pixels):
    spans, at = [], 0
    for gap, length in steps:
        spans.append((at + gap, at + gap + length))
        at += gap + length
    found = cut(lane(spans), 0, at, pixels)
    width = -(-at // pixels)
    covered = sum(end - start for start, end in spans)
    kept = int(((found["end"] - found["start"]) * (found["fill"] / 255)).sum())
    assert kept <= covered + len(found["start"]) * (width + 1)
    for start, end in spans:
        assert ((found["start"] < end) & (found["end"] > start)).any()


def test_the_answer_reads_back(service):
    place = service.places(KEY)[0]
    lanes = waves_and_pipes(service, KEY, place) + bubble_lanes(service, KEY, place, "steady")
    head = read(pack(lanes, 0, 10_000, 4000, {"place": place}))
    assert head["place"] == list(place)
    groups = [each["group"] for each in head["lanes"]]
    assert groups.count("matrix") == groups.count("vector") == groups.count("bubbles") == 4
    for each, full in zip(head["lanes"], lanes, strict=True):
        assert each["count"] == ((full.start < 10_000) & (full.end > 0)).sum()


@pytest.mark.parametrize("window", ["steady", "span"])
def test_lanes_hold_the_cycles_of_the_analyses(service, window):
    place = service.places(KEY)[0]
    totals = service.analysis(KEY, window).bubbles.totals
    lanes = bubble_lanes(service, KEY, place, window)
    idle = [int((each.end - each.start).sum()) for each in lanes]
    assert idle == totals["matrix_idle_cycles"].tolist()
    rows = service.analysis(KEY, "span").occupancy.rows
    matrix = [x for x in waves_and_pipes(service, KEY, place) if x.group == "matrix"]
    assert [int((x.end - x.start).sum()) for x in matrix] == pytest.approx(
        rows["matrix_busy_cycles"].tolist(), abs=64
    )
