"""Workgroups told by their barriers, and who came last."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.attribution.barriers import barriers
from tracekit.analysis.model.rows import rows_of


def meetings(timeline):
    rows = rows_of(timeline)
    return rows, barriers(rows, timeline.listing)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44", [4, 4]),
        ("aiter_fp4_gemm_gfx950_before/att", [8] * 3),
        ("gemm_bf16_gfx942", [8]),
        ("fp8_preshuffle_gemm_gfx950", [4] * 17),
    ],
)
def test_workgroups_of_real_captures(captures, name, sizes):
    rows, found = meetings(tracekit.open(captures / name).timeline())
    groups = {}
    for row, group in zip(found.row.tolist(), found.group.tolist(), strict=True):
        groups.setdefault(group, set()).add(int(rows.wave[row]))
    assert sorted(len(waves) for waves in groups.values()) == sizes


@pytest.mark.parametrize("timing", ["exact", "amd"])
def test_the_row_ends_4_or_8_after_the_last_arrival(captures, timing):
    """No untraced wave came last: the release is in the tick of the arrival or in the next."""
    path = captures / "aiter_fp4_gemm_gfx950_after/att"
    _, found = meetings(tracekit.open(path).timeline(timing=timing))
    assert set((found.release - found.last_arrival).tolist()) == {0, 4}


def arrivals(folder, *times, releases):
    """Barriers of waves on SIMDs 0, 1, ... that arrive at ``times``."""
    kernel = lines("s_barrier", "s_endpgm")
    plans = []
    for simd, (time, release) in enumerate(zip(times, releases, strict=True)):
        plan = Plan(kernel, simd % 4, simd // 4, 6000 + 8 * simd)
        plans.append(plan.at(time, 0, release=release).at(7000, 1))
    rows, found = meetings(planned.timeline(planned.write(folder, kernel, plans)))
    return rows.waves.simd[found.last].tolist(), found


def test_the_latest_arrival_is_the_last(tmp_path):
    last, found = arrivals(tmp_path, 6200, 6300, 6240, releases=[6304] * 3)
    assert last == [1, 1, 1]
    assert set(found.last_arrival.tolist()) == {6300}


def test_of_a_tie_the_wave_itself_and_then_the_oldest(tmp_path):
    last, _ = arrivals(tmp_path, 6300, 6300, 6240, releases=[6304] * 3)
    assert last == [0, 1, 0]


def test_of_a_tie_one_of_the_own_simd_before_the_oldest(tmp_path):
    """Waves 0 and 4 are on SIMD 0; 1, the oldest that ties with 4, is on another."""
    last, found = arrivals(tmp_path, 6200, 6300, 6240, 6240, 6300, releases=[6304] * 5)
    assert last[0] == 0
    assert found.last_arrival[0] == 6300
    assert set(last) == {0, 1}


def test_two_workgroups_of_one_cu_stay_apart(tmp_path):
    last, found = arrivals(tmp_path, 6200, 6300, 6240, 6400, releases=[6304, 6304, 6404, 6404])
    assert last == [1, 1, 3, 3]
    assert len(set(found.group.tolist())) == 2
